import type { Millis } from '../../base/units.ts'
import type { BotLog, OrderRecord } from '../bot-log.ts'
import { quantile } from './statistics.ts'

/** A bot's use of its plan. */
export interface PlanUse {
  readonly requests: number
  /** Most requests in any minute, and as a share of the plan. */
  readonly peakPerMinute: number
  readonly peakPercent: number
  /** Orders that waited for a request slot, and how long. */
  readonly delayed: number
  readonly medianDelayMs: number | null
  readonly longestDelayMs: number | null
  /** Sales among them. */
  readonly lateExits: number
  /** Entries that waited too long. */
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

/** Most of these ascending times within one window. */
function mostWithin(times: readonly Millis[], windowMs: Millis): number {
  let most = 0
  let first = 0
  for (let last = 0; last < times.length; last++) {
    while ((times[last] as Millis) - (times[first] as Millis) >= windowMs) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}
