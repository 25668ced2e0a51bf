// Numbers, times and texts of third parties as the page shows them. Each number has its unit in its text or in the head
// of its column. Gains and losses have a sign, because some users cannot distinguish the colours.
import { counted, printable } from '../../base/text.ts'
import type { Millis } from '../../base/units.ts'
import { clockOf, durationOf, localDateOf } from '../../runtime/time-text.ts'

/** Dash for a value that is unknown or does not apply. */
export const NONE = '–'
const MINUS = '−'
const PRICE_DIGITS = 4
const MOST_PLACES = 18

export type Tone = 'gain' | 'loss' | ''

export function toneOf(value: number | null | undefined): Tone {
  return value === null || value === undefined || value === 0 || Number.isNaN(value) ? '' : value > 0 ? 'gain' : 'loss'
}

/** A number with a sign. Zero, and a number that rounds to zero, has no sign. */
function signed(value: number, places: number): string {
  const text = Math.abs(value).toFixed(places)
  if (Number(text) === 0) return text
  return `${value < 0 ? MINUS : '+'}${text}`
}

/** SOL with four decimals, for example `0.5012`. Lists of the command line show every lamport. */
export function solText(sol: number | null | undefined, places = 4): string {
  if (sol === null || sol === undefined) return NONE
  return sol < 0 ? `${MINUS}${(-sol).toFixed(places)}` : sol.toFixed(places)
}

export function signedSol(sol: number | null | undefined, places = 4): string {
  return sol === null || sol === undefined ? NONE : signed(sol, places)
}

export function signedPercent(percent: number | null | undefined, places = 1): string {
  return percent === null || percent === undefined ? NONE : `${signed(percent, places)} %`
}

export function percentText(percent: number | null | undefined, places = 0): string {
  return percent === null || percent === undefined ? NONE : `${percent.toFixed(places)} %`
}

/** A price as a decimal number without an exponent, with four significant digits, for example `0.00000002812`. */
export function priceText(price: number | null | undefined): string {
  if (price === null || price === undefined || !Number.isFinite(price)) return NONE
  if (price === 0) return '0'
  const before = Math.floor(Math.log10(Math.abs(price)))
  const text = price.toFixed(Math.min(MOST_PLACES, Math.max(0, PRICE_DIGITS - 1 - before)))
  // A chart's axis may have a zero that is slightly negative because of rounding, which would be shown as -0.
  return Number(text) === 0 ? text.replace('-', '') : text
}

/** An integer with a space between groups of three digits: `1 203 882`. The first call of `toLocaleString` would take
 *  15 ms of the page's first frame. */
export function countText(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ' ')
}

export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let [value, unit] = [bytes, 0]
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${value.toFixed(unit === 0 || value >= 100 ? 0 : 1)} ${units[unit]}`
}

/** An age, or a remaining time, rounded down. Below 100 s the text changes each second, above that each minute. */
export function ageText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  return seconds < 100 ? `${seconds} s` : durationOf(Math.floor(seconds / 60) * 60_000).replace('m00s', 'm')
}

/** A short duration as text. Below one second, the unit is milliseconds. */
export function spanText(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? NONE : durationOf(Math.max(0, ms))
}

/** Local time of the day, with the date if it is not the date of `now`. */
export function timeText(time: Millis, now: Millis): string {
  const clock = clockOf(time).slice(0, 8)
  return localDateOf(time) === localDateOf(now) ? clock : `${localDateOf(time)} ${clock}`
}

/** The first and last characters of a mint or a signature; the whole text is in the title of the element. */
export function shortKey(key: string): string {
  const safe = printable(key)
  return safe.length <= 11 ? safe : `${safe.slice(0, 4)}…${safe.slice(-4)}`
}

/** A token by its symbol, which a third party chose, or by its mint. */
export function tokenText(symbol: string, mint: string): string {
  const safe = printable(symbol).trim()
  return safe === '' ? shortKey(mint) : cutText(safe, 16)
}

function cutText(text: string, length: number): string {
  const characters = [...text]
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`
}

/** A code such as LOSING_STREAK or a key such as takeProfit in words. */
export function wordsOf(code: string): string {
  return code
    .replaceAll('_', ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
}

/** Name of an exit by its key, for example `stop loss` for stopLossPercent. */
export function exitName(kind: string): string {
  return printable(wordsOf(kind.replace(/(Percent|Seconds)$/, '')))
}

export { counted, printable }
