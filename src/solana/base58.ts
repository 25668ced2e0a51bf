/** Base58 with Bitcoin's alphabet, as Solana writes keys (32 bytes) and signatures (64 bytes). */
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const DIGITS = new Int8Array(256).fill(-1)
for (let digit = 0; digit < ALPHABET.length; digit++) DIGITS[ALPHABET.charCodeAt(digit)] = digit

// Decoding multiplies groups of digits by powers of 58. Four digits form a group, which is below 2^24; three bytes form
// a limb of 24 bits. A signature has 22 groups and 22 limbs. A table contains the powers of 58^4 in limbs. The sums of
// the products stay below 2^53, so one pass at the end propagates all carries.
const LIMBS = 22
const MAX_BYTES = 64
const POWERS = new Float64Array(LIMBS * LIMBS)

for (let group = 0; group < LIMBS; group++) {
  let power = 58n ** BigInt(4 * group)
  for (let limb = 0; limb < LIMBS; limb++, power >>= 24n) POWERS[group * LIMBS + limb] = Number(power & 0xffffffn)
}

const sums = new Float64Array(LIMBS)

/** Decodes a base58 text. Returns undefined unless it holds exactly `length` bytes (at most 64). */
export function decodeBase58(text: string, length: number): Uint8Array | undefined {
  // A byte takes between 1 and 1.37 base58 digits.
  if (length > MAX_BYTES || text.length < length || text.length > Math.ceil(length * 1.3658)) return undefined
  sums.fill(0)
  for (let end = text.length, row = 0; end > 0; end -= 4, row += LIMBS) {
    const value = groupOf(text, end)
    if (value < 0) return undefined
    // Group n, counted from the end of the text, changes only the lowest n + 1 limbs.
    for (let limb = 0; limb * LIMBS <= row; limb++)
      sums[limb] = (sums[limb] as number) + value * (POWERS[row + limb] as number)
  }
  const bytes = new Uint8Array(length)
  return writeLimbs(bytes) && leadingZeros(bytes) === leadingOnes(text) ? bytes : undefined
}

/** Returns the value of the group of at most four digits that ends at `end`; -1 if one of them is not a base58
 *  digit. */
function groupOf(text: string, end: number): number {
  let value = 0
  for (let at = end > 4 ? end - 4 : 0; at < end; at++) {
    const digit = DIGITS[text.charCodeAt(at)] ?? -1
    if (digit < 0) return -1
    value = value * 58 + digit
  }
  return value
}

/** Propagates the carries and writes the bytes, last byte first. Returns false if the number needs more bytes. */
function writeLimbs(bytes: Uint8Array): boolean {
  let carry = 0
  let at = bytes.length
  for (let index = 0; index < LIMBS; index++) {
    const sum = (sums[index] as number) + carry
    carry = Math.floor(sum / 16_777_216)
    let limb = sum - carry * 16_777_216
    for (let byte = 0; byte < 3 && at > 0; byte++, limb >>>= 8) bytes[--at] = limb
    if (limb > 0) return false
  }
  return carry === 0
}

/** Returns the number of leading '1' digits. Base58 writes each leading zero byte as one '1'. If the decoded bytes have
 *  another number of leading zeros, the text encodes another number of bytes. */
function leadingOnes(text: string): number {
  let ones = 0
  while (text[ones] === '1') ones++
  return ones
}

function leadingZeros(bytes: Uint8Array): number {
  let zeros = 0
  while (bytes[zeros] === 0) zeros++
  return zeros
}

/** Decodes a base58 text of up to `most` bytes; undefined if the text is longer or invalid. The time grows with the
 *  square of the length, so keys use `decodeBase58`. */
export function decodeLongBase58(text: string, most: number): Uint8Array | undefined {
  if (text.length > Math.ceil(most * 1.3658)) return undefined
  const bytes: number[] = []
  for (let at = 0; at < text.length; at++) {
    let carry = DIGITS[text.charCodeAt(at)] ?? -1
    if (carry < 0) return undefined
    for (let index = 0; index < bytes.length; index++) {
      carry += (bytes[index] as number) * 58
      bytes[index] = carry & 255
      carry >>= 8
    }
    for (; carry > 0; carry >>= 8) bytes.push(carry & 255)
  }
  const zeros = leadingOnes(text)
  if (zeros + bytes.length > most) return undefined
  return Uint8Array.from([...new Array<number>(zeros).fill(0), ...bytes.reverse()])
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

/** Whether a value is a Solana public key: base58 of 32 bytes. */
export function isPublicKey(text: unknown): text is string {
  return typeof text === 'string' && text.length >= 32 && text.length <= 44 && decodeBase58(text, 32) !== undefined
}

/** Whether a value is a Solana transaction signature: base58 of 64 bytes. */
export function isSignature(text: unknown): text is string {
  return typeof text === 'string' && text.length >= 64 && text.length <= 88 && decodeBase58(text, 64) !== undefined
}

/** Reads a list with one base58 key per line; `#` begins a comment. If a line is invalid, returns the number of the
 *  first invalid line, counted from 1. */
export function readList(
  text: string,
  isKey: (text: string) => boolean,
): readonly string[] | { readonly line: number } {
  const entries: string[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const entry = (line.split('#')[0] as string).trim()
    if (entry === '') continue
    if (!isKey(entry)) return { line: index + 1 }
    entries.push(entry)
  }
  return entries
}
