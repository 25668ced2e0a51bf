/** Base58 with Bitcoin's alphabet, as Solana writes keys (32 bytes) and signatures (64 bytes). */

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const DIGITS = new Int8Array(128).fill(-1)
for (let digit = 0; digit < ALPHABET.length; digit++) DIGITS[ALPHABET.charCodeAt(digit)] = digit

/** Decodes into exactly `length` bytes at `offset` of `target`; false when the text is not base58 of that many bytes. */
export function decodeBase58Into(text: string, length: number, target: Uint8Array, offset = 0): boolean {
  // Four digits at a time (58^4 < 2^24) into 24-bit limbs: every product and sum stays below 2^53.
  const limbs = new Float64Array(Math.ceil((length * 8) / 24))
  let zeros = 0
  while (zeros < text.length && text.charCodeAt(zeros) === 49) zeros++
  for (let index = 0; index < text.length; index += 4) {
    let value = 0
    let scale = 1
    for (let at = index; at < index + 4 && at < text.length; at++) {
      const code = text.charCodeAt(at)
      const digit = code < 128 ? (DIGITS[code] as number) : -1
      if (digit < 0) return false
      value = value * 58 + digit
      scale *= 58
    }
    for (let limb = limbs.length - 1; limb >= 0; limb--) {
      const sum = (limbs[limb] as number) * scale + value
      value = Math.floor(sum / 16_777_216)
      limbs[limb] = sum - value * 16_777_216
    }
    if (value > 0) return false
  }
  return writeLimbs(limbs, length, zeros, target, offset)
}

function writeLimbs(limbs: Float64Array, length: number, zeros: number, target: Uint8Array, offset: number): boolean {
  const bytes = new Uint8Array(limbs.length * 3)
  for (let limb = 0; limb < limbs.length; limb++) {
    const value = limbs[limb] as number
    bytes[limb * 3] = value >>> 16
    bytes[limb * 3 + 1] = (value >>> 8) & 255
    bytes[limb * 3 + 2] = value & 255
  }
  const spare = bytes.length - length
  for (let index = 0; index < spare; index++) if (bytes[index] !== 0) return false
  let leading = 0
  while (leading < length && bytes[spare + leading] === 0) leading++
  if (leading !== zeros) return false // every leading zero byte is written as one '1', or the text has another length
  target.set(bytes.subarray(spare), offset)
  return true
}

/** The bytes of a base58 text when it is exactly `length` bytes long, else undefined. */
export function decodeBase58(text: string, length: number): Uint8Array | undefined {
  if (text.length > length * 2) return undefined
  const bytes = new Uint8Array(length)
  return decodeBase58Into(text, length, bytes) ? bytes : undefined
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
