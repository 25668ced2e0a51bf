/** A decimal number as JSON writes it, from its parts, rounded to the nearest double exactly as JSON.parse rounds. */

const EXACT_POWERS = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))

/** 10^n as the nearest double, and what that leaves out. */
const POWERS = Array.from({ length: 41 }, (_, exponent) => {
  const high = Number(`1e${exponent}`)
  return { high, low: Number(10n ** BigInt(exponent) - BigInt(high)) }
})

/** `digits` * 10^power where both are exact, so that one rounding is the only one; NaN where they are not. */
export function shortDecimal(digits: number, power: number): number {
  if (digits > Number.MAX_SAFE_INTEGER) return Number.NaN
  if (power < 0) return power >= -22 ? digits / (EXACT_POWERS[-power] as number) : Number.NaN
  return power <= 22 ? digits * (EXACT_POWERS[power] as number) : Number.NaN
}

/** (`high` * 10^`lowDigits` + `low`) / 10^`power` with twice the precision of a double, for the 16 or 17 digits in which a double is
 *  printed; NaN where that does not decide how to round (about once in 10^8), or the parts are out of range. `high` is below 10^16. */
export function longDecimal(high: number, low: number, lowDigits: number, power: number): number {
  if (lowDigits > 8 || power < 0 || power > 40) return Number.NaN
  const divisor = POWERS[power] as { high: number; low: number }
  const scale = EXACT_POWERS[lowDigits] as number
  const product = high * scale
  const rest = productError(high, scale, product) + low
  const quotient = product / divisor.high
  const back = quotient * divisor.high
  const remainder = product - back - productError(quotient, divisor.high, back) + rest - quotient * divisor.low
  const correction = remainder / divisor.high
  const value = quotient + correction
  // Too close to the middle of two doubles when a slightly different correction would round to the other one.
  const isSure = quotient + correction * 0.99999999 === value && quotient + correction * 1.00000001 === value
  return isSure ? value : Number.NaN
}

/** a * b - product, exactly (Dekker 1971). */
function productError(a: number, b: number, product: number): number {
  const aHigh = upperHalf(a)
  const bHigh = upperHalf(b)
  const aLow = a - aHigh
  const bLow = b - bHigh
  return aHigh * bHigh - product + aHigh * bLow + aLow * bHigh + aLow * bLow
}

/** The upper 26 bits (Veltkamp 1968). */
function upperHalf(value: number): number {
  const shifted = value * 134_217_729
  return shifted - (shifted - value)
}
