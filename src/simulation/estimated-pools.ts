import type { Millis } from '../base/units.ts'
import { type Block, RowKind, type TokenId } from '../market/block.ts'
import { isSized, ROBUST_WINDOW, robustPrice } from '../market/price.ts'
import { CURVE_PRODUCT, GRADUATION_PRICE, POOL_PRODUCT } from '../solana/pool-depth.ts'

/** Estimates that the quarters are taken over; the depth counts as known from the third on. */
const WINDOW = 9
const ENOUGH = 3
/** Two prints of less than this many SOL together say nothing about the depth. */
const LEAST_PAIR_SOL = 0.5
/** Shallower than this a pool is not said to have been emptied: it is likelier that its depth was misread. */
const LEAST_EMPTIED = POOL_PRODUCT / 50
/** So many sized buys in so long a time and not one sale: it cannot be sold. */
const TRAP_BUYS = 20
const TRAP_MS = 60_000

/** Prints of a token that are remembered: a power of 2. */
const RING = 32
/** What is known of a token lies in 8 doubles and the prices of its last prints, and the amounts of those apart. As
 *  doubles ... */
const DOUBLES = 8 + RING
const LAST_TIME = 0
const FIRST_TIME = 1
const PRICES = 8
/** ... and as words: how many prints, how many of them buys, whether somebody sold, which of the last prints were
 *  beyond the curve, a bit each, and whether three in a row ever were: a single one may be wrong. */
const COUNT = 4
const BUYS = 5
const SOLD = 6
const DEAR = 7
const GRADUATED = 8
/** How many prints there were when the feed was last interrupted. */
const HEARD = 9
const DEAR_ENOUGH = 7
/** What one sale brings that may have emptied a pool, SOL. */
const LARGE_SALE_SOL = 1

/** A sized print that is more than written down. */
type Attend = (token: TokenId, price: number, sol: number, side: number) => void

/** Products of a pool, by the lower and the upper quarter of the estimates. */
export interface Band {
  readonly low: number
  readonly high: number
}

/** What sized prints say of the price and of the pool behind each token. A print is only written down, without a branch that depends on it:
 *  what it means is worked out when somebody asks, which for most tokens nobody does.
 *
 *  A print's price is what was paid over what came out, so in a pool of S SOL two trades in a row of a and b SOL have the prices p and
 *  q = p * (S + a + b) / S: from both follows S, and with it the product that the pool keeps. It takes prints of one side, which have the
 *  venue's fee in common. Others may trade in between and router legs have wrong amounts, so that estimates scatter: the lower quarter of
 *  them is taken, and the upper one beside it says how much hangs on that. Both make a pool look shallower than it is more often than
 *  deeper: measured on real pools the median is about half of the truth. */
export class EstimatedPools {
  #doubles = new Float64Array(0)
  #words = new Int32Array(0)
  #nets = new Float32Array(0)
  readonly #estimates = new Float64Array(WINDOW)
  readonly #prints = new Float64Array(ROBUST_WINDOW)

  /** Takes rows in. `attend` is told of each sized print of a token that is 1 in `watched`, and of large sales. What
   *  follows from the side of a trade is computed, not branched on: a processor guesses it wrong every other time. */
  fold(block: Block, from: number, to: number, watched: Uint8Array, attend: Attend): void {
    this.#makeRoom(block.mints.length)
    const { kind, token: tokens, time, amount, size } = block
    const doubles = this.#doubles
    const words = this.#words
    const nets = this.#nets
    for (let row = from; row < to; row++) {
      const side = kind[row] as number
      if (side > RowKind.sell) continue
      const token = tokens[row] as number
      const sol = amount[row] as number
      const price = sol / (size[row] as number)
      const at = token * DOUBLES
      const word = at * 2
      words[word + SOLD] = (words[word + SOLD] as number) | side
      if (!isSized(sol, price)) continue
      const count = words[word + COUNT] as number
      if (count === 0) doubles[at + FIRST_TIME] = time[row] as number
      doubles[at + LAST_TIME] = time[row] as number
      doubles[at + PRICES + (count % RING)] = price
      nets[token * RING + (count % RING)] = sol * (1 - 2 * side)
      const dear = ((words[word + DEAR] as number) << 1) | +(price >= GRADUATION_PRICE)
      words[word + COUNT] = count + 1
      words[word + BUYS] = (words[word + BUYS] as number) + 1 - side
      words[word + DEAR] = dear
      words[word + GRADUATED] = (words[word + GRADUATED] as number) | +((dear & DEAR_ENOUGH) === DEAR_ENOUGH)
      if (watched[token] === 1 || (sol > LARGE_SALE_SOL && side === RowKind.sell)) attend(token, price, sol, side)
    }
  }

  /** The robust price as the engine has it; undefined before there are enough prints since the last gap. */
  price(token: TokenId): number | undefined {
    return this.#median(token, this.#heardBefore(token))
  }

  /** The same, but of prints from before a gap where there are no newer ones. */
  lastPrice(token: TokenId): number | undefined {
    return this.price(token) ?? this.#median(token, 0)
  }

