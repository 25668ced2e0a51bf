import { fallOf, shareOf } from '../drawdowns.ts'
import type { Facts } from './facts.ts'
import { isLoss, isWin, type MetricSpec } from './metric.ts'
import {
  deviation,
  downsideDeviation,
  excessKurtosis,
  mean,
  normal,
  quantile,
  ratio,
  scaled,
  skewness,
  sum,
} from './statistics.ts'

const DAYS_A_YEAR = 365
const YEAR = Math.sqrt(DAYS_A_YEAR)

/** Metrics of risk: drawdowns, the spread of the returns, and ratios of return to risk, for example Sharpe's. */
export const RISK_METRICS: Readonly<Record<string, MetricSpec>> = {
  maxDrawdown: {
    ...{
      unit: 'SOL',
      label: 'Maximum drawdown',
      formula: 'largest fall of the equity, or of the balance of closed trades, from a high to a later low',
    },
    of: (f) => (f.drawdown === undefined ? 0 : fallOf(f.drawdown)),
  },
  maxDrawdownPercent: {
    ...{
      unit: '%',
      label: 'Maximum drawdown, percent of the high before it',
      formula: '`maxDrawdown` / `drawdownHigh`',
    },
    of: (f) => (f.drawdown === undefined ? 0 : shareOf(f.drawdown)),
  },
  maxUnderwaterPercent: {
    ...{ unit: '%', label: 'Largest fall, percent of the high before it' },
    ...{
      formula:
        'largest fall as a share of the high before it: the larger of the falls of the equity and of the balance of closed trades; it may differ from the largest fall in SOL',
    },
    of: (f) => f.underwaterShare,
  },
  drawdownHigh: {
    ...{
      unit: 'SOL',
      label: 'Maximum drawdown, high',
      formula: 'the high from which the equity, or the balance of closed trades, fell by `maxDrawdown`',
    },
    of: (f) => f.drawdown?.high.lamports,
  },
  drawdownLow: {
    ...{ unit: 'SOL', label: 'Maximum drawdown, low', formula: 'the low at which `maxDrawdown` ended' },
    of: (f) => f.drawdown?.low.lamports,
  },
  drawdownFrom: {
    ...{ unit: 'time', label: 'Maximum drawdown, start', formula: 'time of `drawdownHigh`' },
    of: (f) => f.drawdown?.high.time,
  },
  drawdownTo: {
    ...{ unit: 'time', label: 'Maximum drawdown, end', formula: 'time of `drawdownLow`' },
    of: (f) => f.drawdown?.low.time,
  },
  drawdownSeconds: {
    ...{ unit: 's', label: 'Maximum drawdown, duration', formula: '`drawdownTo` - `drawdownFrom`' },
    of: (f) => f.drawdown && (f.drawdown.low.time - f.drawdown.high.time) / 1000,
  },
  underwaterSeconds: {
    ...{ unit: 's', label: 'Longest time below a high' },
    ...{
      formula:
        'longest time that the equity, or the balance of closed trades, takes from a high to the next high or to the end of the tape',
    },
    of: (f) => f.underwaterSeconds,
  },
  recoveryFactor: {
    ...{ unit: 'ratio', label: 'Recovery factor', formula: '`netProfit` / `maxDrawdown`' },
    of: (f) => ratio(f.end - f.start, f.drawdown && fallOf(f.drawdown)),
  },

  returnDeviation: {
    ...{ unit: '%', label: 'Standard deviation of a trade', formula: 'sample deviation of the returns (n - 1)' },
    of: (f) => deviation(f.all.returns),
  },
  returnSkewness: {
    ...{ unit: 'ratio', label: 'Skewness of the trades', formula: 'third standardized moment of the returns' },
    of: (f) => skewness(f.all.returns),
  },
  returnKurtosis: {
    ...{ unit: 'ratio', label: 'Excess kurtosis of the trades' },
    ...{ formula: 'fourth standardized moment of the returns, less 3' },
    of: (f) => excessKurtosis(f.all.returns),
  },
  valueAtRisk95: {
    ...{ unit: '%', label: 'Value at risk of a trade, 95 %', formula: '5 % quantile of the returns' },
    of: (f) => quantile(f.all.returns, 0.05),
  },
  omega: {
    ...{ unit: 'ratio', label: 'Omega ratio of the trades, threshold 0' },
    ...{ formula: 'sum of the returns above 0 / absolute sum of the returns below 0' },
    of: (f) => omega(f.all.returns),
  },
  sharpePerTrade: {
    ...{ unit: 'ratio', label: 'Sharpe ratio of a trade', formula: '`expectancyPercent` / `returnDeviation`' },
    of: sharpePerTrade,
  },
  sortinoPerTrade: {
    ...{ unit: 'ratio', label: 'Sortino ratio of a trade' },
    ...{ formula: '`expectancyPercent` / root of the mean square of the returns below 0' },
    of: (f) => ratio(mean(f.all.returns), downsideDeviation(f.all.returns)),
  },
  sqn: {
    ...{ unit: 'ratio', label: 'System quality number', formula: '`sharpePerTrade` x root of the number of trades' },
    of: (f) => scaled(sharpePerTrade(f), Math.sqrt(f.trips.length)),
  },
  probabilisticSharpe: {
    ...{ unit: '%', label: 'Probability that the true Sharpe ratio is above 0' },
    formula:
      'Bailey and Lopez de Prado: normal(S x root(n - 1) / root(1 - skewness x S + (kurtosis + 2) / 4 x S x S)), ' +
      'S = `sharpePerTrade`, excess kurtosis',
    of: (f) => probabilisticSharpe(f.all.returns, sharpePerTrade(f)),
  },
  winningDays: {
    ...{ unit: 'count', label: 'Winning days', formula: 'days whose equity ends above the equity of the previous day' },
    of: (f) => f.dailyChanges.filter(isWin).length,
  },
  drawDays: {
    ...{ unit: 'count', label: 'Flat days', formula: 'days whose equity ends equal to the equity of the previous day' },
    of: (f) => f.dailyChanges.filter((change) => change === 0).length,
  },
  losingDays: {
    ...{ unit: 'count', label: 'Losing days', formula: 'days whose equity ends below the equity of the previous day' },
    of: (f) => f.dailyChanges.filter(isLoss).length,
  },
  bestDay: {
    ...{ unit: 'SOL', label: 'Best day', formula: 'largest daily change of the equity' },
    of: (f) => quantile(f.dailyChanges, 1),
  },
  worstDay: {
    ...{ unit: 'SOL', label: 'Worst day', formula: 'smallest daily change of the equity' },
    of: (f) => quantile(f.dailyChanges, 0),
  },
  volatility: {
    ...{ unit: '%', label: 'Volatility per year', formula: 'deviation of the daily returns x root of 365' },
    of: (f) => f.yearly(scaled(deviation(f.dailyReturns), YEAR)),
  },
  sharpe: {
    ...{
      unit: 'ratio',
      label: 'Sharpe ratio per year',
      formula: 'mean / deviation of the daily returns x root of 365',
    },
    of: (f) => f.yearly(scaled(ratio(mean(f.dailyReturns), deviation(f.dailyReturns)), YEAR)),
  },
  sortino: {
    ...{ unit: 'ratio', label: 'Sortino ratio per year' },
    ...{ formula: 'mean / downside deviation of the daily returns x root of 365' },
    of: (f) => f.yearly(scaled(ratio(mean(f.dailyReturns), downsideDeviation(f.dailyReturns)), YEAR)),
  },
  cagr: {
    ...{ unit: '%', label: 'Growth per year', formula: '(`endBalance` / `startBalance`) ^ (365 / days) - 1' },
    of: (f) => f.yearly(growthPerYear(f)),
  },
  calmar: {
    ...{ unit: 'ratio', label: 'Calmar ratio', formula: '`cagr` / `maxUnderwaterPercent`' },
    of: (f) => f.yearly(calmar(f)),
  },
  serenity: {
    ...{ unit: 'ratio', label: 'Serenity index' },
    formula:
      'KeyQuant, as in Jesse: sum of the daily returns / (ulcer index x pitfall). A fall is (high - close) / high of ' +
      'a day, the starting balance included; ulcer index: root of (sum of the squared falls / (days - 1)); pitfall: ' +
      'mean of the deepest 5 % of the falls (at least one fall) / standard deviation of the daily returns',
    of: (f) => f.yearly(serenity(f)),
  },
}

