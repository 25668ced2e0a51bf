import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeBase58, encodeBase58, isPublicKey, isSignature } from '../../src/solana/base58.ts'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/**
 * The reference implementation, by the definition: a number in base 58, with a leading '1' for each leading zero byte.
 */
function decodeByDefinition(text: string, length: number): Uint8Array | undefined {
  let value = 0n
  for (const digit of text) {
    if (!ALPHABET.includes(digit)) return undefined
    value = value * 58n + BigInt(ALPHABET.indexOf(digit))
  }
  const zeros = /^1*/.exec(text)?.[0].length ?? 0
  const digits = value === 0n ? '' : value.toString(16)
  const bytes = [...Array(zeros).fill(0), ...Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')]
  return bytes.length === length ? Uint8Array.from(bytes) : undefined
}

const zeros = fc.nat(6).map((count) => '1'.repeat(count))
const digits = fc.string({ unit: fc.constantFrom(...ALPHABET), maxLength: 92 })
const text = fc.oneof(
  fc.tuple(zeros, digits).map(([ones, rest]) => ones + rest),
  fc.uint8Array({ minLength: 31, maxLength: 33 }).map(encodeBase58),
  fc.uint8Array({ minLength: 63, maxLength: 64 }).map(encodeBase58),
  fc.string({ unit: 'grapheme', minLength: 32, maxLength: 44 }),
)

test.each([1, 32, 64])('a text is decoded to %i bytes as by the reference implementation, or is refused', (length) => {
  fc.assert(
    fc.property(text, (one) => {
      expect(decodeBase58(one, length)).toEqual(decodeByDefinition(one, length))
    }),
    { numRuns: 500 },
  )
})

test('decoding reverts encoding', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (bytes) => {
      expect(decodeBase58(encodeBase58(bytes), bytes.length)).toEqual(bytes)
    }),
  )
})

test('the largest and the smallest public key and signature are valid', () => {
  for (const byte of [0, 255]) {
    expect(isPublicKey(encodeBase58(new Uint8Array(32).fill(byte)))).toBe(true)
    expect(isSignature(encodeBase58(new Uint8Array(64).fill(byte)))).toBe(true)
  }
})
