import { returnOf } from '../../engine/accounting/round-trip.ts'
import { dailyCloses, drawdowns } from '../equity.ts'
import { DAY, type Metric, type MetricsInput, metric, percent, sol } from './metric.ts'
import {
  deviation,
  downsideDeviation,
  excessKurtosis,
  mean,
  normal,
  quantile,
  ratio,
  skewness,
  sum,
} from './statistics.ts'

const DAYS_A_YEAR = 365
/** Below this a year's figure is an invention. */
const LEAST_DAYS = 30
const LEAST_TRIPS = 100

/** How sure the profit is. Nothing is said of a year before there are thirty days and a hundred trades. */
export function riskMetrics(input: MetricsInput): Metric[] {
  const { trips, from, to, startLamports, equity } = input
  const returns = trips.map(returnOf)
  const perTrade = ratio(mean(returns), deviation(returns))
  const above = sum(returns.map((one) => Math.max(0, one)))
  const below = sum(returns.map((one) => Math.max(0, -one)))
  const days = dailyReturns(input)
  const perDay = days.map(({ lamports }) => lamports)
  const isLong = (to - from) / DAY >= LEAST_DAYS && trips.length >= LEAST_TRIPS
  const yearly = (value: number | undefined): number | undefined => (isLong ? value : undefined)
  const root = Math.sqrt(DAYS_A_YEAR)
  const growth = ratio(equity.lamports.at(-1) ?? startLamports, startLamports)
  const years = (to - from) / DAY / DAYS_A_YEAR
  const cagr = growth === undefined || growth <= 0 ? undefined : growth ** (1 / years) - 1
  const fall = quantile(drawdowns(equity), 1)
  const ulcer = Math.sqrt(mean(drawdowns(equity).map((one) => one * one)) ?? 0)
  return [
    metric('returnDeviation', 'Deviation of a trade', '%', percent(deviation(returns))),
    metric('returnSkewness', 'Skewness of the trades', 'ratio', skewness(returns)),
    metric('returnKurtosis', 'Excess kurtosis of the trades', 'ratio', excessKurtosis(returns)),
    metric('valueAtRisk95', 'One trade in twenty is worse than', '%', percent(quantile(returns, 0.05))),
    metric('omega', 'Omega of the trades at 0', 'ratio', ratio(above, below)),
    metric('sharpePerTrade', 'Sharpe ratio of a trade', 'ratio', perTrade),
    metric('sortinoPerTrade', 'Sortino ratio of a trade', 'ratio', ratio(mean(returns), downsideDeviation(returns))),
    metric(
      'sqn',
      'System quality number',
      'ratio',
      perTrade === undefined ? undefined : perTrade * Math.sqrt(trips.length),
    ),
    metric('probabilisticSharpe', 'Probability that it earns', '%', percent(probabilisticSharpe(returns, perTrade))),
    metric('winningDays', 'Days won', 'count', days.filter(({ lamports }) => lamports > 0).length),
    metric('drawDays', 'Days neither', 'count', days.filter(({ lamports }) => lamports === 0).length),
    metric('losingDays', 'Days lost', 'count', days.filter(({ lamports }) => lamports < 0).length),
    metric('bestDay', 'Best day', 'SOL', sol(quantile(perDay, 1))),
    metric('worstDay', 'Worst day', 'SOL', sol(quantile(perDay, 0))),
    metric('volatility', 'Volatility a year', '%', yearly(percent(scaled(deviation(shares(days)), root)))),
    metric(
      'sharpe',
      'Sharpe ratio, a year',
      'ratio',
      yearly(scaled(ratio(mean(shares(days)), deviation(shares(days))), root)),
    ),
    metric(
      'sortino',
      'Sortino ratio, a year',
      'ratio',
      yearly(scaled(ratio(mean(shares(days)), downsideDeviation(shares(days))), root)),
    ),
    metric('cagr', 'Growth a year', '%', yearly(percent(cagr))),
    metric('calmar', 'Calmar ratio', 'ratio', yearly(ratio(cagr, fall))),
    metric('serenity', 'Serenity index', 'ratio', yearly(serenity(shares(days), growth, ulcer))),
  ]
}

interface Day {
  readonly lamports: number
  /** Of the equity at its beginning. */
  readonly share: number
}

const shares = (days: readonly Day[]): number[] => days.map(({ share }) => share)
const scaled = (value: number | undefined, by: number): number | undefined =>
  value === undefined ? undefined : value * by

function dailyReturns({ equity, startLamports }: MetricsInput): Day[] {
  let before = startLamports
  return dailyCloses(equity).map(({ lamports }) => {
    const change = lamports - before
    const share = before > 0 ? change / before : 0
    before = lamports
    return { lamports: change, share }
  })
}

/** Bailey and Lopez de Prado: the probability that the true Sharpe ratio is above 0. */
function probabilisticSharpe(returns: readonly number[], sharpe: number | undefined): number | undefined {
  const skew = skewness(returns)
  const excess = excessKurtosis(returns)
  if (sharpe === undefined || skew === undefined || excess === undefined) return undefined
  const spread = 1 - skew * sharpe + ((excess + 2) / 4) * sharpe ** 2
  return spread > 0 ? normal((sharpe * Math.sqrt(returns.length - 1)) / Math.sqrt(spread)) : undefined
}

/** Return over ulcer index times pitfall: the worst twentieth of the days over their deviation. */
function serenity(days: readonly number[], growth: number | undefined, ulcer: number): number | undefined {
  const cut = quantile(days, 0.05)
  const spread = deviation(days)
  if (cut === undefined || spread === undefined || growth === undefined) return undefined
  const tail = mean(days.filter((one) => one <= cut))
  const pitfall = ratio(tail === undefined ? undefined : -tail, spread)
  return pitfall === undefined ? undefined : ratio(growth - 1, ulcer * pitfall)
}
