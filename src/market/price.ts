import type { Block, TokenId } from './block.ts'
import type { UnitSettings } from './unit-proof.ts'
import { UnitProof } from './unit-proof.ts'

/** Number of prints from which the median is computed. With five, the price follows a jump only after three prints. In
 *  recorded data, the price of one print in six is wrong by more than a factor of two; among the prints above the
 *  minimum size, it is one in sixty. */
export const ROBUST_WINDOW = 5
const WINDOW = ROBUST_WINDOW
const ENOUGH = 3

/** Prints below this many SOL are ignored. */
const MIN_PRINT_SOL = 0.01
/** Prints above this many SOL are ignored. No real trade is so large, so the amount is broken or in another unit. */
const MAX_PRINT_SOL = 1e5

/** Number of doubles for each token, which is one cache line: a ring of the last prints, the cached median (0: not
 *  computed), and the number of prints since the last `forget`. */
const DOUBLES = 8
const MEDIAN = WINDOW
const COUNT = 12

/** Robust price of every token, SOL per whole token: the median of its last prints that are large enough. Entries,
 *  limits and strategies use this price; exits have their own (`engine/exits/exit-price.ts`). The prices are a flat
 *  array by token number, so adding a print needs no hash and allocates no memory. The median is computed on demand. */
export class Prices {
  readonly #proof: UnitProof
  #doubles = new Float64Array(0)
  /** The same memory as `#doubles`, read as integers. */
  #words = new Uint32Array(this.#doubles.buffer)
  /** For each token, the number of its prints at the beginning of the day. */
  #countsThen = new Uint32Array(0)
  /** Sum of the counts that the last `lookAhead` read. No code reads this field. It exists because the optimizer would
   *  remove the reads if their result were unused. */
  printsAhead = 0

  constructor(units: UnitSettings) {
    this.#proof = new UnitProof(units)
  }

