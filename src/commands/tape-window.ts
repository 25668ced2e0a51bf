import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Millis } from '../base/units.ts'
import { type Market, windowOf } from '../journal/tape/market-tape.ts'

const TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?Z?$/

interface Window {
  readonly from: string | undefined
  readonly to: string | undefined
}

/** Returns the part of the tape between --from and --to, inclusive. Throws SluiceError (exit 2) for an invalid time,
 *  and if the part has no market row. */
export function marketBetween(market: Market, { from, to }: Window): Market {
  if (from === undefined && to === undefined) return market
  const [first, last] = [
    timeOf('--from', from) ?? Number.NEGATIVE_INFINITY,
    timeOf('--to', to) ?? Number.POSITIVE_INFINITY,
  ]
  if (first > last) throw new SluiceError(`--from ${from} is after --to ${to}`, ExitCode.usage)
  const window = windowOf(market, first, last)
  if (window.rows > 0 || market.rows === 0) return window
  const covered = [market.stretches[0]?.from ?? 0, market.stretches.at(-1)?.to ?? 0].map((time) =>
    new Date(time).toISOString(),
  )
  throw new SluiceError(
    `the tape has no market row between --from and --to; it covers ${covered.join(' to ')}`,
    ExitCode.usage,
  )
}

function timeOf(option: string, text: string | undefined): Millis | undefined {
  if (text === undefined) return undefined
  const time = TIME.test(text) ? Date.parse(withZone(text.replace(' ', 'T'))) : Number.NaN
  if (Number.isFinite(time)) return time
  throw new SluiceError(
    `${option} ${text}: expected a UTC time such as 2026-11-22 or 2026-11-22T09:30:00`,
    ExitCode.usage,
  )
}

/** Adds the zone UTC to a time without a zone. Date.parse already reads a date without a time as UTC. */
function withZone(text: string): string {
  return text.includes('T') && !text.endsWith('Z') ? `${text}Z` : text
}
