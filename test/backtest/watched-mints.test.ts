import { expect, test } from 'vitest'
import { WatchedMints } from '../../src/backtest/coverage.ts'

test.each<[string, (watched: WatchedMints) => void, string[]]>([
  ['all trades were recorded', (w) => w.record(0, ['trades']), []],
  ['the key of the token was recorded', (w) => w.record(0, ['newTokens', 'mint']), []],
  ['no key that includes the token was recorded', (w) => w.record(0, ['newTokens']), ['mint']],
  ['nothing was recorded, which counts as a gap', (w) => w.record(0, undefined), []],
  [
    'the key of the token was confirmed shortly after the bot wanted the token',
    (w) => {
      w.record(0, ['newTokens'])
      w.want(1_000, ['newTokens', 'mint'])
      w.record(9_000, ['newTokens', 'mint'])
    },
    [],
  ],
  [
    'the key of the token ended before the bot stopped wanting the token',
    (w) => {
      w.record(0, ['newTokens', 'mint'])
      w.want(1_000, ['newTokens', 'mint'])
      w.record(2_000, ['newTokens'])
      w.want(12_001, ['newTokens'])
    },
    ['mint'],
  ],
])('a token that a bot watched is missing from the tape only if it was not recorded: %s', (_name, happen, absent) => {
  const watched = new WatchedMints()
  watched.want(0, ['newTokens', 'mint'])
  happen(watched)
  watched.end(60_000)
  expect([...watched.absent]).toEqual(absent)
  expect([...watched.wanted]).toEqual(['mint'])
})
