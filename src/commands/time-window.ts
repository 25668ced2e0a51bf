import { ExitCode, SluiceError } from '../core/errors.ts'
import type { Millis } from '../core/units.ts'
import { windowOf } from '../journal/market-window.ts'
import type { Market } from '../journal/reader.ts'
import type { Options } from './options.ts'

const TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?Z?$/

/** The tape, or what lies between `--from` and `--to` of it. Throws SluiceError (exit 2) for what is no time. */
export function marketBetween(market: Market, { from, to }: Options): Market {
  if (from === undefined && to === undefined) return market
  const [first, last] = [
    timeOf('--from', from) ?? Number.NEGATIVE_INFINITY,
    timeOf('--to', to) ?? Number.POSITIVE_INFINITY,
  ]
  if (first > last) throw new SluiceError(`--from ${from} is after --to ${to}`, ExitCode.usage)
  const window = windowOf(market, first, last)
  if (window.rows > 0 || market.rows === 0) return window
  throw new SluiceError('the tape has no market row between --from and --to', ExitCode.usage)
}

function timeOf(option: string, text: string | undefined): Millis | undefined {
  if (text === undefined) return undefined
  const time = TIME.test(text) ? Date.parse(withZone(text.replace(' ', 'T'))) : Number.NaN
  if (Number.isFinite(time)) return time
  throw new SluiceError(`${option} ${text} is no time: 2026-11-22 or 2026-11-22T09:30:00, in UTC`, ExitCode.usage)
}

/** A date alone is UTC already. */
function withZone(text: string): string {
  return text.includes('T') && !text.endsWith('Z') ? `${text}Z` : text
}
