/** Units of amounts and times. Amounts of money are integers. Floats exist only in YAML, in calls by strategies and in
 *  display, and the functions of this file convert them. */

declare const brand: unique symbol

/** Milliseconds since the Unix epoch, an integer. A name that ends in `Ms` is a duration in milliseconds instead. */
export type Millis = number

/** Sequence number of a row or an input in the stream of one process. Rows and inputs are counted together, from one to
 *  the next without a gap. */
export type Seq = number

/** An amount in lamports (1e-9 SOL). It is a safe integer, which is checked when it is created; it is negative if a
 *  balance decreases. */
export type Lamports = number & LamportsBrand

/** @public The declarations that the build emits refer to this interface. */
export interface LamportsBrand {
  readonly [brand]: 'lamports'
}

/** An amount in base units of a token. A bigint, because the supply of a token with 9 decimals does not fit a
 *  double. */
export type TokenAmount = bigint

export const HOUR: Millis = 3_600_000
export const DAY: Millis = 86_400_000

/** Number of the UTC day: days since 1970-01-01. */
export function dayOf(time: Millis): number {
  return Math.floor(time / DAY)
}

/** Returns the beginning of the UTC day. */
export function startOfDay(time: Millis): Millis {
  return dayOf(time) * DAY
}

/** Returns the beginning of the next UTC day. */
export function endOfDay(time: Millis): Millis {
  return (dayOf(time) + 1) * DAY
}

export const LAMPORTS_PER_SOL = 1_000_000_000

/** Converts a number to lamports. Throws RangeError if it is not a safe integer, because that is a bug or an external
 *  number that was not checked. */
export function lamports(value: number): Lamports {
  if (!Number.isSafeInteger(value)) throw new RangeError(`lamports must be a safe integer, got ${value}`)
  return value as Lamports
}

export const ZERO = lamports(0)

/** Converts SOL to lamports, rounded to the nearest lamport. No other function rounds SOL. Throws RangeError if the
 *  result is not a safe integer. */
export function solToLamports(sol: number): Lamports {
  return lamports(Math.round(sol * LAMPORTS_PER_SOL))
}

export function lamportsToSol(value: number): number {
  return value / LAMPORTS_PER_SOL
}

/** Converts base units to whole tokens, for prices and display. Loses digits above 2^53. */
export function wholeTokens(tokens: TokenAmount, decimals: number): number {
  return Number(tokens) / 10 ** decimals
}

/** Converts whole tokens to base units. Rounds down, because a sale must not exceed the requested amount. */
export function baseUnits(tokens: number, decimals: number): TokenAmount {
  return BigInt(Math.floor(tokens * 10 ** decimals))
}

/** Formats lamports as decimal SOL without an exponent, with at most 9 decimals. Amounts in JSON and tables have this
 *  format. */
export function formatSol(value: number | bigint): string {
  const sign = value < 0 ? '-' : ''
  const digits = String(value).slice(sign.length).padStart(10, '0')
  const fraction = digits.slice(-9).replace(/0+$/, '')
  return `${sign}${digits.slice(0, -9)}${fraction ? `.${fraction}` : ''}`
}

// The functions below format times for messages. They use neither Intl nor Date, because the results of these depend on
// the machine, and pure layers may not use them.
/** Formats a time of the day and the span until it: `14:03:12 UTC (in 5 min)`. */
export function formatInstant(time: Millis, now: Millis): string {
  const sinceMidnight = ((time % DAY) + DAY) % DAY
  const [hours, minutes, seconds] = [sinceMidnight / HOUR, (sinceMidnight / 60000) % 60, (sinceMidnight / 1000) % 60]
  const clock = [hours, minutes, seconds].map((part) => String(Math.floor(part)).padStart(2, '0')).join(':')
  return `${clock} UTC (in ${formatSpan(time - now)})`
}

/** Formats a duration: `12 s`, `5 min`, `2 h 10 min`, `3 days`. Rounds up, because users wait for the end of the
 *  duration. */
function formatSpan(ms: number): string {
  const seconds = Math.ceil(Math.max(0, ms) / 1000)
  if (seconds < 100) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  if (minutes >= 2 * 24 * 60) return `${Math.ceil(minutes / 60 / 24)} days`
  const rest = minutes % 60
  return rest === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${rest} min`
}
