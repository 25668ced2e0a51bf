import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { controlPath } from '../../src/live/control/command.ts'
import { dialectQuestions } from '../../src/sandbox/dialect.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Block, blocksIn, DOCS, fileOf, type Line, linesOf, pageOf } from './documents.ts'
import type { Ended } from './process.ts'
import { Project } from './project.ts'
import { until } from './until.ts'

/** The documents in the order in which a user reads them. All of them use one project and one journal. */
const TASKS = [
  'first-run.md',
  'write-a-strategy.md',
  'bars.md',
  'test-a-strategy.md',
  'first-backtest.md',
  'paper.md',
  'go-live.md',
  'operate.md',
  'desk.md',
  'no-trades.md',
]

const parent = temporaryFolder()
const empty = new Project(parent.path)
const project = new Project(join(parent.path, 'My Bots'))
const read = (name: string) => readFileSync(join(project.folder, name), 'utf8')
let running: ChildProcess | undefined

afterAll(() => {
  running?.kill('SIGKILL')
})

describe('init', () => {
  test('`sluice init` writes a project whose configuration has no errors', async () => {
    const made = await empty.sluice('init', 'My Bots')
    expect(made).toMatchObject({ code: 0, stderr: '' })
    const files = readdirSync(project.folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\./.test(name))
    expect(made.stdout.split('\n\n')[0]?.split('\n').sort()).toEqual(files.sort())
    const manifest = JSON.parse(read('package.json'))
    expect(manifest).toMatchObject({ name: 'my-bots', private: true, type: 'module' })
    // `npm install` must install only packages from the registry. A package from elsewhere is named by its path.
    expect(manifest.dependencies.sluice).toMatch(/^file:\/.*\/sluice-\d+\.\d+\.\d+\.tgz$/)
    for (const version of Object.values(manifest.devDependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/)
    expect(read('bots.yaml').split('\n')[0]).toBe('# yaml-language-server: $schema=./sluice.schema.json')
    expect(JSON.parse(read('sluice.schema.json')).title).toBe('A configuration of Sluice')
    const loaded = await loadConfig(['bots.yaml'], { cwd: project.folder })
    expect(loaded).toMatchObject({ ok: true, config: { warnings: [], bots: [{ name: 'first' }] } })
    project.install()
  })

  test('`sluice init` leaves existing files unchanged', async () => {
    const again = await empty.sluice('init', 'My Bots')
    expect(again).toMatchObject({ code: 2, stdout: '' })
    expect(again.stderr).toContain('package.json already exists, kept unchanged')
    const mine = '{"dependencies":{}}'
    parent.write('other/package.json', mine)
    const made = await new Project(join(parent.path, 'other')).sluice('init')
    expect(made).toMatchObject({ code: 0, stderr: 'sluice: package.json already exists, kept unchanged\n' })
    expect(readFileSync(join(parent.path, 'other/package.json'), 'utf8')).toBe(mine)
    expect(made.stdout).toContain('Next:\n  npx sluice test\n  npx sluice run bots.yaml\n')
    expect(await new Project(join(DOCS, '..')).sluice('init')).toMatchObject({ code: 2 })
    expect(await project.sluice('init', 'bots.yaml')).toMatchObject({
      code: 2,
      stderr: 'sluice: bots.yaml is a file, not a folder\n',
    })
  })
})

describe('the documents by task', () => {
  test.each(TASKS)('the commands and the code in docs/%s work', async (name) => {
    for (const block of blocksIn(name)) await carryOut(block)
    await stop(name)
  })

  // docs/code makes the code visible to the compiler and the linter. `npx vitest run test/e2e/new-user.test.ts -u`
  // updates it.
  test('docs/code contains the code of the documents and of a new strategy', async () => {
    const blocks = TASKS.flatMap(blocksIn).filter(({ kind }) => kind === 'ts run')
    const code = new Map(blocks.map((block) => [fileOf(block), block.text]))
    for (const name of ['strategies/my-strategy.ts', 'strategies/my-strategy.test.ts']) code.set(name, read(name))
    for (const [name, text] of code) await expect(text).toMatchFileSnapshot(join(DOCS, 'code', name))
    const there = readdirSync(join(DOCS, 'code/strategies')).map((name) => `strategies/${name}`)
    expect(there.sort()).toEqual([...code.keys()].sort())
  })

  test('every page that a document links to exists', () => {
    const links = [...TASKS, 'README.md', 'service-facts.md'].flatMap((page) =>
      [...pageOf(page).matchAll(/\]\(([\w./-]+)\)/g)].map(([, link = '']) => ({ page, link })),
    )
    expect(links.filter(({ link }) => !existsSync(join(DOCS, link)))).toEqual([])
    expect(links.length).toBeGreaterThan(30)
    for (const page of TASKS) expect(pageOf('README.md')).toContain(`(${page})`)
  })

  test("docs/service-facts.md lists every setting of the sandbox's variants of the protocol", () => {
    const page = pageOf('service-facts.md')
    expect(Object.keys(dialectQuestions).filter((question) => !page.includes(`\`${question}\``))).toEqual([])
  })
})

test('`sluice schema` overwrites a schema, and no other file', async () => {
  expect(await project.sluice('schema', '--out', 'sluice.schema.json')).toMatchObject({ code: 0, stdout: '' })
  const refused = await project.sluice('schema', '--out', 'bots.yaml')
  expect(refused).toMatchObject({
    code: 2,
    stderr: 'sluice: bots.yaml already exists and was not written by this command\n',
  })
  expect(read('bots.yaml')).toContain('strategy: my-strategy')
  expect(await project.sluice('schema', '--out', 'no/such/folder.json')).toMatchObject({ code: 1, stdout: '' })
  expect(await project.sluice('init', 'bots.yaml/below')).toMatchObject({ code: 1, stdout: '' })
})

