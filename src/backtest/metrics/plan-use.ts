import type { Millis } from '../../base/units.ts'
import type { BotLog, OrderRecord } from '../bot-log.ts'
import { quantile } from './statistics.ts'

/** Use of the request plan by a bot. */
export interface PlanUse {
  readonly requests: number
  /** Largest number of requests within any minute. `peakPercent`: this number as a percentage of the plan. */
  readonly peakPerMinute: number
  readonly peakPercent: number
  /** Number of orders that waited because the plan allowed no further request; the next two fields are their waiting
   *  times. */
  readonly delayed: number
  readonly medianDelayMs: number | null
  readonly longestDelayMs: number | null
  /** Number of sales among the delayed orders. */
  readonly lateExits: number
  /** Number of entries that were refused because they waited too long. */
  readonly refused: number
}

const WINDOW: Millis = 60_000

export function planUseOf(
  { orders, requestTimes }: Pick<BotLog, 'orders' | 'requestTimes'>,
  requestsPerMinute: number,
): PlanUse {
  const all = [...orders.values()]
  const late = all.filter((order) => delayOf(order) > 0)
  const delays = late.map(delayOf)
  const peak = mostWithin(requestTimes, WINDOW)
  return {
    requests: requestTimes.length,
    peakPerMinute: peak,
    peakPercent: (peak / requestsPerMinute) * 100,
    delayed: late.length,
    medianDelayMs: quantile(delays, 0.5) ?? null,
    longestDelayMs: quantile(delays, 1) ?? null,
    lateExits: late.filter((order) => order.class === 'exit').length,
    refused: all.filter(({ code }) => code === 'LIMIT_WAIT' || code === 'TTL').length,
  }
}

function delayOf({ time, sentAt }: OrderRecord): Millis {
  return sentAt === null ? 0 : sentAt - time
}

/** Returns the largest number of `times` (ascending) that lie within any window of `windowMs`. */
function mostWithin(times: readonly Millis[], windowMs: Millis): number {
  let most = 0
  let first = 0
  for (let last = 0; last < times.length; last++) {
    while ((times[last] as Millis) - (times[first] as Millis) >= windowMs) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}
