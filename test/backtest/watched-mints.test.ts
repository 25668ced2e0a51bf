import { expect, test } from 'vitest'
import { WatchedMints } from '../../src/backtest/coverage.ts'

test.each<[string, (watched: WatchedMints) => void, string[]]>([
  ['all trades were recorded', (w) => w.record(0, ['trades']), []],
  ['it was recorded by itself', (w) => w.record(0, ['newTokens', 'mint']), []],
  ['it was not', (w) => w.record(0, ['newTokens']), ['mint']],
  ['nothing was: that is a gap', (w) => w.record(0, undefined), []],
  [
    'it was confirmed a moment after it was wanted',
    (w) => {
      w.record(0, ['newTokens'])
      w.want(1_000, ['newTokens', 'mint'])
      w.record(9_000, ['newTokens', 'mint'])
    },
    [],
  ],
  [
    'it was given up before it was not wanted any more',
    (w) => {
      w.record(0, ['newTokens', 'mint'])
      w.want(1_000, ['newTokens', 'mint'])
      w.record(2_000, ['newTokens'])
      w.want(12_001, ['newTokens'])
    },
    ['mint'],
  ],
])('a token that is wanted: %s', (_name, happen, absent) => {
  const watched = new WatchedMints()
  watched.want(0, ['newTokens', 'mint'])
  happen(watched)
  watched.end(60_000)
  expect([...watched.absent]).toEqual(absent)
  expect([...watched.wanted]).toEqual(['mint'])
})
