import { deriveSeed, type Random, seededRandom } from '../base/random.ts'

/** Random values of the sandbox. Each part has its own named stream, so that the draws of one part do not change those
 *  of another. */
export interface Draws extends Random {
  /** A number that is uniformly distributed in [low, high). */
  between(low: number, high: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  /** An exponentially distributed number with this mean, like the intervals between the events of a Poisson process. */
  exponential(mean: number): number
  /** A random 32-byte key in base58. */
  publicKey(): string
  /** A random 64-byte transaction signature in base58. */
  signature(): string
}

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

export function draws(seed: number, name: string): Draws {
  const random = seededRandom(deriveSeed(seed, name))
  const { next, integer } = random
  // A text of fixed length decodes to exactly 32 or 64 bytes if its first digit is large enough, so no big-number
  // arithmetic is needed: 5 * 58^42 > 2^248 and 2 * 58^86 > 2^504, while 58^43 < 2^256 and 58^87 < 2^512.
  const text = (length: number, smallestFirst: number): string => {
    let digits = ALPHABET.charAt(smallestFirst + integer(58 - smallestFirst))
    while (digits.length < length) digits += ALPHABET.charAt(integer(58))
    return digits
  }
  return {
    next,
    integer,
    between: (low, high) => low + next() * (high - low),
    chance: (probability) => next() < probability,
    pick: (list) => list[integer(list.length)]!,
    exponential: (mean) => -Math.log(1 - next()) * mean,
    publicKey: () => text(43, 5),
    signature: () => text(87, 2),
  }
}
