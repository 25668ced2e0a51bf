import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { catalogue } from '../../src/commands/catalogue.ts'
import { openForWriting } from '../../src/journal/database.ts'
import { called } from '../e2e/called.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const [missing, empty, directory] = ['missing.db', 'empty.db', 'folder.db'].map((name) => join(folder.path, name))
const config = folder.write('bots.yaml', 'service: sandbox\nbots: [{ name: a, strategy: dip-buyer }]\n')
const out = join(folder.path, 'out')

beforeAll(() => {
  openForWriting(empty as string).close()
  mkdirSync(directory as string)
})

/** For each command that reads a journal or files: the arguments that name them. */
const READING: Readonly<Record<string, (path: string) => string[]>> = {
  replay: (path) => ['--journal', path],
  backtest: (path) => [config, '--journal', path],
  sweep: (path) => [config, '--journal', path, '--range', 'dropPercent=5:10:5'],
  compare: (path) => [path, path],
  attribute: (path) => [path, path],
  'plan-advise': (path) => [config, '--journal', path],
  import: (path) => [path, '--journal', join(folder.path, 'new.db')],
  export: (path) => ['--journal', path, '--out', `${out}.ndjson`],
  migrate: (path) => ['--journal', path],
  backup: (path) => [path, join(folder.path, 'copy.db')],
  tape: (path) => ['list', '--journal', path],
  orders: (path) => ['--journal', path],
  fills: (path) => ['--journal', path],
  why: (path) => ['o1', '--journal', path],
  report: (path) => ['--journal', path],
  ledger: (path) => ['--journal', path],
  positions: (path) => ['--journal', path],
  'round-trips': (path) => ['--journal', path],
}
const reading = Object.entries(READING)

/** Returns the exit code and the stderr of a command. */
async function refusal(args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const { code, stderr } = await called(args)
  return { code, said: stderr }
}

test('every command that reads a journal is in the table of commands in this test', () => {
  expect(Object.keys(READING).toSorted()).toEqual(catalogue['Read a journal:']?.map(({ name }) => name).toSorted())
})

test.each(reading)('%s of a missing file exits with code 2', async (name, args) => {
  const { code, said } = await refusal([name, ...args(missing as string)])
  expect({ code, said }).toEqual({ code: 2, said: expect.stringContaining(missing as string) })
  expect(existsSync(missing as string)).toBe(false)
})

test.each(reading)('%s of a folder exits with code 2', async (name, args) => {
  const { code, said } = await refusal([name, ...args(directory as string)])
  expect({ code, said }).toEqual({ code: 2, said: expect.stringContaining(directory as string) })
})

test.each(reading)('%s with an option that it does not have exits with code 2', async (name, args) => {
  const { code, said } = await refusal([name, ...args(empty as string), '--nothing'])
  expect({ code, said }).toEqual({ code: 2, said: expect.stringContaining('--nothing') })
})

test.each<[what: string, args: string[], says: string]>([
  ['`why` with an order that does not exist', ['why', 'o1', '--journal', empty as string], 'has no order o1'],
  ['`ledger` with text that is not an order', ['ledger', 'x', '--journal', empty as string], 'x is not an order id'],
  [
    '`sweep` with a bot that the file does not have',
    ['sweep', config, '--bot', 'b', '--journal', empty as string],
    'b',
  ],
  [
    '`export --out` with a format that it cannot write',
    ['export', '--out', `${out}.parquet`],
    'ends in .ndjson, .jsonl, or .csv',
  ],
  ['`export --out` with a file name without an ending', ['export', '--out', out], 'ends in .ndjson, .jsonl, or .csv'],
  ['`export --tax` with a file that is not CSV', ['export', '--tax', `${out}.xlsx`], 'ends in .csv'],
  ['`export` without an output file', ['export'], 'export needs either --out FILE'],
  [
    '`backtest --from` with text that is not a time',
    ['backtest', config, '--from', 'noon', '--journal', empty as string],
    '--from',
  ],
])('%s exits with code 2', async (_what, args, says) => {
  const { code, said } = await refusal(args)
  expect({ code, said }).toEqual({ code: 2, said: expect.stringContaining(says) })
})

test('`orders` with correct arguments and the same journal exits with code 0', async () => {
  expect(await refusal(['orders', '--journal', empty as string])).toEqual({ code: 0, said: '' })
})
