import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { catalogue } from '../src/commands/catalogue.ts'
import { helpText } from '../src/commands/help.ts'
import { called } from './e2e/called.ts'

const bin = fileURLToPath(new URL('../bin/sluice.js', import.meta.url))
const names = Object.values(catalogue).flatMap((commands) => commands.map(({ name }) => name))

function sluice(args: string[], node = process.execPath, nodeArgs: string[] = []) {
  const { status, stdout, stderr } = spawnSync(node, [...nodeArgs, bin, ...args], { encoding: 'utf8' })
  return { status, stdout, stderr }
}

test('--help names every command and exits with 0', () => {
  const { status, stdout, stderr } = sluice(['--help'])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  for (const name of names) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
})

test("`help` with a command prints the same text as the command's --help", () => {
  const { status, stdout, stderr } = sluice(['help', 'sweep'])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('vary the params of this bot')
})

test.each([80, 120])('a terminal of %i columns wraps no line of --help', (columns) => {
  const lines = helpText(columns).split('\n')
  expect(lines.filter((line) => line.length > columns)).toEqual([])
})

test('--version prints the version of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  expect(sluice(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
})

test('--help of each command exits with 0', () => {
  const parser = new URL('../src/commands/parse.ts', import.meta.url).href
  const script = `import { parse } from '${parser}'
    for (const name of ${JSON.stringify(names)})
      if ((await parse([name, '--help'])) !== 0) throw new Error(name)`
  const args = ['--input-type=module', '--eval', script]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  for (const name of names) expect(stdout).toContain(`Usage: sluice ${name} `)
})

test('without a command, Sluice prints the list of commands on stderr and exits with 2', () => {
  const { status, stdout, stderr } = sluice([])
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toContain('Usage: sluice')
})

test.each([
  ['an unknown command', ['trade'], "unknown command 'trade'"],
  ['an unknown option', ['orders', '--all'], "unknown option '--all'"],
  ['a missing file', ['run'], "missing required argument 'file'"],
  ['a command with one argument too many', ['record', 'a.yaml', 'b.yaml'], 'too many arguments'],
  ['an option with a text in place of a number', ['demo', '--seconds', 'soon'], 'Expected a number of at least 0.001'],
  [
    'an option that is followed by another option in place of its value',
    ['export', '--tax', '--journal', 'x.db'],
    "'--tax <file.csv>' argument '--journal' is invalid",
  ],
  [
    'an option for several values that is followed by another option',
    ['backtest', 'a.yaml', '--journal', '--json'],
    "'--journal <db>' argument '--json' is invalid",
  ],
  ['data of a signal that is not JSON', ['signal', 'size', '{2}'], 'the data of a signal must be JSON'],
  ['an option with a port out of range', ['sandbox', '--port', '70000'], 'Expected a whole number from 0 to 65535'],
])('%s is reported on stderr with exit code 2', async (_name, args, says) => {
  const { code, stdout, stderr } = await called(args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(says)
})

const oneLine = /^sluice needs Node >= 22\.18, this is [\d.]+: .*npm start.*\n$/

test.each(['20.20.2', '22.17.1', '18.0.0'])('with Node %s, Sluice prints one line and exits with 2', (version) => {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  const { status, stdout, stderr } = sluice(['demo'], process.execPath, ['--import', `data:text/javascript,${pretend}`])
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(oneLine)
})

test('with a Node that is older than 22, Sluice prints one line and exits with 2', ({ skip }) => {
  const old = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .find((node) => existsSync(node) && Number(version(node).split('.')[0]) < 22)
  if (!old) return skip('PATH has no Node that is older than 22')
  const { status, stdout, stderr } = sluice(['demo'], old)
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(oneLine)
})

function version(node: string): string {
  return execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' })
}
