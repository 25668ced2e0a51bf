import type { Facts } from './facts.ts'
import { deviation, excessKurtosis, mean, normal, ratio, skewness, sum } from './statistics.ts'

const DAYS_A_YEAR = 365

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
