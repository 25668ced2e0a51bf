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

// Computed by hand: the mean is 0.0375, and the differences from it are 0.0625, -0.1375, 0.1625 and -0.0875. The
// squares of these differences add up to 0.056875.
const returns = [0.1, -0.1, 0.2, -0.05]
// The falls of an equity that starts at 1 and closes at 1.1, 0.99, 1.188 and 1.1286.
const falls = [0, 0.1, 0, 0.05]
const variance = 0.056875 / 4
const cubes = (0.0625 ** 3 - 0.1375 ** 3 + 0.1625 ** 3 - 0.0875 ** 3) / 4
const fourths = (0.0625 ** 4 + 0.1375 ** 4 + 0.1625 ** 4 + 0.0875 ** 4) / 4

test.each<[string, string, number | undefined, number]>([
  ['mean', 'the arithmetic mean', mean(returns), 0.0375],
  [
    'deviation',
    'standard deviation of a sample (n - 1), like pandas std and quantstats volatility',
    deviation(returns),
    0.1376893,
  ],
  [
    'downside deviation',
    'downside deviation over all values, like Sortino and quantstats',
    downsideDeviation(returns),
    0.0559017,
  ],
  [
    'quantile',
    'interpolated quantile, like numpy.percentile and empyrical value_at_risk',
    quantile(returns, 0.05),
    -0.0925,
  ],
  ['omega', 'omega ratio at a threshold of 0, after Keating and Shadwick, like quantstats', omega(returns), 2],
  ['skewness', 'skewness of the population, like scipy', skewness(returns), cubes / variance ** 1.5],
  ['kurtosis', 'excess kurtosis of the population, like scipy', excessKurtosis(returns), fourths / variance ** 2 - 3],
  // The z-score is 0.2723524 x root(3) / root(1 - 0.18662 x 0.2723524 + (-1.6044 + 2) / 4 x 0.2723524^2)
  [
    'probability',
    'probabilistic Sharpe ratio, after Bailey and Lopez de Prado',
    probabilisticSharpe(returns, 0.2723524),
    0.6852,
  ],
  // The growth is (4 / 1) ^ (365 / 730) - 1.
  ['growth', 'growth per year of 365 days, like empyrical cagr', growthPerYear({ start: 1, end: 4, days: 730 }), 1],
  [
    'calmar',
    'growth per year divided by the largest fall',
    calmar({ start: 1, end: 4, days: 730, underwaterShare: 0.4 }),
    2.5,
  ],
  // The ulcer index is root(0.0125 / 3) = 0.0645497, and the pitfall indicator is 0.1 / 0.1376893 = 0.7262729. The
  // serenity index is 0.15 / (0.0645497 x 0.7262729).
  [
    'serenity',
    'serenity index, after KeyQuant, like Jesse',
    serenity({ dailyReturns: returns, dailyFalls: falls }),
    3.1996,
  ],
])('%s has the value that was computed by hand (%s)', (_name, _source, found, byHand) => {
  expect(found).toBeCloseTo(byHand, 4)
})

test('the tail in the serenity index is the twentieth of the days that have the deepest falls', () => {
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
