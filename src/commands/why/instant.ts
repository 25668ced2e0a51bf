import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Millis } from '../../base/units.ts'
import { isoOf, stampOf } from '../../runtime/time-text.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const EXAMPLES = 'write 12:03, 12:03:10, 2026-11-22T12:03, or milliseconds since 1970 (13 digits)'
const CLOCK = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,3}))?)?$/
const DATED = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,3}))?)?(Z|[+-]\d\d:?\d\d)?)?$/

/** The time that somebody named: a minute, a second or a millisecond is all of it, from its first to its last ms. */
export interface Instant {
  readonly from: Millis
  readonly to: Millis
}

/** Reads a time. One without a day is of the only day between `first` and `last` on which it is, and `ran` holds; one
 *  without a zone is this machine's. Throws SluiceError (exit 2) that says what to write where it is unclear. */
export function readInstant(text: string, first: Millis, last: Millis, ran: (instant: Instant) => boolean): Instant {
  const instant = /^\d+$/.test(text) ? epochInstant(text) : (clockInstant(text, first, last, ran) ?? datedInstant(text))
  if (instant === undefined) throw unclear(`--at ${text} is no time`)
  if (instant.from > last || instant.to < first)
    throw unclear(`--at ${text} is outside of what this journal holds, ${stampOf(first)} to ${stampOf(last)}`)
  return instant
}

function epochInstant(text: string): Instant {
  const at = Number(text)
  if (text.length === 10) throw unclear(`--at ${text} looks like seconds since 1970; in milliseconds it is ${text}000`)
  if (text.length !== 13) throw unclear(`--at ${text} is no time`)
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
  throw unclear(`${text} was on ${found.length} days of this journal: write ${times.join(' or ')}`, '')
}

/** A time of day that the journal has on no day. */
function spanOutside(day: Millis, hours: string, minutes: string): Instant {
  const at = new Date(day)
  at.setHours(Number(hours), Number(minutes), 0, 0)
  return { from: at.getTime(), to: at.getTime() }
}

function datedInstant(text: string): Instant | undefined {
  const [, year, month, date, hours, minutes, seconds, fraction, zone] = DATED.exec(text) ?? []
  if (year === undefined || month === undefined || date === undefined) return undefined
  const isDay = new Date(`${year}-${month}-${date}T00:00Z`).getUTCDate() === Number(date)
  if (isDay && hours === undefined)
    throw unclear(`--at ${text} is a whole day: write when on it, such as ${text}T12:03`, '')
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