  /** Nobody heard the feed of a token for a while: what it costs now, and how deep its pool is, is not known before
   *  there are new prints. */
  forget(token: TokenId): void {
    const at = token * DOUBLES * 2
    if (at < this.#words.length) this.#words[at + HEARD] = this.#words[at + COUNT] as number
  }

  forgetAll(): void {
    for (let at = 0; at < this.#words.length; at += DOUBLES * 2)
      this.#words[at + HEARD] = this.#words[at + COUNT] as number
  }

  /** Whether anything was seen of it. */
  holds(token: TokenId): boolean {
    const word = token * DOUBLES * 2
    return (this.#words[word + COUNT] ?? 0) !== 0 || (this.#words[word + SOLD] ?? 0) !== 0
  }

  /** What was last printed before `time`, as if it had never been seen, unless somebody needs it. */
  drop(time: Millis, isNeeded: (token: TokenId) => boolean): void {
    for (let at = 0; at < this.#doubles.length; at += DOUBLES) {
      const token = at / DOUBLES
      if ((this.#doubles[at + LAST_TIME] as number) < time && this.holds(token) && !isNeeded(token))
        this.#doubles.fill(0, at, at + DOUBLES)
    }
  }

  /** Of the prints from number `first` on. */
  #median(token: TokenId, first: number): number | undefined {
    const count = this.#words[token * DOUBLES * 2 + COUNT] ?? 0
    const known = Math.min(count - first, ROBUST_WINDOW)
    for (let back = 0; back < known; back++) this.#prints[known - 1 - back] = this.#priceAt(token, count - 1 - back)
    return robustPrice(this.#prints, known)
  }

  /** The product of SOL and whole tokens: the curve's, until the token was once dearer than the curve goes; then what
   *  is estimated, at most that of the pool it migrates to. */
  product(token: TokenId): number {
    if (!this.#is(token, GRADUATED)) return CURVE_PRODUCT
    return this.#estimate(token)?.low ?? POOL_PRODUCT
  }

  /** Where the depth is estimated: between which products it lies by half of the estimates. */
  band(token: TokenId): Band | undefined {
    return this.#is(token, GRADUATED) ? this.#estimate(token) : undefined
  }

  /** Whether the product is more than a guess. */
  isMeasured(token: TokenId): boolean {
    return !this.#is(token, GRADUATED) || this.#estimate(token) !== undefined
  }

  /** The price that a sale of `sol` SOL at `price` left behind where it took at least half of what the pool had;
   *  undefined where not. */
  leftBehind(token: TokenId, price: number, sol: number): number | undefined {
    // Few sales are so large, so that the depth is worked out for few.
    if (sol <= LARGE_SALE_SOL || sol * sol < 0.5 * LEAST_EMPTIED * price) return undefined
    const product = Math.max(LEAST_EMPTIED, this.product(token))
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
    const at = token * DOUBLES
    const count = this.#words[at * 2 + COUNT] ?? 0
    return count === 0 ? Number.NEGATIVE_INFINITY : (this.#doubles[at + LAST_TIME] as number)
  }

  #is(token: TokenId, flag: typeof SOLD | typeof GRADUATED): boolean {
    return (this.#words[token * DOUBLES * 2 + flag] ?? 0) !== 0
  }

  #heardBefore(token: TokenId): number {
    return this.#words[token * DOUBLES * 2 + HEARD] ?? 0
  }

  /** The quarters of the last estimates of the product, at most that of a fresh migration; undefined while there are
   *  too few among the prints remembered. */
  #estimate(token: TokenId): Band | undefined {
    const count = this.#words[token * DOUBLES * 2 + COUNT] ?? 0
    const estimates = this.#estimates.fill(Number.POSITIVE_INFINITY)
    let found = 0
    const first = Math.max(this.#heardBefore(token), count - RING)
    for (let print = count - 1; found < WINDOW && print > first; print--) {
      const product = this.#productBetween(token, print - 1, print)
      if (product !== undefined) estimates[found++] = product
    }
    if (found < ENOUGH) return undefined
    estimates.sort()
    const quarter = (found - 1) / 4
    const at = (place: number): number => Math.min(POOL_PRODUCT, estimates[place] as number)
    return { low: at(Math.floor(quarter)), high: at(Math.ceil(quarter * 3)) }
  }

  /** What two prints in a row say of the product. */
  #productBetween(token: TokenId, first: number, second: number): number | undefined {
    const net = this.#netAt(token, first)
    const next = this.#netAt(token, second)
    const both = net + next
    const price = this.#priceAt(token, second)
    const ratio = price / this.#priceAt(token, first)
    if (!(net * next > 0 && ratio > 0.5 && ratio < 2 && Math.abs(both) >= LEAST_PAIR_SOL)) return undefined
    const before = both / (ratio - 1)
    if (!(before > 0 && before < 1e9 && before + net > 0 && before + both > 0)) return undefined
    return ((before + net) * (before + both)) / price
  }

  #priceAt(token: TokenId, print: number): number {
    return this.#doubles[token * DOUBLES + PRICES + (print % RING)] as number
  }

  #netAt(token: TokenId, print: number): number {
    return this.#nets[token * RING + (print % RING)] as number
  }

  #makeRoom(tokens: number): void {
    if (tokens * DOUBLES <= this.#doubles.length) return
    const size = Math.max(1024, 2 ** Math.ceil(Math.log2(tokens)))
    const doubles = new Float64Array(size * DOUBLES)
    doubles.set(this.#doubles)
    this.#doubles = doubles
    this.#words = new Int32Array(doubles.buffer)
    const nets = new Float32Array(size * RING)
    nets.set(this.#nets)
    this.#nets = nets
  }
}
