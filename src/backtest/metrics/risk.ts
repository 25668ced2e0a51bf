import type { Facts } from './facts.ts'
import { deviation, excessKurtosis, mean, normal, quantile, ratio, skewness, sum } from './statistics.ts'

const DAYS_A_YEAR = 365

/** Sum of the returns above 0 over the sum of those below. */
export function omega(returns: readonly number[]): number | undefined {
  const above = sum(returns.map((one) => Math.max(0, one)))
  const below = sum(returns.map((one) => Math.max(0, -one)))
  return ratio(above, below)
}

/** Bailey and Lopez de Prado: the probability that the true Sharpe ratio is above 0. */
export function probabilisticSharpe(returns: readonly number[], sharpe: number | undefined): number | undefined {
  const skew = skewness(returns)
  const excess = excessKurtosis(returns)
  if (sharpe === undefined || skew === undefined || excess === undefined) return undefined
  const spread = 1 - skew * sharpe + ((excess + 2) / 4) * sharpe ** 2
  return spread > 0 ? normal((sharpe * Math.sqrt(returns.length - 1)) / Math.sqrt(spread)) : undefined
}

export function growthPerYear({ start, end, days }: Facts): number | undefined {
  const growth = ratio(end, start)
  return growth === undefined || growth <= 0 ? undefined : growth ** (1 / (days / DAYS_A_YEAR)) - 1
}

export function calmar(facts: Facts): number | undefined {
  return ratio(growthPerYear(facts), quantile(facts.underwater, 1))
}

/** Return over ulcer index times pitfall: the worst twentieth of the days over their deviation. */
export function serenity({ start, end, dailyReturns: days, underwater }: Facts): number | undefined {
  const growth = ratio(end, start)
  const ulcer = Math.sqrt(mean(underwater.map((one) => one * one)) ?? 0)
  const cut = quantile(days, 0.05)
  const spread = deviation(days)
  if (cut === undefined || spread === undefined || growth === undefined) return undefined
  const tail = mean(days.filter((one) => one <= cut))
  const pitfall = ratio(tail === undefined ? undefined : -tail, spread)
  return pitfall === undefined ? undefined : ratio(growth - 1, ulcer * pitfall)
}
