import { expect, test } from 'vitest'
import { rankCorrelation, ranked, type SetResult } from '../../src/backtest/set-result.ts'

function result(set: number, sampleLamports: number, heldOut: number, threw = ''): SetResult {
  const counts = { orders: 0, buys: 0, sells: 0, open: 0, realizedLamports: 0, feeLamports: 0, venueLamports: 0 }
  return { set, params: {}, threw, sampleLamports, netLamports: sampleLamports + heldOut, ...counts }
}

test('ranked by the sample alone; what threw comes last', () => {
  const all = [result(1, 5, 100), result(2, 9, -100), result(3, 99, 0, 'Error'), result(4, 5, 0)]
  expect(ranked(all).map(({ set }) => set)).toEqual([2, 1, 4, 3])
})

test.each([
  [
    'the same order',
    [
      [1, 10],
      [2, 20],
      [3, 30],
    ],
    1,
  ],
  [
    'the other way round',
    [
      [1, 30],
      [2, 20],
      [3, 10],
    ],
    -1,
  ],
  // Ranks 0 1 2 3 and 1 0 3 2: 1 - 6 * 4 / (4 * 15).
  [
    'neighbours exchanged',
    [
      [1, 20],
      [2, 10],
      [3, 40],
      [4, 30],
    ],
    0.6,
  ],
  // Ranks 0.5 0.5 2 and 0 1 2: covariance 1.5, variances 1.5 and 2.
  [
    'ties share a rank',
    [
      [1, 10],
      [1, 20],
      [3, 30],
    ],
    1.5 / Math.sqrt(3),
  ],
  [
    'two',
    [
      [1, 10],
      [2, 20],
    ],
    undefined,
  ],
  [
    'all equal',
    [
      [1, 10],
      [1, 20],
      [1, 30],
    ],
    undefined,
  ],
] as [string, [number, number][], number | undefined][])('rank correlation: %s', (_name, pairs, expected) => {
  const found = rankCorrelation(pairs.map(([sample, heldOut], index) => result(index, sample, heldOut)))
  if (expected === undefined) expect(found).toBeUndefined()
  else expect(found).toBeCloseTo(expected, 12)
})
