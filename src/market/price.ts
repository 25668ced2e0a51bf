import type { Block, TokenId } from './block.ts'
import type { UnitSettings } from './unit-proof.ts'
import { UnitProof } from './unit-proof.ts'

/** Prints that the median is taken over. A jump therefore needs three prints to be believed; in real data one print in
 *  six is more than twice off, but of those above the minimum size only one in sixty. */
export const ROBUST_WINDOW = 5
const WINDOW = ROBUST_WINDOW
const ENOUGH = 3

/** Prints below this many SOL say nothing about the price. */
const MIN_PRINT_SOL = 0.01
/** Nobody trades more at once: an amount above it is broken, or of another unit. */
const MAX_PRINT_SOL = 1e5

/** What is known of a token lies in eight doubles, one line of the processor's cache: its last prints in a ring, then
 *  the median, or 0 where it has to be taken again, then how many prints came since the last `forget`. */
const DOUBLES = 8
const MEDIAN = WINDOW
const COUNT = 12

/** The robust price of every token, SOL a whole token: the median of its last sized prints. The only price that exits,
 *  limits, marks and entries act on. A flat array by token number: folding a row hashes nothing and allocates nothing;
 *  the median is taken when asked for. */
export class Prices {
  readonly #proof: UnitProof
  #doubles = new Float64Array(0)
  /** The same memory. */
  #words = new Uint32Array(this.#doubles.buffer)
  /** How many prints there were of each when the day began. */
  #countsThen = new Uint32Array(0)

  constructor(units: UnitSettings) {
    this.#proof = new UnitProof(units)
  }

  /** Takes a trade row in; true when it is a print that may move the price. */
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

  /** The robust price; undefined before three sized prints, or while the unit of the feed's amounts is not proved. */
  at(token: TokenId): number | undefined {
    const known = this.#doubles[token * DOUBLES + MEDIAN] as number
    return known > 0 ? known : this.#take(token)
  }

  #take(token: TokenId): number | undefined {
    const at = token * DOUBLES
    const count = this.#words[at * 2 + COUNT] ?? 0
    if (count < ENOUGH || !this.#proof.proved) return undefined
    const median = robustPrice(this.#doubles, Math.min(count, WINDOW), at) as number
    this.#doubles[at + MEDIAN] = median
    return median
  }

  /** Drops what was printed so far: after a gap, and between a warm-up and the start, a price must be newer than the
   *  pause. */
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

  /** A day begins: what was not printed on the one that ended has no price any more, unless somebody needs it. */
  nextDay(isNeeded: (token: TokenId) => boolean): void {
    const countsThen = this.#countsThen
    for (let token = 0; token < countsThen.length; token++) {
      const count = this.#words[token * DOUBLES * 2 + COUNT] as number
      if (count !== 0 && count === countsThen[token] && !isNeeded(token)) this.forget(token)
      else countsThen[token] = count
    }
  }

  /** Whether anything was printed of it that counts. */
  holds(token: TokenId): boolean {
    return (this.#words[token * DOUBLES * 2 + COUNT] ?? 0) !== 0
  }

  /** One of our own fills, whose unit the chain proves, against the price now and the one it was decided on, since a
   *  price may fall by any factor while a buy is under way; false when it contradicts both, and with that the feed's
   *  unit. */
  confirm(token: TokenId, fillPrice: number, decidedOn: number | undefined): boolean {
    const prices = [this.at(token), decidedOn].filter((price) => price !== undefined)
    const agrees = prices.length === 0 || this.#proof.confirm(prices.map((price) => fillPrice / price))
    if (this.#proof.contradicted) this.forgetAll()
    return agrees
  }

  /** Whether the unit of the feed's amounts is proved; and what its price is quoted at over SOL, NaN where nothing was
   *  compared. */
  get units(): { readonly proved: boolean; readonly quotedRatio: number } {
    return this.#proof
  }

  /** Whether our own fills contradicted the feed. */
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

/** Whether a trade of so many SOL at so much a token says anything about the price. */
export function isSized(amount: number, price: number): boolean {
  return amount >= MIN_PRINT_SOL && amount <= MAX_PRINT_SOL && price > 0 && price < 1e9
}

/** Of an odd number of prints: the newest of four waits for the fifth, or two prints could move the price that three
 *  have made. `prints` lie from `start` on, `count` of them, up to the window; undefined where there are too few. */
export function robustPrice(prints: Float64Array, count: number, start = 0): number | undefined {
  if (count < ENOUGH) return undefined
  return prints[start + (count < WINDOW ? middleOfThree(prints, start) : middleOfFive(prints, start))]
}

// Which place has the middle one is counted, not branched on: which of two is smaller is chance, and a processor that
// guesses wrong every other time takes five times as long. `a..` are 1 where the first is not larger than the one
// named; of equals the first counts as smaller.

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
  // Larger than the middle one are two: for each of the others, how many it is not larger than.
  const isB = +(bc + bd + be - ab === 1)
  const isC = +(cd + ce - ac - bc === 0)
  const isD = +(de - ad - bd - cd === -1)
  const isE = +(ae + be + ce + de === 2)
  return isB + 2 * isC + 3 * isD + 4 * isE
}
