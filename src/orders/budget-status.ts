import type { Millis } from '../base/units.ts'
import { formatInstant } from '../base/units.ts'

/** How much of the plan's request limit is used. */
export interface Budget {
  /** Number of request slots in use: by requests under way, and by requests that ended within the last minute. */
  readonly held: number
  /** Number of request slots that may be in use now. After a 429 it is smaller than the plan's number. */
  readonly allowed: number
  /** Number of requests a minute that the plan allows, or this process's share of it. */
  readonly perMinute: number
  /** Number of requests that wait for a request slot. */
  readonly waiting: number
  /** Reasons why fewer request slots can be used than the plan allows. */
  readonly holds: readonly Hold[]
}

export interface Hold {
  readonly code: 'HISTORY_UNKNOWN' | 'SMALLER_PLAN' | 'THROTTLED' | 'RETRY_AFTER'
  /** Time at which this reason ends by itself; null if the time is not known. */
  readonly until: Millis | null
  readonly text: string
}

/** Returns the part of a plan's limit (requests per minute or per second) that one process may use; at least 1.
 *  `share`: from 0 to 1. */
export function shareOf(perInterval: number, share: number): number {
  return Math.max(1, Math.floor(perInterval * share))
}

/** A reason why fewer request slots can be used than the plan allows, with the numbers for its text. */
export type HoldCause =
  | { readonly code: 'HISTORY_UNKNOWN'; readonly until: Millis; readonly exitShare: number }
  | { readonly code: 'SMALLER_PLAN'; readonly earlier: number; readonly exitShare: number }
  | { readonly code: 'THROTTLED'; readonly since: Millis; readonly count: number; readonly perMinute: number }
  | { readonly code: 'RETRY_AFTER'; readonly until: Millis }

export function holdOf(cause: HoldCause, { allowed, perMinute }: Pick<Budget, 'allowed' | 'perMinute'>): Hold {
  const { code } = cause
  switch (code) {
    case 'HISTORY_UNKNOWN':
      return {
        ...{ code, until: cause.until },
        text: `this API key was used before, and its requests in the minute before this start are unknown: until they no longer count, buys wait, and sales may use ${requests(cause.exitShare)}`,
      }
    case 'SMALLER_PLAN':
      return {
        ...{ code, until: null },
        text: `${requests(cause.earlier)} sent under the larger plan still count for a minute: until then buys wait, and sales may use ${requests(cause.exitShare)}`,
      }
    case 'THROTTLED':
      return {
        ...{ code, until: null },
        text: `the service answered 429 (too many requests) ${times(cause.count)} since ${clockTime(cause.since)}: ${allowed} of ${requests(perMinute)} a minute are allowed now, and ${round(cause.perMinute)} more after each minute`,
      }
    case 'RETRY_AFTER':
      return {
        ...{ code, until: cause.until },
        text: 'the service asked for a pause (Retry-After): no requests are sent',
      }
  }
}

/** Returns the reason of a refusal with LIMIT_WAIT. */
export function waitReason({ held, perMinute, holds, waiting }: Budget, now: Millis): string {
  const used = `${held} of ${requests(perMinute)} a minute are in use, ${waiting} more wait`
  const reasons = holds.map(({ text, until }) =>
    until === null ? text : `${text}; until ${formatInstant(until, now)}`,
  )
  return [used, ...reasons].join('; ')
}

function requests(count: number): string {
  return `${count} request${count === 1 ? '' : 's'}`
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

/** Returns a text such as `14:03:12 UTC`. */
function clockTime(time: Millis): string {
  return formatInstant(time, time).slice(0, '14:03:12 UTC'.length)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
