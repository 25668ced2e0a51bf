import { expect, test } from 'vitest'
import { setsAnEngine } from '../../../src/backtest/sweep/run-sets.ts'
import { above, defineStrategy, figure, highest, sma, z } from '../../../src/index.ts'

const base = { name: 'averages', about: '', params: z.object({ bars: z.number() }), keys: ['trades'] } as const
const averages = {
  ...{ ...base, bars: { '1m': 1 }, when: () => above(figure('1m'), 0) },
  indicators: ({ bars }: { bars: number }) => ({ average: sma('1m', bars) }),
  start: () => ({ onCondition() {} }),
} as const

const highs = ({ bars }: { bars: number }) => ({ high: highest('1m', bars) })

const setsOf = (...lengths: number[]) => lengths.map((bars, index) => ({ set: index + 1, params: { bars } }))

test.each([
  [64, 'whose conditions share small indicators', averages, setsOf(20, 50, 20, 50)],
  [
    8,
    'whose indicators would together take more than 32 kB per token',
    { ...averages, indicators: highs },
    setsOf(2_000, 2_100),
  ],
  [8, 'with an average of more than 1,024 bars', averages, setsOf(1_100)],
  [64, 'whose averages share one ring of values', averages, setsOf(900, 950, 1_000)],
  [64, 'of which one set declares an invalid indicator', averages, setsOf(20, -1)],
  [8, 'with state for each token', { ...averages, token: () => ({}) }, setsOf(20)],
  [8, 'without conditions', { ...base, start: () => ({ onTrade() {} }) }, setsOf(20)],
])('%i sets of a strategy %s run in one engine', (count, _what, strategy, sets) => {
  expect(setsAnEngine({ strategy: { strategy: defineStrategy(strategy as never) } } as never, sets)).toBe(count)
})
