import { type Bytes, bytesOf, endOfText, tailOf, wordsOf } from './bytes.ts'
import { type Frame, NUMBER_FIELDS, TEXT, TEXT_FIELDS } from './frame.ts'

const QUOTE = 34
const COMMA = 44
const MINUS = 45
const DOT = 46
const ZERO = 48
const NINE = 57
const COLON = 58
const LETTER_N = 110
const BRACE = 123
const BRACE_END = 125
/** The word `null` as four bytes. */
const NULL = 0x6c6c756e

interface Field {
  /** The quoted field name with its colon, as words of four bytes. */
  readonly words: Int32Array
  readonly length: number
  readonly isText: boolean
  /** Index of the field in the frame's texts or numbers. */
  readonly index: number
  /** The field that followed this field in the last record. It is tried first, because services write fields in a fixed
   *  order. */
  next: Field | undefined
}

function fieldOf(name: string, isText: boolean, index: number): Field {
  const key = new TextEncoder().encode(`"${name}":`)
  const words = new Int32Array(Math.ceil(key.length / 4))
  wordsOf(bytesOf(key.buffer), 0, key.length, words)
  return { words, length: key.length, isText, index, next: undefined }
}

/** Reads a flat record from its bytes without creating objects, keys or strings. It gives up if a record has escapes,
 *  nesting or non-ASCII text, and JSON.parse then reads the record. A property test checks that the scanner and
 *  JSON.parse agree on every record that the scanner accepts. */
export class Scanner {
  readonly #fields: readonly Field[] = [
    ...TEXT_FIELDS.map((name, index) => fieldOf(name, true, index)),
    ...NUMBER_FIELDS.map((name, index) => fieldOf(name, false, index)),
  ]
  #last: Field = this.#fields[0] as Field
  /** The number that `#number` or `#exponent` read last. */
  #value = 0
  #data: Uint8Array | undefined
  #source: Bytes = bytesOf(new ArrayBuffer(0))
  #limit = 0

  /** Scans a record into `frame`. Returns false if the record needs JSON.parse; the frame is then partly filled. */
  scan(data: Uint8Array, start: number, end: number, frame: Frame): boolean {
    if (data !== this.#data) this.#open(data)
    const { bytes } = this.#source
    frame.clear(this.#source)
    let at = data.byteOffset + start
    this.#limit = data.byteOffset + end
    if (bytes[at++] !== BRACE) return false
    for (;;) {
      at = this.#pair(this.#spaces(at), frame)
      if (at < 0) return false
      at = this.#spaces(at)
      const byte = bytes[at++]
      if (byte === COMMA) continue
      return byte === BRACE_END && at === this.#limit
    }
  }

  /** Prepares to read another chunk. Node puts several small chunks into one buffer; the view of a buffer is reused. */
  #open(data: Uint8Array): void {
    this.#data = data
    if (data.buffer !== this.#source.bytes.buffer) this.#source = bytesOf(data.buffer)
  }

  /** Reads a key and its value. Returns the position after them, or -1 if the scanner gives up. */
  #pair(start: number, frame: Frame): number {
    const field = this.#field(start)
    if (field !== undefined) return this.#read(this.#spaces(start + field.length), field, frame)
    const { bytes } = this.#source
    const end = bytes[start] === QUOTE ? endOfText(this.#source, start + 1, this.#limit) : -1
    if (end < 0) return -1
    const colon = this.#spaces(end + 1)
    if (bytes[colon] !== COLON || colon > end + 1) return -1 // `"known" :` would look unknown
    frame.unknownFields++
    return this.#skip(this.#spaces(colon + 1))
  }

  /** Reads the value of a field. Returns the position after it; -1 if the value is a text instead of a number, or a
   *  number instead of a text. A null is accepted. */
  #read(at: number, field: Field, frame: Frame): number {
    if (!field.isText) {
      const end = this.#number(at)
      frame.numbers[field.index] = end < 0 ? Number.NaN : this.#value
      return end < 0 ? this.#null(at) : end
    }
    if (this.#source.bytes[at] !== QUOTE) {
      frame.starts[field.index] = frame.ends[field.index] = 0
      return this.#null(at)
    }
    const end = endOfText(this.#source, at + 1, this.#limit)
    frame.starts[field.index] = at + 1
    frame.ends[field.index] = end
    return end < 0 || this.#isNewToken(field, at + 1) ? -1 : end + 1
  }

  /** Whether the record's type is that of a new token. The texts of a new token are kept as strings, so JSON.parse must
   *  read the record anyway. */
  #isNewToken(field: Field, at: number): boolean {
    return field.index === TEXT.type && this.#source.bytes[at] === LETTER_N
  }

  /** Skips the value of an unknown field. Returns the position after it, or -1 if the scanner gives up. */
  #skip(at: number): number {
    const isText = this.#source.bytes[at] === QUOTE
    const end = isText ? endOfText(this.#source, at + 1, this.#limit) : this.#number(at)
    if (end < 0) return this.#null(at)
    return isText ? end + 1 : end
  }

  #null(at: number): number {
    return at + 4 <= this.#limit && this.#source.view.getInt32(at, true) === NULL ? at + 4 : -1
  }

  #field(at: number): Field | undefined {
    const expected = this.#last.next
    if (expected !== undefined && this.#isKey(at, expected)) {
      this.#last = expected
      return expected
    }
    const field = this.#fields.find((one) => this.#isKey(at, one))
    if (field !== undefined) {
      this.#last.next = field
      this.#last = field
    }
    return field
  }

  #isKey(start: number, { words, length }: Field): boolean {
    if (start + length > this.#limit) return false
    const { bytes, view } = this.#source
    const whole = length >> 2
    for (let index = 0; index < whole; index++)
      if (view.getInt32(start + index * 4, true) !== words[index]) return false
    return whole === words.length || tailOf(bytes, start + whole * 4, start + length) === words[whole]
  }

  #spaces(at: number): number {
    while (this.#source.bytes[at] === 32) at++
    return at
  }

  /** Reads a JSON number into `#value`. Returns the position after it, or -1 if there is no number. */
  #number(start: number): number {
    const { bytes, view } = this.#source
    const first = bytes[start] === MINUS ? start + 1 : start
    let at = first
    let point = -1
    let high = 0 // leading digits, exact in a double
    let count = 0 // number of digits in `high`, without leading zeros
    let low = 0 // remaining digits
    let lowCount = 0
    for (;;) {
      for (; count <= 11 && at + 4 <= this.#limit; at += 4) {
        const four = fourDigits(view.getInt32(at, true))
        if (four < 0) break
        high = high * 10_000 + four
        if (high > 0) count += 4
      }
      let byte = bytes[at] as number
      for (; byte >= ZERO && byte <= NINE; byte = bytes[++at] as number) {
        if (count >= 15) {
          low = low * 10 + (byte - ZERO)
          lowCount++
        } else {
          high = high * 10 + (byte - ZERO)
          if (high > 0) count++
        }
      }
      if (byte !== DOT || point >= 0) break
      point = at++
    }
    const isPadded = bytes[first] === ZERO && at > first + 1 && point !== first + 1
    if (at === first || point === first || point === at - 1 || isPadded) return -1
    let power = point < 0 ? 0 : point + 1 - at
    const letter = bytes[at]
    if (letter === 101 || letter === 69) {
      at = this.#exponent(at + 1)
      if (at < 0) return -1
      power += this.#value
    }
    let value = lowCount === 0 ? shortDecimal(high, power) : longDecimal(high, low, lowCount, -power)
    if (Number.isNaN(value)) value = Number(latin(bytes, first, at))
    this.#value = first > start ? -value : value
    return at
  }

  /** Reads the exponent of a number into `#value`. `start`: position after the letter `e`. Returns the position after
   *  the exponent, or -1 if the exponent is missing or has more than three digits. */
  #exponent(start: number): number {
    const { bytes } = this.#source
    const sign = bytes[start]
    const from = sign === MINUS || sign === 43 ? start + 1 : start
    let at = from
    let exponent = 0
    for (let byte = bytes[at] as number; byte >= ZERO && byte <= NINE; byte = bytes[++at] as number)
      exponent = exponent * 10 + (byte - ZERO)
    this.#value = sign === MINUS ? -exponent : exponent
    return at === from || at > from + 3 ? -1 : at
  }
}

