import type { TokenId } from '../core/block.ts'
import { CURVE_PRODUCT, GRADUATION_PRICE, POOL_PRODUCT } from '../core/curve.ts'
import type { Millis } from '../core/units.ts'

/** Estimates that the median is taken over; the depth counts as known from the third on. */
const WINDOW = 5
const ENOUGH = 3
/** Two prints of less than this many SOL together say nothing about the depth. */
const LEAST_PAIR_SOL = 0.5
/** So many sized buys in so long a time and not one sale: it cannot be sold. */
const TRAP_BUYS = 20
const TRAP_MS = 60_000

/** What is known of a token lies in 64 bytes, one line of the processor's cache: as doubles ... */
const DOUBLES = 8
const LAST_PRICE = 0
const LAST_NET = 1
const LAST_TIME = 2
const FIRST_TIME = 3
/** ... as words ... */
const ESTIMATED = 8
const BUYS = 9
const FLAGS = 15
/** ... and as floats. */
const ESTIMATES = 10
const SOLD = 1
const GRADUATED = 2
/** Prints in a row beyond the curve; a single one may be wrong. */
const ONE_DEAR = 4
const DEAR_ENOUGH = 3 * ONE_DEAR

/** What sized prints say of the pool behind each token.
 *
 *  A print's price is what was paid over what came out, so in a pool of S SOL two trades in a row of a and b SOL have the prices p and
 *  q = p * (S + a + b) / S: from both follows S, and with it the product that the pool keeps. It takes prints of one side, which have the
 *  venue's fee in common. Others may trade in between and router legs have wrong amounts; both make a pool look shallower than it is, so
 *  that the median errs to the safe side. Measured on real pools it is about half of the truth. */
export class Pools {
  #doubles = new Float64Array(0)
  #words = new Uint32Array(0)
  #floats = new Float32Array(0)
  readonly #sorted = new Float64Array(WINDOW)

  /** Takes in a sized print at `price` (SOL a token) of `net` SOL, negative for a sale. */
  fold(token: TokenId, time: Millis, price: number, net: number): void {
    if (token * DOUBLES >= this.#doubles.length) this.#grow(token)
    const doubles = this.#doubles
    const words = this.#words
    const at = token * DOUBLES
    if (doubles[at + LAST_TIME] === 0) doubles[at + FIRST_TIME] = time
    doubles[at + LAST_TIME] = time
    words[at * 2 + FLAGS] = flagsAfter(words[at * 2 + FLAGS] as number, price, net)
    if (net > 0) words[at * 2 + BUYS] = (words[at * 2 + BUYS] as number) + 1
    const lastNet = doubles[at + LAST_NET] as number
    const ratio = price / (doubles[at + LAST_PRICE] as number)
    doubles[at + LAST_PRICE] = price
    doubles[at + LAST_NET] = net
    const both = lastNet + net
    if (lastNet * net > 0 && ratio > 0.5 && ratio < 2 && Math.abs(both) >= LEAST_PAIR_SOL)
      this.#estimate(at, lastNet, both, ratio, price)
  }

  /** Somebody sold, too little to say anything else. */
  sold(token: TokenId): void {
    if (token * DOUBLES >= this.#doubles.length) this.#grow(token)
    const at = token * DOUBLES * 2 + FLAGS
    this.#words[at] = (this.#words[at] as number) | SOLD
  }

  /** The product of SOL and whole tokens: the curve's, until the token was once dearer than the curve goes; then what is estimated, at most
   *  that of the pool it migrates to. */
  product(token: TokenId): number {
    if (!this.#is(token, GRADUATED)) return CURVE_PRODUCT
    return Math.min(POOL_PRODUCT, this.#median(token) ?? POOL_PRODUCT)
  }

  /** Whether the product is more than a guess. */
  isMeasured(token: TokenId): boolean {
    return !this.#is(token, GRADUATED) || this.#median(token) !== undefined
  }

  /** The price that a sale of `sol` SOL at `price` left behind where it took at least half of what the pool had; undefined where not. */
  leftBehind(token: TokenId, price: number, sol: number): number | undefined {
    const product = this.product(token)
    // With x the share that was taken, sol * sol is product * price * x * x / (1 - x).
    if (sol * sol < 0.5 * product * price) return undefined
    const before = (sol + Math.sqrt(sol * sol + 4 * product * price)) / 2
    return (before - sol) ** 2 / product
  }

  /** Bought by many and sold by nobody. */
  isTrap(token: TokenId, now: Millis): boolean {
    const at = token * DOUBLES
    const buys = this.#words[at * 2 + BUYS] ?? 0
    return buys >= TRAP_BUYS && !this.#is(token, SOLD) && now - (this.#doubles[at + FIRST_TIME] as number) >= TRAP_MS
  }

  /** When the token was last printed with a size that counts; -Infinity where it never was. */
  printedAt(token: TokenId): Millis {
    const time = this.#doubles[token * DOUBLES + LAST_TIME] ?? 0
    return time === 0 ? Number.NEGATIVE_INFINITY : time
  }

  #is(token: TokenId, flag: number): boolean {
    return ((this.#words[token * DOUBLES * 2 + FLAGS] ?? 0) & flag) !== 0
  }

  #estimate(at: number, lastNet: number, both: number, ratio: number, price: number): void {
    const before = both / (ratio - 1)
    if (!(before > 0 && before < 1e9 && before + lastNet > 0 && before + both > 0)) return
    const count = this.#words[at * 2 + ESTIMATED] as number
    this.#floats[at * 2 + ESTIMATES + (count % WINDOW)] = ((before + lastNet) * (before + both)) / price
    this.#words[at * 2 + ESTIMATED] = count + 1
  }

  #median(token: TokenId): number | undefined {
    const at = token * DOUBLES * 2
    const count = Math.min(this.#words[at + ESTIMATED] ?? 0, WINDOW)
    if (count < ENOUGH) return undefined
    const sorted = this.#sorted.fill(Number.POSITIVE_INFINITY)
    for (let index = 0; index < count; index++) sorted[index] = this.#floats[at + ESTIMATES + index] as number
    sorted.sort()
    return sorted[(count - 1) >> 1]
  }

  #grow(token: TokenId): void {
    const doubles = new Float64Array(Math.max(1024, 2 ** Math.ceil(Math.log2(token + 2))) * DOUBLES)
    doubles.set(this.#doubles)
    this.#doubles = doubles
    this.#words = new Uint32Array(doubles.buffer)
    this.#floats = new Float32Array(doubles.buffer)
  }
}

function flagsAfter(before: number, price: number, net: number): number {
  let flags = net < 0 ? before | SOLD : before
  if ((flags & GRADUATED) !== 0) return flags
  flags = price >= GRADUATION_PRICE ? flags + ONE_DEAR : flags & SOLD
  return flags >= DEAR_ENOUGH ? (flags & SOLD) | GRADUATED : flags
}
