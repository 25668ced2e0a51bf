import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { catalogue } from '../../../src/commands/catalogue.ts'
import { controlPath } from '../../../src/live/control/command.ts'
import { running } from '../../../src/live/control/running-processes.ts'
import { type ControlHandler, serveControl } from '../../../src/live/control/server.ts'
import { called } from '../../e2e/called.ts'
import { MINT } from '../../support/engine-rig.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const root = temporaryFolder()
const runtime = join(root.path, 'runtime')
const registry = join(runtime, 'sluice-running')
const closers: (() => unknown)[] = []
let folder: string
let count = 0

beforeEach(() => {
  vi.stubEnv('XDG_RUNTIME_DIR', runtime)
  folder = join(realpathSync(root.path), String(++count))
  mkdirSync(join(folder, 'data'), { recursive: true })
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  vi.unstubAllEnvs()
})

/** Starts a process on this journal in the folder. Returns a list to which the process adds each received command. */
async function runs(journal: string, warn: (message: string) => void = () => {}): Promise<string[]> {
  const told: string[] = []
  const handle: ControlHandler = ({ command }) => {
    told.push(command)
    return { text: `did ${command}` }
  }
  closers.push(await serveControl({ journalPath: join(folder, journal), handle, warn }))
  return told
}

const CONTROL: Readonly<Record<string, string[]>> = {
  status: ['--json'],
  halt: [],
  resume: [],
  flatten: [],
  sell: [MINT],
  buy: [MINT, '--bot', 'dips', '--sol', '0.1'],
  cancel: ['o12'],
  signal: ['moon', '{"size": 2}'],
  resolve: ['o12'],
  adopt: [MINT, '--bot', 'dips'],
}
const control = Object.entries(CONTROL)

test('this test covers every command to a running process', () => {
  const names = catalogue['Control a running process:']?.map(({ name }) => name)
  // `desk` is not tested here, because it needs a recorded journal. test/e2e/desk.test.ts tests `desk link`.
  expect(['desk', ...Object.keys(CONTROL)].toSorted()).toEqual(names?.toSorted())
})

test.each(control)('%s sends its command to the only running process and names this process', async (name, args) => {
  const told = await runs('own.db')
  const { code, stderr } = await called([name, ...args], folder)
  expect({ code, told }).toEqual({ code: 0, told: [name] })
  expect(stderr).toBe(`sluice: using process ${process.pid}, journal own.db\n`)
})

test.each(control)('%s --json prints the answer in one line of JSON', async (name, args) => {
  await runs('own.db')
  const { code, stdout } = await called([name, ...new Set([...args, '--json'])], folder)
  expect({ code, lines: stdout.trimEnd().split('\n').length }).toEqual({ code: 0, lines: 1 })
  expect(JSON.parse(stdout)).toMatchObject({ text: `did ${name}` })
})

test.each(control)(
  "%s reads the journal's path from a configuration, even from one with errors",
  async (name, args) => {
    const [first, second] = [await runs('own.db'), await runs('data/sluice.db')]
    writeFileSync(
      join(folder, 'my.yaml'),
      'journal: { path: own.db }\nbots: [{ name: a, strategy: gone, mode: liv }]\n',
    )
    expect(await called([name, ...args, '--config', 'my.yaml'], folder)).toMatchObject({ code: 0, stderr: '' })
    expect([first, second]).toEqual([[name], []])
  },
)

test.each(control)(
  '%s exits with 2 if several processes run, and lists the option that selects each process',
  async (name, args) => {
    const [one, other] = [await runs('a.db'), await runs('data/sluice.db')]
    const { code, stderr } = await called([name, ...args], folder)
    expect({ code, told: [...one, ...other] }).toEqual({ code: 2, told: [] })
    expect(stderr).toContain('2 processes are running; select one of them:\n')
    for (const journal of ['a.db', 'data/sluice.db'])
      expect(stderr).toContain(`  --journal ${journal}   (process ${process.pid})\n`)
    expect(await called([name, ...args, '--journal', 'a.db'], folder)).toMatchObject({ code: 0 })
    expect([one, other]).toEqual([[name], []])
  },
)