function sharpePerTrade({ all }: Facts): number | undefined {
  return ratio(mean(all.returns), deviation(all.returns))
}

/** Sum of the returns above 0, divided by the sum of those below 0. */
export function omega(returns: readonly number[]): number | undefined {
  const above = sum(returns.map((one) => Math.max(0, one)))
  const below = sum(returns.map((one) => Math.max(0, -one)))
  return ratio(above, below)
}

/** Probability that the true Sharpe ratio is above 0, after Bailey and Lopez de Prado. */
export function probabilisticSharpe(returns: readonly number[], sharpe: number | undefined): number | undefined {
  const skew = skewness(returns)
  const excess = excessKurtosis(returns)
  if (sharpe === undefined || skew === undefined || excess === undefined) return undefined
  const spread = 1 - skew * sharpe + ((excess + 2) / 4) * sharpe ** 2
  return spread > 0 ? normal((sharpe * Math.sqrt(returns.length - 1)) / Math.sqrt(spread)) : undefined
}

export function growthPerYear({ start, end, days }: Pick<Facts, 'start' | 'end' | 'days'>): number | undefined {
  const growth = ratio(end, start)
  return growth === undefined || growth <= 0 ? undefined : growth ** (1 / (days / DAYS_A_YEAR)) - 1
}

export function calmar(facts: Pick<Facts, 'start' | 'end' | 'days' | 'underwaterShare'>): number | undefined {
  return ratio(growthPerYear(facts), facts.underwaterShare)
}

/** The pitfall is computed from the mean of the deepest daily falls. This is the share of the days that count for
 *  it. */
const TAIL = 0.05

type Days = Pick<Facts, 'dailyReturns' | 'dailyFalls'>

/** KeyQuant's serenity index as Jesse computes it: the return divided by the product of ulcer index and pitfall. */
export function serenity({ dailyReturns, dailyFalls }: Days): number | undefined {
  if (dailyFalls.length < 2) return undefined
  const ulcer = Math.sqrt(sum(dailyFalls.map((fall) => fall * fall)) / (dailyFalls.length - 1))
  const deepest = [...dailyFalls].sort((one, other) => other - one)
  const tail = mean(deepest.slice(0, Math.max(1, Math.floor(TAIL * deepest.length))))
  const pitfall = ratio(tail, deviation(dailyReturns))
  return pitfall === undefined ? undefined : ratio(sum(dailyReturns), ulcer * pitfall)
}
