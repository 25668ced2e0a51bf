import { ExitCode, SluiceError } from '../base/errors.ts'
import { printable } from '../base/text.ts'
import type { Millis } from '../base/units.ts'
import { isoOf } from '../runtime/time-text.ts'
import { datedSpan } from './why/parse-time.ts'

const SECOND_MS = 1_000
const UNITS: Readonly<Record<string, Millis>> = {
  s: SECOND_MS,
  m: 60 * SECOND_MS,
  h: 3_600 * SECOND_MS,
  d: 86_400 * SECOND_MS,
  w: 604_800 * SECOND_MS,
}
const DURATION = /^(?:\d+(?:\.\d+)?[smhdw])+$/
const PART = /(\d+(?:\.\d+)?)([smhdw])/g

/** Parses the value of `--since`: a duration before now (`2h`, `1d12h`), a date, a date with a time, or milliseconds
 *  since 1970. A time without a zone is local. Throws SluiceError (exit 2) with the nearest valid value. */
export function readSince(text: string, now: Millis): Millis {
  const since = durationIn(text) !== undefined ? now - (durationIn(text) as Millis) : timeIn(text)
  if (since !== undefined && since <= now) return since
  if (since !== undefined) throw invalid(text, 'is in the future', undefined)
  throw invalid(text, 'is not a time', suggestionFor(text, now))
}

function timeIn(text: string): Millis | undefined {
  return /^\d{13}$/.test(text) ? Number(text) : datedSpan(text)?.from
}

function durationIn(text: string): Millis | undefined {
  if (!DURATION.test(text)) return undefined
  return [...text.matchAll(PART)].reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 0), 0)
}

/** The valid value that is nearest to an invalid one; undefined if none is near. */
function suggestionFor(text: string, now: Millis): string | undefined {
  const [, count, unit] = /^(\d+(?:\.\d+)?)\s*([a-z])[a-z]*(?: ago)?$/i.exec(text) ?? []
  if (count !== undefined && (unit?.toLowerCase() ?? '') in UNITS) return `${count}${unit?.toLowerCase()}`
  if (/^\d{10}$/.test(text)) return `${text}000`
  if (/^today$/i.test(text)) return isoOf(now).slice(0, 10)
  if (/^yesterday$/i.test(text)) return isoOf(now - (UNITS.d ?? 0)).slice(0, 10)
  const clock = /^(\d{1,2})(:\d\d(?::\d\d)?)$/.exec(text)
  if (clock !== null) return `${isoOf(now).slice(0, 10)}T${clock[1]?.padStart(2, '0')}${clock[2]}`
  const [, year, month, day, rest = ''] = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ](.*))?$/.exec(text) ?? []
  const [, lastDay, lastMonth, lastYear] = /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})$/.exec(text) ?? []
  const date = [year ?? lastYear, (month ?? lastMonth)?.padStart(2, '0'), (day ?? lastDay)?.padStart(2, '0')].join('-')
  const dated = rest === '' ? date : `${date}T${rest}`
  return datedSpan(dated) === undefined ? undefined : dated
}

function invalid(text: string, problem: string, suggestion: string | undefined): SluiceError {
  const nearest = suggestion === undefined ? '' : `; did you mean ${suggestion}?`
  const expected =
    'expected a duration such as 2h or 1d12h, a date such as 2026-11-22, or a time such as 2026-11-22T12:03'
  return new SluiceError(printable(`--since ${text} ${problem}${nearest}; ${expected}`), ExitCode.usage)
}