test('a configuration without journal.path selects the default journal, and of several files only one needs to set it', async () => {
  const [usual, own] = [await runs('data/sluice.db'), await runs('own.db')]
  writeFileSync(join(folder, 'bare.yaml'), 'service: sandbox\n')
  writeFileSync(join(folder, 'my.yaml'), 'journal: { path: own.db }\n')
  expect(await called(['halt', '--config', 'bare.yaml'], folder)).toMatchObject({ code: 0 })
  expect(await called(['flatten', '--config', 'bare.yaml', '--config', 'my.yaml'], folder)).toMatchObject({ code: 0 })
  expect({ usual, own }).toEqual({ usual: ['halt'], own: ['flatten'] })
})

test.each<[what: string, args: string[], says: string]>([
  [
    'a command to a running process with a configuration that does not exist',
    ['--config', 'none.yaml'],
    'none.yaml:1:1 no such file',
  ],
  [
    'a command to a running process with a journal.path that is not text',
    ['--config', 'wrong.yaml'],
    'wrong.yaml:1:18 journal.path: expected text, found 5',
  ],
  [
    'a command to a running process with two configurations that have different journals',
    ['--config', 'a.yaml', '--config', 'b.yaml'],
    'the files name different journals',
  ],
  [
    'a command to a running process with both --config and --journal',
    ['--config', 'a.yaml', '--journal', 'a.db'],
    'give only one of them',
  ],
])('%s exits with 2', async (_what, args, says) => {
  writeFileSync(join(folder, 'wrong.yaml'), 'journal: { path: 5 }\n')
  for (const name of ['a', 'b']) writeFileSync(join(folder, `${name}.yaml`), `journal: { path: ${name}.db }\n`)
  const { code, stderr } = await called(['halt', ...args], folder)
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(says) })
})

test('a command to a running process exits with 1 if no process runs, and its message names the default journal', async () => {
  const { code, stderr } = await called(['halt'], folder)
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('no process runs on the journal') })
})

test('the registry entry of a killed process is ignored, and the next start removes it', async () => {
  const journal = join(folder, 'killed.db')
  const server = new URL('../../../src/live/control/server.ts', import.meta.url)
  const script = `const { serveControl } = await import('${server}')
    await serveControl({ journalPath: ${JSON.stringify(journal)}, handle: () => ({}), warn: () => {} })
    console.log('ready')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  expect(await running()).toEqual([{ journal, pid: child.pid }])
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(statSync(controlPath(journal)).isSocket()).toBe(true) // left behind
  expect(await running()).toEqual([])
  const left = readdirSync(registry)
  expect(left.length).toBe(1)
  const told = await runs('own.db')
  expect(readdirSync(registry)).not.toContain(left[0])
  expect(await called(['halt'], folder)).toMatchObject({ code: 0 })
  expect(told).toEqual(['halt'])
})

test('only the user can write the registry of processes, and a registry that others can write is ignored', async () => {
  await runs('own.db')
  expect(statSync(registry).mode & 0o777).toBe(0o700)
  const [name = ''] = readdirSync(registry)
  expect(statSync(join(registry, name)).mode & 0o777).toBe(0o600)
  expect(await running()).toHaveLength(1)
  chmodSync(join(registry, name), 0o644)
  expect(await running()).toEqual([])
  chmodSync(join(registry, name), 0o600)
  chmodSync(registry, 0o777)
  expect(await running()).toEqual([])
  chmodSync(registry, 0o700)
  writeFileSync(join(registry, '1-1-1.json'), '{"journal": 5', { mode: 0o600 })
  symlinkSync(join(registry, name), join(registry, '2-2-2.json'))
  expect(await running()).toHaveLength(1)
})

test('a process that cannot write its registry entry runs with a warning', async () => {
  vi.stubEnv('XDG_RUNTIME_DIR', '/dev/null/runtime')
  const warnings: string[] = []
  const told = await runs('own.db', (message) => warnings.push(message))
  expect(warnings).toEqual([expect.stringMatching(/^commands find this process only with --journal: /)])
  expect(await called(['halt', '--journal', 'own.db'], folder)).toMatchObject({ code: 0 })
  expect(told).toEqual(['halt'])
})
