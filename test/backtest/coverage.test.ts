import { expect, test } from 'vitest'
import { coverageOf, type FeedEvent, lackOf, shareOf, tapeCoverage } from '../../src/backtest/coverage.ts'
import type { Config } from '../../src/config/config.ts'
import { NO_FILTERS } from '../../src/engine/limits/entry-filters.ts'
import { NO_LIMITS } from '../../src/engine/limits/limit-rules.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { journalPath } from '../support/journal-samples.ts'
import { feed, noisyMarket, writeTape } from '../support/recorded-tape.ts'

const MINT = '6Fzphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump'

const began = (time: number, segment = 1): FeedEvent => ({ kind: 'began', segment, time })
const ended = (time: number, segment = 1): FeedEvent => ({ kind: 'ended', segment, time })
const live = (time: number, ...confirmed: string[]): FeedEvent => ({ kind: 'feed', time, status: 'live', confirmed })
const down = (time: number): FeedEvent => ({ kind: 'feed', time, status: 'down', confirmed: [] })
const stale = (time: number, ...confirmed: string[]): FeedEvent => ({ kind: 'feed', time, status: 'stale', confirmed })
const gap = (from: number, to: number, ...keys: string[]): FeedEvent => ({ kind: 'gap', from, to, keys })

test.each<[string, FeedEvent[], string, number, string[]]>([
  ['a complete recording', [began(0), live(0, 'trades'), ended(1_000)], 'trades', 1, []],
  [
    'the time before the feed was live for the first time does not count as a gap',
    [began(0), down(0), gap(0, 900, 'trades'), live(900, 'trades'), ended(1_000)],
    'trades',
    1,
    [],
  ],
  ['a feed that was never live', [began(0), down(0), ended(1_000)], 'trades', 0, ['trades: the feed was never live']],
  ['a journal without a segment', [], 'trades', 0, ['trades: the feed was never live']],
  [
    'the needed key newTokens, if only the key trades was recorded',
    [began(0), live(0, 'trades'), ended(1_000)],
    'newTokens',
    0,
    ['newTokens: not recorded in segment 1, 1970-01-01 00:00:00 to 1970-01-01 00:00:01 UTC'],
  ],
  [
    'a token whose trades are covered by the key of all trades',
    [began(0), live(0, 'trades'), ended(1_000)],
    MINT,
    1,
    [],
  ],
  ["a token whose trades are covered by the token's own key", [began(0), live(0, MINT), ended(1_000)], MINT, 1, []],
  [
    'the needed key trades, if only the key of one token was recorded',
    [began(0), live(0, MINT), ended(1_000)],
    'trades',
    0,
    ['trades: not recorded in'],
  ],
  [
    'a short gap is counted from the last time the feed was live',
    [began(0), live(0, 'trades'), down(520), gap(500, 540, 'trades'), live(540, 'trades'), ended(1_000)],
    'trades',
    0.96,
    [],
  ],
  [
    'a gap of a tenth of the recorded time',
    [began(0), live(0, 'trades'), down(520), gap(500, 600, 'trades'), live(600, 'trades'), ended(1_000)],
    'trades',
    0.9,
    ['trades: gaps are 10.0 % of the recorded time'],
  ],
  [
    'if the feed is stale, the gap begins when the feed fell silent',
    [began(0), live(0, 'trades'), stale(700, 'trades'), gap(600, 750, 'trades'), live(750, 'trades'), ended(1_000)],
    'trades',
    0.85,
    ['trades: gaps are 15.0 %'],
  ],
  [
    'a gap is recorded while the feed is live, because rows were lost on a full disk',
    [began(0), live(0, 'trades'), gap(200, 400, 'trades', 'newTokens'), ended(1_000)],
    'trades',
    0.8,
    ['trades: gaps are 20.0 %'],
  ],
  [
    'gaps of keys that are not needed do not count',
    [began(0), live(0, 'trades', 'newTokens'), gap(200, 400, 'newTokens'), ended(1_000)],
    'trades',
    1,
    [],
  ],
  [
    'the time before a key was confirmed counts as a gap',
    [began(0), live(0, 'trades'), live(400, 'trades', 'newTokens'), ended(1_000)],
    'newTokens',
    0.6,
    ['newTokens: gaps are 40.0 %'],
  ],
  [
    'the time between two segments does not count',
    [began(0), live(0, 'trades'), ended(1_000), began(9_000, 2), live(9_000, 'trades'), ended(9_500, 2)],
    'trades',
    1,
    [],
  ],
  [
    'a segment that lacks the needed key is named, even if it lasts only a millisecond',
    [began(0), live(0, 'trades'), ended(100_000), began(200_000, 2), live(200_000, 'newTokens'), ended(200_001, 2)],
    'trades',
    100_000 / 100_001,
    ['trades: not recorded in segment 2, 1970-01-01 00:03:20 to 1970-01-01 00:03:20 UTC'],
  ],
  [
    'a gap of ten minutes counts as a pause between two segments',
    [
      ...[began(0), live(0, 'trades'), down(1_100), gap(1_000, 601_000, 'trades'), live(601_000, 'trades')],
      ...[down(601_910), gap(601_900, 602_000, 'trades'), live(602_000, 'trades'), ended(602_000)],
    ],
    'trades',
    0.95,
    [],
  ],
  [
    'a segment in which the feed was never live is left out',
    [began(0), ended(500), began(600, 2), live(600, 'trades'), ended(700, 2)],
    'trades',
    1,
    [],
  ],
  [
    'a segment that lasts no time and has the needed key',
    [began(5, 0), live(5, 'trades'), ended(5, 0)],
    'trades',
    1,
    [],
  ],
  [
    'a segment that lasts no time and lacks the needed key',
    [began(5, 0), live(5, 'trades'), ended(5, 0)],
    'newTokens',
    0,
    ['newTokens: not recorded in the import'],
  ],
])('the recorded share of the time and the named gaps: %s', (_name, events, key, share, lacks) => {
  const [coverage] = coverageOf([key], events)
  if (coverage === undefined) throw new Error('no coverage')
  expect(shareOf(coverage)).toBeCloseTo(share, 9)
  const found = lackOf(coverage)
  expect(found).toHaveLength(lacks.length)
  for (const [index, lack] of lacks.entries()) expect(found[index]).toContain(lack)
})

test.each([
  ['the time after the bots were stopped is no gap', [], 'stop', 1],
  ['the time after the bots were only halted is a gap', [], 'halt', 0.49],
  [
    'the time after the bots were stopped is a gap, if the feed was stale before',
    [{ time: 4_950, input: feed('stale', ['trades']) }],
    'stop',
    0.49,
  ],
] as const)('a feed that is down at the end of the tape: %s', async (_, before, name, share) => {
  const at = (time: number) => ({ time, input: { kind: 'command', command: { name } } as const })
  const gap = { time: 5_000, input: { kind: 'gap', from: 4_900, to: 5_000, keys: ['trades'] } } as const
  const ending = [...before, at(5_000), { time: 5_000, input: feed('down', []) }, gap, at(10_000)]
  const path = journalPath()
  await writeTape(path, [{ time: 0, items: [...noisyMarket(50, 1, 0), ...ending] }])
  const bot = { strategy: { strategy: { keys: ['trades'] } }, limits: NO_LIMITS, filters: NO_FILTERS }
  const config = { bots: [bot], wallets: [{ name: '', limits: NO_LIMITS }] } as unknown as Config
  const reader = openReader(path)
  try {
    const { coverage } = tapeCoverage(config, reader.market(), true)
    expect(coverage.map(shareOf)).toEqual([share])
  } finally {
    reader.close()
  }
})
