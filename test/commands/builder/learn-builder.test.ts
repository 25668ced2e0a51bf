import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { parse } from '../../../src/commands/parse.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = temporaryFolder()
const MINT = '6Fzphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump'

let said = ''
beforeEach(() => {
  said = ''
  const hear = (text: unknown): boolean => {
    said += `${String(text)}\n`
    return true
  }
  vi.spyOn(console, 'error').mockImplementation((line) => void hear(line))
  vi.spyOn(process.stderr, 'write').mockImplementation(hear)
})
afterEach(() => vi.restoreAllMocks())

test.each<[string, string[], RegExp]>([
  ['no mint', [], /--mint needs 1 to 5 mints \(base58/],
  ['an invalid mint', ['--mint', 'nonsense'], /--mint needs 1 to 5 mints \(base58/],
  ['too many mints', Array.from({ length: 6 }, () => ['--mint', MINT]).flat(), /--mint needs 1 to 5 mints/],
  ['an amount that is too small', ['--mint', MINT, '--sol', '0.0001'], /from 0.001 to 1/],
  [
    '--accept without a proposal',
    ['--accept', 'abc', '--policy', '/nowhere/policy.yaml'],
    /does not exist: run learn-builder/,
  ],
  ['no configuration', ['--mint', MINT], /configuration is invalid/],
])('learn-builder with %s exits with code 2 and a message', async (_what, args, line) => {
  expect(await parse(['learn-builder', '/nowhere/bots.yaml', ...args])).toBe(2)
  expect(said).toMatch(line)
})

test('learn-builder --accept with another hash exits with code 4 and keeps the proposal', async () => {
  const proposed = folder.write('policy.yaml.proposed', '# shown\nprograms: [pump]\n')
  expect(
    await parse(['learn-builder', 'bots.yaml', '--policy', proposed.replace('.proposed', ''), '--accept', 'abc']),
  ).toBe(4)
  expect(said).toMatch(/has the hash [0-9a-f]{24}: read and accept that version/)
})

test('for learn-builder, a configuration may name a policy file that does not exist yet', async () => {
  const config = [
    "service: { baseUrl: 'http://127.0.0.1:9/api', wsUrl: 'ws://127.0.0.1:9/api/data', apiKey: env:NO_SUCH_KEY, builderPolicy: none.yaml }",
    `journal: { path: ${folder.path}/journal.db }`,
    'bots: [{ name: dips, strategy: dip-buyer, mode: paper, exits: { maxHoldSeconds: 60 } }]',
  ]
  const file = folder.write('bots.yaml', `${config.join('\n')}\n`)
  await parse(['learn-builder', file, '--mint', MINT])
  expect(said).not.toMatch(/configuration is invalid|none\.yaml/)
})
