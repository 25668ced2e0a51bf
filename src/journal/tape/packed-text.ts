/** Packed texts: the form in which keys and signatures are stored on the tape. They are base58 texts, and each pair of
 *  digits becomes a code of twelve bits. A packed key is one byte longer than the decoded key, and a packed signature
 *  two bytes longer than the decoded signature. Packing takes a fifth of the time of decoding base58, and plain SQL can
 *  read the result (views.ts). A code is 58 * first + second, where a digit has a number from 1 to 58, and 0 means that
 *  there is no digit. Texts are padded with zeros on the left, so equal texts have equal bytes, and an empty text is
 *  all zeros. */
export const KEY_BYTES = 33
export const SIGNATURE_BYTES = 66

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const DIGITS = new Uint8Array(256)
/** The one or two digits of each code. */
export const TEXTS = [
  '',
  ...BASE58,
  ...Array.from(BASE58, (first) => Array.from(BASE58, (second) => first + second)).flat(),
]
for (let digit = 0; digit < BASE58.length; digit++) DIGITS[BASE58.charCodeAt(digit)] = digit + 1

/** Packs the first `length` bytes of an ASCII text into `bytes` bytes (a multiple of 3) of `target`, at offset `at`.
 *  Returns false if the text is not base58 or does not fit; the content of these bytes is then undefined. */
export function packText(text: Uint8Array, length: number, target: Uint8Array, at: number, bytes: number): boolean {
  let end = at + bytes
  let rest = length
  for (; rest >= 4 && end > at; rest -= 4, end -= 3) {
    const first = DIGITS[text[rest - 4] as number] as number
    const second = DIGITS[text[rest - 3] as number] as number
    const third = DIGITS[text[rest - 2] as number] as number
    const fourth = DIGITS[text[rest - 1] as number] as number
    if (first === 0 || second === 0 || third === 0 || fourth === 0) return false
    put(target, end, first * 58 + second, third * 58 + fourth)
  }
  if (rest > 0) {
    if (end === at || !packRest(text, rest, target, end)) return false
    end -= 3
  }
  target.fill(0, at, end)
  return true
}

/** Digits are packed in groups of four, counted from the end of the text. Packs the one to three digits that remain at
 *  its beginning. */
function packRest(text: Uint8Array, count: number, target: Uint8Array, end: number): boolean {
  const digits = [0, 0, 0, 0]
  for (let place = 4 - count; place < 4; place++) {
    const digit = DIGITS[text[place - 4 + count] as number] as number
    if (digit === 0) return false
    digits[place] = digit
  }
  const [, second, third, fourth] = digits as [number, number, number, number]
  put(target, end, second, third * 58 + fourth)
  return true
}

/** Writes two codes of twelve bits into the three bytes before `end`. */
function put(target: Uint8Array, end: number, high: number, low: number): void {
  target[end - 3] = high >>> 4
  target[end - 2] = (high << 4) | (low >>> 8)
  target[end - 1] = low
}

/** Unpacks the text in the `bytes` bytes at offset `at`. */
export function unpackText(source: Uint8Array, at: number, bytes: number): string {
  let text = ''
  for (let place = at; place < at + bytes; place += 3) {
    const [first, second, third] = [source[place] as number, source[place + 1] as number, source[place + 2] as number]
    text += `${TEXTS[(first << 4) | (second >>> 4)]}${TEXTS[((second & 15) << 8) | third]}`
  }
  return text
}

/** Two bytes of ASCII for each code. The byte of a missing digit is 0. */
const PAIRS = Uint16Array.from(TEXTS, (text) =>
  text.length < 2 ? (text.charCodeAt(0) || 0) << 8 : (text.charCodeAt(0) << 8) | text.charCodeAt(1),
)

/** Unpacks a text as ASCII into the first bytes of `target`, which must be long enough. Returns the number of bytes. */
export function unpackInto(source: Uint8Array, at: number, bytes: number, target: Uint8Array): number {
  let length = 0
  for (let place = at; place < at + bytes; place += 3) {
    const middle = source[place + 1] as number
    const high = PAIRS[((source[place] as number) << 4) | (middle >>> 4)] as number
    const low = PAIRS[((middle & 15) << 8) | (source[place + 2] as number)] as number
    // A zero byte stands for a missing digit. Then `length` does not grow, so the next byte overwrites the zero.
    target[length] = high >>> 8
    length += +(high > 255)
    target[length] = high
    length += +((high & 255) > 0)
    target[length] = low >>> 8
    length += +(low > 255)
    target[length] = low
    length += +((low & 255) > 0)
  }
  return length
}
