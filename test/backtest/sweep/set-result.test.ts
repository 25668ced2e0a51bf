import { expect, test } from 'vitest'
import { rankCorrelation, ranked, type SetResult } from '../../../src/backtest/sweep/sweep.ts'
import { sweepVerdict } from '../../../src/backtest/sweep/verdict.ts'

function result(set: number, sampleLamports: number, heldOut: number, threw = ''): SetResult {
  const counts = { orders: 1, buys: 1, sells: 0, open: 0, realizedLamports: 0, feeLamports: 0, venueLamports: 0 }
  return { set, params: {}, threw, sampleLamports, netLamports: sampleLamports + heldOut, ...counts }
}

test('param sets are ranked by their results in the sample, not in the hold-out, and sets whose strategy threw come last', () => {
  const all = [result(1, 5, 100), result(2, 9, -100), result(3, 99, 0, 'Error'), result(4, 5, 0)]
  expect(ranked(all).map(({ set }) => set)).toEqual([2, 1, 4, 3])
})

test('param sets without trades in the sample rank below sets with a loss, are left out of all figures, and are mentioned', () => {
  const idle = { ...result(1, 0, 0), orders: 0, buys: 0 }
  const late = result(2, 0, 700)
  const all = [idle, late, result(3, -5, 1), result(4, -9, -1), result(5, 9, 0, 'Error')]
  const order = ranked(all)
  expect(order.map(({ set }) => set)).toEqual([3, 4, 1, 2, 5])
  expect(rankCorrelation(all)).toBeUndefined() // two are left
  const sweep = {
    bot: 'b',
    strategy: 's',
    ranges: [],
    refused: 0,
    unit: { is: 'sol', text: '' } as const,
    rows: 9,
    holdOutPercent: 30,
    lacks: [],
    results: order,
  }
  const verdict = sweepVerdict(sweep, order.slice(0, 4)).join(' ')
  expect(verdict).toContain('2 param sets did not trade in the sample, and rank last.')
  expect(verdict).toContain('Every param set that traded lost')
  expect(verdict).toContain('Of the best 2 param sets in the sample, 1 made a profit')
  expect(sweepVerdict(sweep, [idle])).toEqual([
    'No param set traded in the sample, so the sweep cannot show which set is best.',
  ])
})

test.each([
  [
    'the held-out results have the same order as the sample',
    [
      [1, 10],
      [2, 20],
      [3, 30],
    ],
    1,
  ],
  [
    'the held-out results have the reverse order',
    [
      [1, 30],
      [2, 20],
      [3, 10],
    ],
    -1,
  ],
  // The ranks 0 1 2 3 and 1 0 3 2 have the correlation 1 - 6 * 4 / (4 * 15).
  [
    'neighbours have exchanged their places',
    [
      [1, 20],
      [2, 10],
      [3, 40],
      [4, 30],
    ],
    0.6,
  ],
  // The ranks 0.5 0.5 2 and 0 1 2 have a covariance of 1.5 and variances of 1.5 and 2.
  [
    'equal values get the same rank',
    [
      [1, 10],
      [1, 20],
      [3, 30],
    ],
    1.5 / Math.sqrt(3),
  ],
  [
    'two param sets have no rank correlation',
    [
      [1, 10],
      [2, 20],
    ],
    undefined,
  ],
  [
    'equal values only have no rank correlation',
    [
      [1, 10],
      [1, 20],
      [1, 30],
    ],
    undefined,
  ],
] as [string, [number, number][], number | undefined][])(
  'the rank correlation of param sets: %s',
  (_name, pairs, expected) => {
    const found = rankCorrelation(pairs.map(([sample, heldOut], index) => result(index, sample, heldOut)))
    if (expected === undefined) expect(found).toBeUndefined()
    else expect(found).toBeCloseTo(expected, 12)
  },
)
