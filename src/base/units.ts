/** Amounts and times. Money is integers; floats exist only in YAML, strategy calls and display, and pass through these
 *  functions. */

declare const brand: unique symbol

/** Milliseconds since the Unix epoch, an integer, stamped once by the runner; or a duration in milliseconds if the name
 *  ends in `Ms`. */
export type Millis = number

/** Number of a row or an input in the stream of one process; increases by one across both. */
export type Seq = number

/** 1e-9 SOL. A safe integer, checked on entry; negative for decreases of a balance. */
export type Lamports = number & LamportsBrand

/** @public The declarations of the build name it. */
export interface LamportsBrand {
  readonly [brand]: 'lamports'
}

/** Base units of a token. A bigint, because a 9-decimal supply does not fit a double. */
export type TokenAmount = bigint

export const HOUR: Millis = 3_600_000
export const DAY: Millis = 86_400_000

/** UTC day: days since 1970. */
export function dayOf(time: Millis): number {
  return Math.floor(time / DAY)
}

/** Returns the beginning of the next UTC day. */
export function endOfDay(time: Millis): Millis {
  return (dayOf(time) + 1) * DAY
}

export const LAMPORTS_PER_SOL = 1_000_000_000

/** Checks that `value` is a safe integer. Throws RangeError: a violation is a bug, or an unchecked external number. */
export function lamports(value: number): Lamports {
  if (!Number.isSafeInteger(value)) throw new RangeError(`lamports must be a safe integer, got ${value}`)
  return value as Lamports
}

export const ZERO = lamports(0)

/** The only rounding from SOL to lamports: to the nearest lamport. Throws RangeError for values outside of the safe
 *  range. */
export function solToLamports(sol: number): Lamports {
  return lamports(Math.round(sol * LAMPORTS_PER_SOL))
}

export function lamportsToSol(value: number): number {
  return value / LAMPORTS_PER_SOL
}

/** Base units as whole tokens, for prices and display; loses digits above 2^53. */
export function wholeTokens(tokens: TokenAmount, decimals: number): number {
  return Number(tokens) / 10 ** decimals
}

/** Whole tokens as base units, rounded down: a sale must not exceed the amount requested. */
export function baseUnits(tokens: number, decimals: number): TokenAmount {
  return BigInt(Math.floor(tokens * 10 ** decimals))
}

/** Lamports as plain decimal SOL without exponent, at most 9 decimals; the format of amounts in JSON and tables. */
export function formatSol(value: number | bigint): string {
  const sign = value < 0 ? '-' : ''
  const digits = String(value).slice(sign.length).padStart(10, '0')
  const fraction = digits.slice(-9).replace(/0+$/, '')
  return `${sign}${digits.slice(0, -9)}${fraction ? `.${fraction}` : ''}`
}

// Times in messages; Intl and Date are banned in pure rows.
/** `14:03:12 UTC (in 5 min)`. */
export function formatInstant(time: Millis, now: Millis): string {
  const sinceMidnight = ((time % DAY) + DAY) % DAY
  const [hours, minutes, seconds] = [sinceMidnight / HOUR, (sinceMidnight / 60000) % 60, (sinceMidnight / 1000) % 60]
  const clock = [hours, minutes, seconds].map((part) => String(Math.floor(part)).padStart(2, '0')).join(':')
  return `${clock} UTC (in ${formatSpan(time - now)})`
}

/** `12 s`, `5 min`, `2 h 10 min`, `3 days`; rounded up, because users wait for it. */
function formatSpan(ms: number): string {
  const seconds = Math.ceil(Math.max(0, ms) / 1000)
  if (seconds < 100) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  if (minutes >= 2 * 24 * 60) return `${Math.ceil(minutes / 60 / 24)} days`
  const rest = minutes % 60
  return rest === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${rest} min`
}