/** Returns the number that four ASCII digits represent, with the first digit in the lowest byte; -1 if a byte is not a
 *  digit. */
function fourDigits(word: number): number {
  const digits = word ^ 0x30303030
  if ((((digits + 0x76767676) | digits) & 0x80808080) !== 0) return -1
  const pairs = (digits * 10 + (digits >>> 8)) & 0x00ff00ff
  return (pairs & 255) * 100 + (pairs >>> 16)
}

function latin(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at] as number)
  return text
}

/** Powers of ten that are exact doubles. A decimal computed with them is rounded exactly as JSON.parse rounds it. */
const EXACT_POWERS = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))

/** Powers of ten, each as the sum of two doubles: the nearest double, and the remaining error. */
const POWERS = Array.from({ length: 41 }, (_, exponent) => {
  const high = Number(`1e${exponent}`)
  return { high, low: Number(10n ** BigInt(exponent) - BigInt(high)) }
})

/** Returns `digits` * 10^power if both factors are exact, so that only one rounding occurs; else NaN. */
function shortDecimal(digits: number, power: number): number {
  if (digits > Number.MAX_SAFE_INTEGER) return Number.NaN
  if (power < 0) return power >= -22 ? digits / (EXACT_POWERS[-power] as number) : Number.NaN
  return power <= 22 ? digits * (EXACT_POWERS[power] as number) : Number.NaN
}

/** Returns (`high` * 10^`lowDigits` + `low`) / 10^`power`, computed with twice the precision of a double, for numbers
 *  of 16 or 17 digits. Returns NaN if this precision is not enough to decide the rounding (about once in 10^8), or if a
 *  part is out of range. `high` is below 10^16. */
function longDecimal(high: number, low: number, lowDigits: number, power: number): number {
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
  // If a slightly different correction gives another double, the exact value is too close to the middle between two
  // doubles, and its rounding is uncertain.
  const isSure = quotient + correction * 0.99999999 === value && quotient + correction * 1.00000001 === value
  return isSure ? value : Number.NaN
}

/** Returns a * b - product exactly (Dekker 1971). */
function productError(a: number, b: number, product: number): number {
  const aHigh = upperHalf(a)
  const bHigh = upperHalf(b)
  const aLow = a - aHigh
  const bLow = b - bHigh
  return aHigh * bHigh - product + aHigh * bLow + aLow * bHigh + aLow * bLow
}

/** Returns the upper 26 bits of a double's mantissa (Veltkamp 1968). */
function upperHalf(value: number): number {
  const shifted = value * 134217729
  return shifted - (shifted - value)
}
