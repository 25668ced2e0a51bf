import { expect, test } from 'vitest'
import { calmar, growthPerYear, omega, probabilisticSharpe, serenity } from '../../../src/backtest/metrics/risk.ts'
import {
  deviation,
  downsideDeviation,
  excessKurtosis,
  mean,
  quantile,
  skewness,
} from '../../../src/backtest/metrics/statistics.ts'

// Computed by hand: mean 0.0375; distances 0.0625, -0.1375, 0.1625, -0.0875; their squares add up to 0.056875.
const returns = [0.1, -0.1, 0.2, -0.05]
// Closing values 1.1, 0.99, 1.188 and 1.1286 of an equity that starts at 1.
const falls = [0, 0.1, 0, 0.05]
const variance = 0.056875 / 4
const cubes = (0.0625 ** 3 - 0.1375 ** 3 + 0.1625 ** 3 - 0.0875 ** 3) / 4
const fourths = (0.0625 ** 4 + 0.1375 ** 4 + 0.1625 ** 4 + 0.0875 ** 4) / 4

test.each<[string, string, number | undefined, number]>([
  ['mean', 'the arithmetic mean', mean(returns), 0.0375],
  ['deviation', 'of a sample, n - 1: pandas std, quantstats volatility', deviation(returns), 0.1376893],
  ['downside deviation', 'over all values: Sortino, quantstats', downsideDeviation(returns), 0.0559017],
  ['quantile', 'interpolated: numpy.percentile, empyrical value_at_risk', quantile(returns, 0.05), -0.0925],
  ['omega', 'at a threshold of 0: Keating and Shadwick, quantstats', omega(returns), 2],
  ['skewness', 'of the population: scipy', skewness(returns), cubes / variance ** 1.5],
  ['kurtosis', 'excess, of the population: scipy', excessKurtosis(returns), fourths / variance ** 2 - 3],
  // z = 0.2723524 x root(3) / root(1 - 0.18662 x 0.2723524 + (-1.6044 + 2) / 4 x 0.2723524^2)
  ['probability', 'Bailey and Lopez de Prado', probabilisticSharpe(returns, 0.2723524), 0.6852],
  // (4 / 1) ^ (365 / 730) - 1
  ['growth', 'empyrical cagr, of 365 days', growthPerYear({ start: 1, end: 4, days: 730 }), 1],
  [
    'calmar',
    'growth per year over the largest fall',
    calmar({ start: 1, end: 4, days: 730, underwaterShare: 0.4 }),
    2.5,
  ],
  // ulcer: root(0.0125 / 3) = 0.0645497; pitfall: 0.1 / 0.1376893 = 0.7262729; 0.15 / (0.0645497 x 0.7262729)
  ['serenity', 'KeyQuant, Jesse', serenity({ dailyReturns: returns, dailyFalls: falls }), 3.1996],
])('%s: %s', (_name, _source, found, byHand) => {
  expect(found).toBeCloseTo(byHand, 4)
})

test('the tail of the serenity index consists of the twentieth of the days with the deepest falls', () => {
  const dailyReturns = Array.from({ length: 60 }, (_, day) => (day % 2 === 0 ? 0.03 : -0.01))
  const dailyFalls = dailyReturns.map((_, day) => day / 1000)
  const ulcer = Math.sqrt(dailyFalls.reduce((sum, fall) => sum + fall * fall, 0) / 59)
  const tail = (0.057 + 0.058 + 0.059) / 3
  const spread = Math.sqrt((60 * 0.02 ** 2) / 59)
  expect(serenity({ dailyReturns, dailyFalls })).toBeCloseTo(0.6 / (ulcer * (tail / spread)), 9)
})

test('without a fall, or with a single day, the serenity index is undefined', () => {
  expect(serenity({ dailyReturns: [0.1, 0.2], dailyFalls: [0, 0] })).toBeUndefined()
  expect(serenity({ dailyReturns: [0.1], dailyFalls: [0.1] })).toBeUndefined()
})
