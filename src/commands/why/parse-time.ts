import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Millis } from '../../base/units.ts'
import { isoOf, stampOf } from '../../runtime/time-text.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const EXAMPLES = 'expected 12:03, 12:03:10, 2026-11-22T12:03, or milliseconds since 1970 (13 digits)'
const CLOCK = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,3}))?)?$/
const DATED = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,3}))?)?(Z|[+-]\d\d:?\d\d)?)?$/

/** First and last millisecond of the minute, second or millisecond that the user gave. */
export interface Instant {
  readonly from: Millis
  readonly to: Millis
}

/**
 * Parses a time. A time without a date means the day between `first` and `last` on which it occurs; if there are
 * several such days, the only one for which `ran` returns true. A time without a zone is local. Throws SluiceError
 * (exit 2) if the time is invalid or ambiguous.
 */
export function readInstant(text: string, first: Millis, last: Millis, ran: (instant: Instant) => boolean): Instant {
  const instant = /^\d+$/.test(text) ? epochInstant(text) : (clockInstant(text, first, last, ran) ?? datedInstant(text))
  if (instant === undefined) throw unclear(`--at ${text} is not a time`)
  if (instant.from > last || instant.to < first)
    throw unclear(`--at ${text} is outside of this journal, which covers ${stampOf(first)} to ${stampOf(last)}`)
  return instant
}

function epochInstant(text: string): Instant {
  const at = Number(text)
  if (text.length === 10) throw unclear(`--at ${text} looks like seconds since 1970; in milliseconds it is ${text}000`)
  if (text.length !== 13) throw unclear(`--at ${text} is not a time`)
  return { from: at, to: at }
}

function clockInstant(
  text: string,
  first: Millis,
  last: Millis,
  ran: (instant: Instant) => boolean,
): Instant | undefined {
  const [, hours, minutes, seconds, fraction] = CLOCK.exec(text) ?? []
  if (hours === undefined || minutes === undefined) return undefined
  const days: Instant[] = []
  const day = new Date(first)
  day.setHours(0, 0, 0, 0)
  for (; day.getTime() <= last; day.setDate(day.getDate() + 1)) {
    const at = new Date(day)
    at.setHours(Number(hours), Number(minutes), Number(seconds ?? 0), msOf(fraction))
    const instant = spanFrom(at.getTime(), seconds, fraction)
    if (instant.from <= last && instant.to >= first) days.push(instant)
  }
  const found = days.length > 1 && days.some(ran) ? days.filter(ran) : days
  if (found.length <= 1) return found[0] ?? spanOutside(first, hours, minutes)
  const times = found.slice(-3).map(({ from }) => isoOf(from))
  throw unclear(`--at ${text} occurs on ${found.length} days of this journal: write ${times.join(' or ')}`, '')
}

/** Returns the given time of day on the day `day`, although the journal does not cover this time. The caller then
 *  reports that no process ran at it. */
function spanOutside(day: Millis, hours: string, minutes: string): Instant {
  const at = new Date(day)
  at.setHours(Number(hours), Number(minutes), 0, 0)
  return { from: at.getTime(), to: at.getTime() }
}

function datedInstant(text: string): Instant | undefined {
  const instant = datedSpan(text)
  if (instant !== undefined && !text.includes(':'))
    throw unclear(`--at ${text} is a date: add a time, such as ${text}T12:03`, '')
  return instant
}

/** Parses a date, or a date with a time. A time without a zone is local. Returns undefined if the text is neither. */
export function datedSpan(text: string): Instant | undefined {
  const [, year, month, date, hours = '00', minutes = '00', seconds, fraction, zone] = DATED.exec(text) ?? []
  if (year === undefined || month === undefined || date === undefined) return undefined
  const isDay = new Date(`${year}-${month}-${date}T00:00Z`).getUTCDate() === Number(date)
  const time = `${hours}:${minutes}:${seconds ?? '00'}.${String(msOf(fraction)).padStart(3, '0')}`
  const at = Date.parse(`${year}-${month}-${date}T${time}${zone ?? ''}`)
  return isDay && Number.isFinite(at) ? spanFrom(at, seconds, fraction) : undefined
}

function spanFrom(from: Millis, seconds: string | undefined, fraction: string | undefined): Instant {
  if (fraction !== undefined) return { from, to: from + 10 ** (3 - fraction.length) - 1 }
  return { from, to: from + (seconds === undefined ? MINUTE_MS : SECOND_MS) - 1 }
}

function msOf(fraction: string | undefined): number {
  return fraction === undefined ? 0 : Number(fraction.padEnd(3, '0'))
}

function unclear(message: string, advice = `; ${EXAMPLES}`): SluiceError {
  return new SluiceError(`${message}${advice}`, ExitCode.usage)
}
