// Sets of small numbers as bits: 32 numbers share a 32-bit word of a typed array.

/** Number of bits of a word. */
export const WORD_BITS = 32

/** Returns the number of words for `count` bits. */
export function wordsFor(count: number): number {
  return Math.ceil(count / WORD_BITS)
}

/** Returns the index of the word that contains the bit of a number. */
export function wordOf(number: number): number {
  return number >>> 5
}

/** Returns the bit of a number within its word. */
export function bitOf(number: number): number {
  return 1 << number
}

/** Returns the index of the lowest bit of a word that is 1. `bits` must not be 0. */
export function lowestBit(bits: number): number {
  return WORD_BITS - 1 - Math.clz32(bits & -bits)
}
