/** Base58 with Bitcoin's alphabet, as Solana writes keys (32 bytes) and signatures (64 bytes). */

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const DIGITS = new Int8Array(256).fill(-1)
for (let digit = 0; digit < ALPHABET.length; digit++) DIGITS[ALPHABET.charCodeAt(digit)] = digit

// Four digits make a group below 2^24, and three bytes a limb of 24 bits: 22 groups of 22 limbs hold a signature, and the sum of their
// products stays below 2^53. So a text is a product with a table of the powers of 58^4, and the carry is done once, at the end.
const LIMBS = 22
const MAX_BYTES = 64
const POWERS = new Float64Array(LIMBS * LIMBS)
for (let group = 0; group < LIMBS; group++) {
  let power = 58n ** BigInt(4 * group)
  for (let limb = 0; limb < LIMBS; limb++, power >>= 24n) POWERS[group * LIMBS + limb] = Number(power & 0xffffffn)
}
const sums = new Float64Array(LIMBS)
/** A text that came as a string. */
const ascii = new Uint8Array(MAX_BYTES * 2)

/** Decodes a text, given as its first `digits` bytes of ASCII, into exactly `length` bytes (at most 64) at `offset` of `target`; false when
 *  it is not base58 of that many bytes, and what lies at `offset` then means nothing. */
export function decodeBase58Into(
  text: Uint8Array,
  digits: number,
  length: number,
  target: Uint8Array,
  offset: number,
): boolean {
  // A byte is worth at least one digit and at most 1.37 digits.
  if (length > MAX_BYTES || digits < length || digits > Math.ceil(length * 1.3658)) return false
  sums.fill(0)
  for (let end = digits, row = 0; end > 0; end -= 4, row += LIMBS) {
    const value = groupOf(text, end)
    if (value < 0) return false
    // A group reaches as many limbs as there are groups up to it.
    for (let limb = 0; limb * LIMBS <= row; limb++)
      sums[limb] = (sums[limb] as number) + value * (POWERS[row + limb] as number)
  }
  return writeLimbs(length, target, offset) && leadingZeros(target, offset, length) === leadingOnes(text, digits)
}

/** The number of the four digits that end at `end`, or fewer at the text's start; -1 where one is none. */
function groupOf(text: Uint8Array, end: number): number {
  let value = 0
  for (let at = end > 4 ? end - 4 : 0; at < end; at++) {
    const digit = DIGITS[text[at] as number] as number
    if (digit < 0) return -1
    value = value * 58 + digit
  }
  return value
}

/** Carries from limb to limb and writes the bytes, last first; false when the number needs more than `length` bytes. */
function writeLimbs(length: number, target: Uint8Array, offset: number): boolean {
  let carry = 0
  let at = offset + length
  for (let index = 0; index < LIMBS; index++) {
    const sum = (sums[index] as number) + carry
    carry = Math.floor(sum / 16_777_216)
    let limb = sum - carry * 16_777_216
    for (let byte = 0; byte < 3 && at > offset; byte++, limb >>>= 8) target[--at] = limb
    if (limb > 0) return false
  }
  return carry === 0
}

/** Every leading zero byte is written as one '1'; where the two differ, the text has another length. */
function leadingOnes(text: Uint8Array, digits: number): number {
  let ones = 0
  while (ones < digits && text[ones] === 49) ones++
  return ones
}

function leadingZeros(bytes: Uint8Array, offset: number, length: number): number {
  let zeros = 0
  while (zeros < length && bytes[offset + zeros] === 0) zeros++
  return zeros
}

/** The bytes of a base58 text when it is exactly `length` bytes long, else undefined. */
export function decodeBase58(text: string, length: number): Uint8Array | undefined {
  if (text.length > ascii.length) return undefined
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    ascii[at] = code < 128 ? code : 0
  }
  const bytes = new Uint8Array(length)
  return decodeBase58Into(ascii, text.length, length, bytes, 0) ? bytes : undefined
}

export function encodeBase58(bytes: Uint8Array): string {
  const digits: number[] = []
  let zeros = 0
  while (zeros < bytes.length && bytes[zeros] === 0) zeros++
  for (let index = zeros; index < bytes.length; index++) {
    let carry = bytes[index] as number
    for (let at = 0; at < digits.length; at++) {
      carry += (digits[at] as number) * 256
      digits[at] = carry % 58
      carry = Math.floor(carry / 58)
    }
    for (; carry > 0; carry = Math.floor(carry / 58)) digits.push(carry % 58)
  }
  let text = '1'.repeat(zeros)
  for (let at = digits.length - 1; at >= 0; at--) text += ALPHABET[digits[at] as number]
  return text
}

/** A Solana public key or mint: base58 of 32 bytes. */
export function isPublicKey(text: unknown): text is string {
  return typeof text === 'string' && text.length >= 32 && text.length <= 44 && decodeBase58(text, 32) !== undefined
}

/** A Solana transaction signature: base58 of 64 bytes. */
export function isSignature(text: unknown): text is string {
  return typeof text === 'string' && text.length >= 64 && text.length <= 88 && decodeBase58(text, 64) !== undefined
}
