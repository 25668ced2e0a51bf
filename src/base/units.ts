/** Amounts and times. Money is integers; floats exist only in YAML, strategy calls and display, and pass through the
 *  functions below. */

declare const brand: unique symbol

/** Milliseconds since the Unix epoch, an integer, as stamped once by the runner; or a span of milliseconds where the
 *  name ends in `Ms`. */
export type Millis = number

/** Place of a row or an input in one process's stream; counts up by one across both. */
export type Seq = number

/** 1e-9 SOL. A safe integer, asserted where it enters; may be negative in a change of balance. */
export type Lamports = number & { readonly [brand]: 'lamports' }

/** Base units of a token. A 9-decimal supply does not fit a double, so this is a bigint. */
export type TokenAmount = bigint

export const HOUR: Millis = 3_600_000
export const DAY: Millis = 86_400_000

/** UTC day: days since 1970. */
export function dayOf(time: Millis): number {
  return Math.floor(time / DAY)
}

/** The first time after `time` that is of another UTC day. */
export function endOfDay(time: Millis): Millis {
  return (dayOf(time) + 1) * DAY
}

export const LAMPORTS_PER_SOL = 1_000_000_000

/** Asserts that `value` is a safe integer. A breach is a bug of ours or a hostile number that no edge caught, so it
 *  throws. */
export function lamports(value: number): Lamports {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not a whole number of lamports: ${value}`)
  return value as Lamports
}

export const ZERO = lamports(0)

/** The one rounding from SOL to lamports: to the nearest lamport. */
export function solToLamports(sol: number): Lamports {
  return lamports(Math.round(sol * LAMPORTS_PER_SOL))
}

export function lamportsToSol(value: number): number {
  return value / LAMPORTS_PER_SOL
}

/** Base units as whole tokens, for prices and display; loses digits beyond 2^53. */
export function wholeTokens(tokens: TokenAmount, decimals: number): number {
  return Number(tokens) / 10 ** decimals
}

/** Whole tokens as base units, rounded down: nobody can sell more than he asked for. */
export function baseUnits(tokens: number, decimals: number): TokenAmount {
  return BigInt(Math.floor(tokens * 10 ** decimals))
}

/** A number of lamports as plain decimal SOL without exponent, at most 9 places: how amounts are written into JSON and
 *  tables. */
export function formatSol(value: number): string {
  const sign = value < 0 ? '-' : ''
  const digits = String(Math.abs(value)).padStart(10, '0')
  const fraction = digits.slice(-9).replace(/0+$/, '')
  return `${sign}${digits.slice(0, -9)}${fraction ? `.${fraction}` : ''}`
}

// How times are said in reasons. Intl and Date are no part of the core.
/** `14:03:12 UTC (in 5 min)`. */
export function formatInstant(time: Millis, now: Millis): string {
  const sinceMidnight = ((time % DAY) + DAY) % DAY
  const [hours, minutes, seconds] = [sinceMidnight / HOUR, (sinceMidnight / 60000) % 60, (sinceMidnight / 1000) % 60]
  const clock = [hours, minutes, seconds].map((part) => String(Math.floor(part)).padStart(2, '0')).join(':')
  return `${clock} UTC (in ${formatSpan(time - now)})`
}

/** `12 s`, `5 min`, `2 h 10 min`, `3 days`: rounded up, so that nobody comes too early. */
function formatSpan(ms: number): string {
  const seconds = Math.ceil(Math.max(0, ms) / 1000)
  if (seconds < 100) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  if (minutes >= 2 * 24 * 60) return `${Math.ceil(minutes / 60 / 24)} days`
  const rest = minutes % 60
  return rest === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${rest} min`
}