describe('new strategy', () => {
  test('`sluice new strategy` uses the test runner of the project and the folders of its repository', async () => {
    parent.write('vitest/package.json', '{"devDependencies":{"vitest":"5.1.0"}}')
    const withVitest = new Project(join(parent.path, 'vitest'))
    expect(await withVitest.sluice('new', 'strategy', 'a')).toMatchObject({ code: 0 })
    const test = readFileSync(join(withVitest.folder, 'strategies/a.test.ts'), 'utf8')
    expect(test).toContain("import { test } from 'vitest'")
    parent.write('own/package.json', '{"name":"sluice"}')
    const own = new Project(join(parent.path, 'own'))
    expect((await own.sluice('new', 'strategy', 'a')).stdout).toContain(
      'Next: npx sluice test test/strategies/a.test.ts',
    )
    expect(readFileSync(join(own.folder, 'test/strategies/a.test.ts'), 'utf8')).toContain("'../../strategies/a.ts'")
  })

  test.each<[string, string[], string]>([
    ['a name with capitals', ['strategy', 'Foo'], 'Foo is not a valid name of a strategy'],
    ['a path as the name', ['strategy', '../x'], '../x is not a valid name of a strategy'],
    ['a name that the project already has', ['strategy', 'my-strategy'], 'a strategy my-strategy already exists'],
    ['a name that Sluice already has', ['strategy', 'momentum'], 'a strategy momentum already exists'],
    ['an unknown kind of file', ['bot', 'x'], 'cannot create "bot"'],
  ])('`sluice new` refuses %s', async (_what, args, why) => {
    const ended = await project.sluice('new', ...args)
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toContain(why)
  })

  test('`sluice new strategy` writes no file if the test already exists', async () => {
    parent.write('My Bots/strategies/lone.test.ts', 'mine')
    const refused = await project.sluice('new', 'strategy', 'lone')
    expect(refused.stderr).toContain('strategies/lone.test.ts already exists')
    expect(existsSync(join(project.folder, 'strategies/lone.ts'))).toBe(false)
    expect((await empty.sluice('new', 'strategy', 'x')).stderr).toContain('this folder has no package.json')
  })
})

async function carryOut(block: Block): Promise<void> {
  switch (block.kind) {
    case 'sh run':
      for (const line of linesOf(block)) {
        const ended = await call(line)
        expect(ended, `${block.at}: ${line.text}\n${ended.stdout}${ended.stderr}`).toMatchObject({ code: 0 })
      }
      break
    case 'sh start':
      await start(block)
      break
    case 'ts run':
      writeFileSync(join(project.folder, fileOf(block)), block.text)
      break
    case 'yaml check': {
      const name = /^# (\S+\.yaml)\n/.exec(block.text)?.[1] ?? 'block.yaml'
      writeFileSync(join(project.folder, name), block.text)
      const loaded = await loadConfig([name], { cwd: project.folder })
      expect(loaded, block.at).toMatchObject({ ok: true, config: { warnings: [] } })
    }
  }
}

async function call({ words: [program = '', ...words], text }: Line): Promise<Ended> {
  const [first, ...args] = words
  if (program !== 'npx' || first !== 'sluice') throw new Error(`no test runs ${text}`)
  if (args[0] === 'test') return project.test(args)
  return args[0] === 'run' ? recorded(args) : project.sluice(...args)
}

/**
 * Records a run of some seconds. The run is repeated if the machine was so slow that the feed delivered nothing,
 * because the following commands need a tape.
 */
async function recorded(args: readonly string[]): Promise<Ended> {
  const loaded = await loadConfig([args[1] ?? ''], { cwd: project.folder })
  const journal = loaded.ok ? loaded.config.journal.path : ''
  for (;;) {
    const ended = project.process(...args)
    if (ended.code !== 0 || hasTape(journal)) return ended
    rmSync(dirname(journal), { recursive: true })
  }
}

function hasTape(journal: string): boolean {
  const reader = openReader(journal)
  try {
    return reader.counters().events > 0
  } finally {
    reader.close()
  }
}

/** Ends the processes that a document has started. */
async function stop(at: string): Promise<void> {
  if (running === undefined) return
  running.kill('SIGINT')
  expect((await once(running, 'exit'))[0], `${at}: exit code of the started process after Ctrl-C`).toBe(0)
  running = undefined
}

/**
 * Starts `npx sluice run FILE`, and waits until it accepts commands, or `npx sluice desk`, and waits until it serves
 * the page.
 */
async function start(block: Block): Promise<void> {
  const [{ words = [] } = {}] = linesOf(block)
  await stop(block.at)
  running = project.start(...words.slice(2))
  if (words[2] === 'desk') {
    const [origin = ''] = String((await once(running.stdout as Readable, 'data'))[0]).split(' ')
    expect((await fetch(`${origin}/login`)).status, block.at).toBe(200)
    return
  }
  const loaded = await loadConfig(words.slice(3), { cwd: project.folder })
  const journal = loaded.ok ? loaded.config.journal.path : ''
  await until(
    `${block.at}: the started process to accept commands`,
    () => existsSync(dirname(journal)) && existsSync(controlPath(journal)),
  )
}