  /** Adds a trade row; returns true if the row may change the price. */
  fold(block: Block, row: number, token: TokenId): boolean {
    const amount = block.amount[row] as number
    const price = amount / (block.size[row] as number)
    if (!isSized(amount, price)) return false
    if (!this.#proof.proved) this.#proof.fold(price, block.price[row] as number)
    if (token * DOUBLES >= this.#doubles.length) this.#grow(token)
    const doubles = this.#doubles
    const words = this.#words
    const at = token * DOUBLES
    const count = words[at * 2 + COUNT] as number
    doubles[at + (count % WINDOW)] = price
    doubles[at + MEDIAN] = 0
    words[at * 2 + COUNT] = count + 1
    return true
  }

  /** Reads the number of prints of each row's token, which brings the token's prints into the processor's cache. Each
   *  read may miss the cache; when the reads are done together, the misses overlap. */
  lookAhead({ token }: Block, from: number, to: number): void {
    const words = this.#words
    let prints = 0
    for (let row = from; row < to; row++) prints += words[(token[row] as number) * DOUBLES * 2 + COUNT] ?? 0
    this.printsAhead = prints
  }

  /** Returns the robust price, SOL per token; undefined before three prints that are large enough, or if the unit of
   *  the feed's amounts is not proved. */
  at(token: TokenId): number | undefined {
    const price = this.numberAt(token)
    return price > 0 ? price : undefined
  }

  /** Returns the robust price as `at` does, but 0 if there is none. A result that is always a number takes no
   *  memory. */
  numberAt(token: TokenId): number {
    const doubles = this.#doubles
    const at = token * DOUBLES
    if (at >= doubles.length) return 0
    if (doubles[at + MEDIAN] === 0) this.#take(token)
    return doubles[at + MEDIAN] as number
  }

  /** Computes the median of a token, if there is one. */
  #take(token: TokenId): void {
    const at = token * DOUBLES
    const count = this.#words[at * 2 + COUNT] as number
    if (count < ENOUGH || !this.#proof.proved) return
    const doubles = this.#doubles
    doubles[at + MEDIAN] = doubles[at + middleOf(doubles, count, at)] as number
  }

  /** Drops all prints of a token. Called after a gap and at the end of a warm-up, because older prints must not count
   *  from then on. */
  forget(token: TokenId | undefined): void {
    if (token === undefined || token * DOUBLES >= this.#doubles.length) return
    this.#words[token * DOUBLES * 2 + COUNT] = 0
    this.#countsThen[token] = 0
    this.#doubles[token * DOUBLES + MEDIAN] = 0
  }

  forgetAll(): void {
    this.#words.fill(0)
    this.#countsThen.fill(0)
  }

  /** Begins a new day. Drops the prices of tokens that had no print on the previous day, except tokens for which
   *  `isNeeded` is true. */
  nextDay(isNeeded: (token: TokenId) => boolean): void {
    const countsThen = this.#countsThen
    for (let token = 0; token < countsThen.length; token++) {
      const count = this.#words[token * DOUBLES * 2 + COUNT] as number
      if (count !== 0 && count === countsThen[token] && !isNeeded(token)) this.forget(token)
      else countsThen[token] = count
    }
  }

  /** Whether the token has at least one print that is large enough to count for its price. */
  holds(token: TokenId): boolean {
    return (this.#words[token * DOUBLES * 2 + COUNT] ?? 0) !== 0
  }

  /** Compares the price of one of our own fills, which is certainly in SOL, with two prices of the feed: the current
   *  price, and the price at which the order was decided. One price is not enough, because it may change by any factor
   *  while a buy is on its way. Returns false if the fill contradicts both prices; the feed then quotes another
   *  unit. */
  confirm(token: TokenId, fillPrice: number, decidedOn: number | undefined): boolean {
    const prices = [this.at(token), decidedOn].filter((price) => price !== undefined)
    const agrees = prices.length === 0 || this.#proof.confirm(prices.map((price) => fillPrice / price))
    if (this.#proof.contradicted) this.forgetAll()
    return agrees
  }

  /** State of the proof of the feed's unit. `quotedRatio`: the price that the feed quotes, divided by the price in SOL;
   *  NaN if the two prices have not been compared yet. */
  get units(): { readonly proved: boolean; readonly quotedRatio: number } {
    return this.#proof
  }

  /** Whether our own fills contradicted the feed's unit. */
  get contradicted(): boolean {
    return this.#proof.contradicted
  }

  #grow(token: TokenId): void {
    const size = Math.max(1024, 2 ** Math.ceil(Math.log2(token + 1)))
    const grown = new Float64Array(size * DOUBLES)
    grown.set(this.#doubles)
    this.#doubles = grown
    this.#words = new Uint32Array(grown.buffer)
    const counts = new Uint32Array(size)
    counts.set(this.#countsThen)
    this.#countsThen = counts
  }
}

/** Whether the size and the price of a trade allow the robust price to use it. */
export function isSized(amount: number, price: number): boolean {
  return amount >= MIN_PRINT_SOL && amount <= MAX_PRINT_SOL && price > 0 && price < 1e9
}

/** Returns the median of `count` prints, which begin at `start`; undefined for fewer than three prints. Of four prints,
 *  only the first three count, because two wrong prints of four could move the median. */
export function robustPrice(prints: Float64Array, count: number, start = 0): number | undefined {
  return count < ENOUGH ? undefined : prints[start + middleOf(prints, count, start)]
}

/** Returns the index of the median among at least three prints. */
function middleOf(prints: Float64Array, count: number, start: number): number {
  return count < WINDOW ? middleOfThree(prints, start) : middleOfFive(prints, start)
}

// The functions below return the index of the median. They count instead of branching, because comparisons of prints
// are unpredictable, and a mispredicted branch takes five times as long. `ab` is 1 if `a` is not larger than `b`, and
// so on.

function middleOfThree(prints: Float64Array, start: number): number {
  const a = prints[start] as number
  const b = prints[start + 1] as number
  const c = prints[start + 2] as number
  const ab = +(a <= b)
  const ac = +(a <= c)
  const bc = +(b <= c)
  return +(ab === bc) + 2 * (ac ^ bc)
}

function middleOfFive(prints: Float64Array, start: number): number {
  const a = prints[start] as number
  const b = prints[start + 1] as number
  const c = prints[start + 2] as number
  const d = prints[start + 3] as number
  const e = prints[start + 4] as number
  const ab = +(a <= b)
  const ac = +(a <= c)
  const ad = +(a <= d)
  const ae = +(a <= e)
  const bc = +(b <= c)
  const bd = +(b <= d)
  const be = +(b <= e)
  const cd = +(c <= d)
  const ce = +(c <= e)
  const de = +(d <= e)
  // The median is the value that is not larger than exactly two of the other four values. Each line below tests one of
  // the five values.
  const isB = +(bc + bd + be - ab === 1)
  const isC = +(cd + ce - ac - bc === 0)
  const isD = +(de - ad - bd - cd === -1)
  const isE = +(ae + be + ce + de === 2)
  return isB + 2 * isC + 3 * isD + 4 * isE
}
