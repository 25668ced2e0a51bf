import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MINT = '6Fzphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump'
const folder = temporaryFolder()
const load = (filters: string, defaults = '') => {
  const bots = `bots:\n  - { name: dips, strategy: dip-buyer, filters: ${filters} }\n`
  folder.write('bots.yaml', `service: sandbox\n${defaults}${bots}`)
  return loadConfig(['bots.yaml'], { cwd: folder.path })
}

test('the lists of mints and creators are read together with the configuration, and change its hash', async () => {
  folder.write('deny.txt', `# rugs\n${MINT}\n`)
  const one = await load('{ denyMints: deny.txt, minAgeSeconds: 60, minLiquiditySol: 5 }')
  expect(one.ok && [...one.config.lists]).toEqual([['deny.txt', [MINT]]])
  expect(one.ok && one.config.bots[0]?.filters).toMatchObject({ denyMints: 'deny.txt', minAgeMs: 60_000 })
  folder.write('deny.txt', '')
  const other = await load('{ denyMints: deny.txt, minAgeSeconds: 60, minLiquiditySol: 5 }')
  expect(one.ok && other.ok && one.config.hash !== other.config.hash).toBe(true)
})

test.each([
  [
    'a list file that does not exist',
    '{ allowMints: none.txt }',
    '',
    '3:63 bots[0].filters.allowMints: none.txt: no such file',
  ],
  [
    'a line of a list file that is not a key',
    '{ denyCreators: bad.txt }',
    '',
    '3:65 bots[0].filters.denyCreators: bad.txt:2: expected one base58 key of 32 bytes per line, or a comment after #',
  ],
  [
    'a list file of the defaults that does not exist',
    '{}',
    'defaults: { filters: { denyMints: none.txt } }\n',
    '2:35 defaults.filters.denyMints: none.txt',
  ],
  [
    'a share of the pool above 100 percent',
    '{ maxPoolSharePercent: 101 }',
    '',
    '3:72 bots[0].filters.maxPoolSharePercent: expected at least 0.01 and at most 100',
  ],
  [
    'a misspelt key of a list',
    '{ denyMint: a.txt }',
    '',
    '3:51 bots[0].filters.denyMint: unknown key; did you mean denyMints?',
  ],
])('the configuration check refuses %s', async (_what, filters, defaults, expected) => {
  folder.write('bad.txt', `${MINT}\nnonsense\n`)
  const result = await load(filters, defaults)
  const [error] = result.ok ? [] : result.errors
  expect(error && `${error.line}:${error.column} ${error.path}: ${error.message}`).toContain(expected)
})
