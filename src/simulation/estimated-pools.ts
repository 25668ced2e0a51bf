import type { Millis } from '../base/units.ts'
import type { HoneypotRule } from '../engine/accounting/fill-assumptions.ts'
import { type Block, RowKind, type TokenId } from '../market/block.ts'
import { isSized, ROBUST_WINDOW, robustPrice } from '../market/price.ts'
import { CURVE_PRODUCT, GRADUATION_PRICE, POOL_PRODUCT } from '../solana/pool-depth.ts'
import type { PricePath } from './price-path.ts'

/** Largest number of depth estimates of a token from which the quartiles of its depth are computed. */
const WINDOW = 9
const ENOUGH = 3
/** Minimum sum, in SOL, of the amounts of two prints from which the depth of a pool is estimated. */
const MIN_PAIR_SOL = 0.5
/** Largest amount of SOL that one print adds to the volume of its token. Without this maximum, a print with a wrong,
 *  large amount would make an order's impact disappear. */
const MOST_VOLUME = 10

/** Minimum number of sales that prove that holders can sell. A single sale is not enough. */
const PROVING_SALES = 2

/** Number of prints that are remembered per token; a power of 2. */
const RING = 32
/** The state of a token: 8 doubles, followed by the prices of its last prints. The amounts of these prints are in a
 *  separate array. Of the indexes below, LAST_TIME, VOLUME, PRICES, LOW and HIGH count doubles, and the others count
 *  32-bit words. */
const DOUBLES = 8 + RING
const LAST_TIME = 0
/** Sum of the amounts of all prints, SOL. Each print counts with at most MOST_VOLUME. */
const VOLUME = 1
const PRICES = 8
/** COUNT is the number of prints, and BUYS the number of buys among them. DEAR has one bit for each recent print, which
 *  is set if the price of the print was above the curve's range. GRADUATED is 1 if three prints in a row have ever been
 *  above that range. A single print is not enough, because its price may be wrong. */
const COUNT = 4
const BUYS = 5
const DEAR = 6
const GRADUATED = 7
/** Index of the number of prints that the token had when the feed was last interrupted. */
const HEARD = 8
/** Index of the flag that is set if the launch of the token was seen. */
const LAUNCHED = 9
/** Index of a counter: the number of the token's prints when LOW and HIGH were computed, plus one; 0 if they must be
 *  computed. */
const ESTIMATED = 10
/** Quartiles of the last estimate of the pool's constant product. LOW is NaN if there were too few prints for an
 *  estimate. */
const LOW = 6
const HIGH = 7
const DEAR_ENOUGH = 7

/** Minimum length of the list of waiting prints, which are not yet part of the state of their token. The list has room
 *  for at least two prints for each token, so that adding a full list to the states costs little per print. */
const FEWEST_PENDING = 8192
/** A waiting print consists of three doubles and one 32-bit word. The doubles are its price, its amount in SOL
 *  (negative for a sale) and its time. The word is the position in the list of the next waiting print of the same
 *  token, counted from 1; 0 means none. */
const PENDING_DOUBLES = 4
const AMOUNT = 1
const TIME = 2
const NEXT = 6

/** Called for each print of a watched token above the minimum size. `net` is the amount in SOL, negative for a sale. */
type Attend = (token: TokenId, price: number, net: number) => void

/** Lower and upper quartile of the estimates of a pool's constant product, SOL times whole tokens. */
export interface Band {
  readonly low: number
  readonly high: number
}

/** Estimates the price and the pool depth of each token from prints above the minimum size. Prices and depths are
 *  computed on demand, because most tokens never need them. Adding a print only appends it to a list of waiting prints.
 *  When the state of a token is needed, its waiting prints are added to the state (settled). If the list is full, the
 *  prints of all tokens are settled. The states of all tokens exceed the processor's cache, so settling token by token
 *  is several times as fast as settling in the order of the rows. The result is the same, because the prints of a token
 *  keep their order.
 *
 *  The price of a print is the SOL of the trade divided by its tokens. In a pool of S SOL, two consecutive trades of a
 *  and b SOL have the prices p and q = p * (S + a + b) / S. This equation gives S, and with it the constant product of
 *  the pool. Both trades must have the same side, so that the venue's fee cancels. The estimates vary, because other
 *  trades may lie between the two, and because a trade that a router splits is printed in parts with wrong amounts.
 *  Therefore the lower quartile is used, and the upper quartile shows the uncertainty. The errors make a pool seem
 *  shallower more often than deeper: on real pools the median estimate is about half of the true depth. */
export class EstimatedPools {
  #doubles = new Float64Array(0)
  #words = new Int32Array(0)
  #nets = new Float32Array(0)
  readonly #estimates = new Float64Array(WINDOW)
  readonly #prints = new Float64Array(ROBUST_WINDOW)
  #pending = new Float64Array(0)
  /** The memory of `#pending` as 32-bit words. */
  #pendingWords = new Int32Array(0)
  #waiting = 0
  /** For each token: where its first and its last waiting print are in `#pending`. */
  #chains = new Int32Array(0)

  /** Adds rows. Calls `attend` for each print above the minimum size of a token whose entry in `watched` is 1. */
  fold(block: Block, from: number, to: number, watched: Uint8Array, attend: Attend): void {
    this.#makeRoom(block.mints.length)
    for (let row = from; row < to; ) {
      const room = this.#pending.length / PENDING_DOUBLES - this.#waiting
      if (room === 0) this.#settleAll()
      else {
        const end = Math.min(to, row + room)
        this.#append(block, row, end, watched, attend)
        row = end
      }
    }
  }

  /** Appends the prints above the minimum size to those that wait. The sign of an amount is computed without a branch,
   *  because the processor cannot predict the side of a trade. */
  #append(
    { kind, token: tokens, time, amount, size }: Block,
    from: number,
    to: number,
    watched: Uint8Array,
    attend: Attend,
  ): void {
    const pending = this.#pending
    const words = this.#pendingWords
    const chains = this.#chains
    for (let row = from; row < to; row++) {
      const side = kind[row] as number
      const token = tokens[row] as number
      if (side > RowKind.sell) {
        if (side === RowKind.newToken) this.#launch(token, time[row] as number)
        continue
      }
      const sol = amount[row] as number
      const price = sol / (size[row] as number)
      if (!isSized(sol, price)) continue
      const net = sol * (1 - 2 * side)
      const at = this.#waiting * PENDING_DOUBLES
      const place = ++this.#waiting
      pending[at] = price
      pending[at + AMOUNT] = net
      pending[at + TIME] = time[row] as number
      words[at * 2 + NEXT] = 0
      const last = chains[token * 2 + 1] as number
      if (last === 0) chains[token * 2] = place
      else words[(last - 1) * PENDING_DOUBLES * 2 + NEXT] = place
      chains[token * 2 + 1] = place
      if (watched[token] === 1) attend(token, price, net)
    }
  }

  #settleAll(): void {
    const chains = this.#chains
    for (let token = 0; token * 2 < chains.length; token++) if (chains[token * 2] !== 0) this.#settle(token)
    this.#waiting = 0
  }

  /** Adds the waiting prints of a token to its state. */
  #settle(token: TokenId): void {
    let place = this.#chains[token * 2] ?? 0
    if (place === 0) return
    this.#chains[token * 2] = this.#chains[token * 2 + 1] = 0
    const pending = this.#pending
    const doubles = this.#doubles
    const words = this.#words
    const nets = this.#nets
    const at = token * DOUBLES
    const word = at * 2
    while (place !== 0) {
      const from = (place - 1) * PENDING_DOUBLES
      place = this.#pendingWords[from * 2 + NEXT] as number
      const price = pending[from] as number
      const net = pending[from + AMOUNT] as number
      const count = words[word + COUNT] as number
      doubles[at + LAST_TIME] = pending[from + TIME] as number
      doubles[at + PRICES + (count % RING)] = price
      doubles[at + VOLUME] = (doubles[at + VOLUME] as number) + Math.min(Math.abs(net), MOST_VOLUME)
      nets[token * RING + (count % RING)] = net
      const dear = ((words[word + DEAR] as number) << 1) | +(price >= GRADUATION_PRICE)
      words[word + COUNT] = count + 1
      words[word + BUYS] = (words[word + BUYS] as number) + +(net > 0)
      words[word + DEAR] = dear
      words[word + GRADUATED] = (words[word + GRADUATED] as number) | +((dear & DEAR_ENOUGH) === DEAR_ENOUGH)
    }
  }

  #launch(token: TokenId, time: Millis): void {
    this.#settle(token)
    this.#words[token * DOUBLES * 2 + LAUNCHED] = 1
    this.#words[token * DOUBLES * 2 + ESTIMATED] = 0
    this.#doubles[token * DOUBLES + LAST_TIME] = time
  }

  /** Returns the robust price, SOL per token, computed as the engine computes it. undefined until there are enough
   *  prints since the last gap. */
  price(token: TokenId): number | undefined {
    return this.#median(token, this.#heardBefore(token))
  }

  /** Returns the robust price, SOL per token. Uses prints before the last gap if there are too few after it. */
  lastPrice(token: TokenId): number | undefined {
    return this.price(token) ?? this.#median(token, 0)
  }

  /** Marks an interruption of a token's feed. The price and the estimated depth of the token are unknown until enough
   *  prints follow. */
  forget(token: TokenId): void {
    this.#settle(token)
    const at = token * DOUBLES * 2
    if (at < this.#words.length) this.#forgetAt(at)
  }

  forgetAll(): void {
    this.#settleAll()
    for (let at = 0; at < this.#words.length; at += DOUBLES * 2) this.#forgetAt(at)
  }

  #forgetAt(at: number): void {
    this.#words[at + HEARD] = this.#words[at + COUNT] as number
    this.#words[at + ESTIMATED] = 0
  }

  /** Whether the token has a print, or its launch was seen. */
  holds(token: TokenId): boolean {
    return this.count(token) !== 0 || this.#is(token, LAUNCHED)
  }

  /** Returns the number of the token's prints above the minimum size. */
  count(token: TokenId): number {
    this.#settle(token)
    return this.#words[token * DOUBLES * 2 + COUNT] ?? 0
  }

  /** Returns the SOL that was traded in the token's prints above the minimum size. Each print counts with at most 10
   *  SOL. */
  volume(token: TokenId): number {
    this.#settle(token)
    return this.#doubles[token * DOUBLES + VOLUME] ?? 0
  }

  /** Forgets the tokens that have no print since `time`, unless `isNeeded` returns true. */
  drop(time: Millis, isNeeded: (token: TokenId) => boolean): void {
    this.#settleAll()
    for (let at = 0; at < this.#doubles.length; at += DOUBLES) {
      const token = at / DOUBLES
      if ((this.#doubles[at + LAST_TIME] as number) < time && this.holds(token) && !isNeeded(token))
        this.#doubles.fill(0, at, at + DOUBLES)
    }
  }

  /** Returns the median price of the token's newest prints; prints whose number is below `first` do not count. Returns
   *  undefined if there are too few prints. */
  #median(token: TokenId, first: number): number | undefined {
    const count = this.count(token)
    const known = Math.min(count - first, ROBUST_WINDOW)
    for (let back = 0; back < known; back++) this.#prints[known - 1 - back] = this.#priceAt(token, count - 1 - back)
    return robustPrice(this.#prints, known)
  }

  /** Product of SOL and whole tokens in the token's pool.
   *  - On the curve: the product of the curve.
   *  - In a pool: the estimate, but at most the product of a freshly migrated pool.
   *  If the launch was not seen, the token may already be in a pool, so the estimate is used if there is one. */
  product(token: TokenId): number {
    if (this.isOnCurve(token)) return CURVE_PRODUCT
    const pool = this.#is(token, GRADUATED) ? POOL_PRODUCT : CURVE_PRODUCT
    return this.#isEstimated(token) ? (this.#doubles[token * DOUBLES + LOW] as number) : pool
  }

  /** Whether the token is certainly on the curve: its launch was seen, and its price never stayed above the curve's
   *  range. */
  isOnCurve(token: TokenId): boolean {
    return this.#is(token, LAUNCHED) && !this.#is(token, GRADUATED)
  }

  /** Returns the quartiles of the estimated product; undefined if the token is on the curve or has too few
   *  estimates. */
  band(token: TokenId): Band | undefined {
    if (this.isOnCurve(token) || !this.#isEstimated(token)) return undefined
    const at = token * DOUBLES
    return { low: this.#doubles[at + LOW] as number, high: this.#doubles[at + HIGH] as number }
  }

  /** Whether the product is known or estimated, and not only assumed. It is known while the price has not stayed above
   *  the curve's range. After that, the token is in a pool, and the product is estimated if there are enough prints. */
  isMeasured(token: TokenId): boolean {
    return !this.#is(token, GRADUATED) || this.#isEstimated(token)
  }

  /** Adds the remembered prints of a token with the numbers `first` to `end` (exclusive) to a price path. Prints before
   *  the last gap are left out. */
  retrace(token: TokenId, path: PricePath, first: number, end: number): void {
    const from = Math.max(first, this.#heardBefore(token), this.count(token) - RING)
    for (let print = from; print < end; print++) path.print(this.#priceAt(token, print), this.#netAt(token, print))
  }

  /** Whether the token seems unsellable, because it has many buys and too few sales. */
  isTrap(token: TokenId, { buys: enough, salesPercent }: HoneypotRule): boolean {
    const count = this.count(token)
    const buys = this.#words[token * DOUBLES * 2 + BUYS] ?? 0
    const sales = count - buys
    return buys >= enough && (sales < PROVING_SALES || sales * 100 < buys * salesPercent)
  }

  /** Returns the time of the last print above the minimum size; -Infinity if there is none. */
  printedAt(token: TokenId): Millis {
    return this.count(token) === 0 ? Number.NEGATIVE_INFINITY : (this.#doubles[token * DOUBLES + LAST_TIME] as number)
  }

  #is(token: TokenId, flag: typeof LAUNCHED | typeof GRADUATED): boolean {
    this.#settle(token)
    return (this.#words[token * DOUBLES * 2 + flag] ?? 0) !== 0
  }

  #heardBefore(token: TokenId): number {
    return this.#words[token * DOUBLES * 2 + HEARD] ?? 0
  }

  /** Whether the remembered prints allow enough estimates of the product. If so, sets LOW and HIGH to the quartiles,
   *  each at most the product of a freshly migrated pool. Computes them once for each print. */
  #isEstimated(token: TokenId): boolean {
    const word = token * DOUBLES * 2
    const count = this.count(token)
    if (count === 0) return false
    if (this.#words[word + ESTIMATED] !== count + 1) this.#estimate(token, count)
    this.#words[word + ESTIMATED] = count + 1
    return !Number.isNaN(this.#doubles[token * DOUBLES + LOW] as number)
  }

  #estimate(token: TokenId, count: number): void {
    const estimates = this.#estimates
    const first = Math.max(this.#heardBefore(token), count - RING)
    let found = 0
    for (let print = count - 1; found < WINDOW && print > first; print--) {
      const product = this.#productBetween(token, print - 1, print)
      if (product === undefined) continue
      let place = found++
      for (; place > 0 && (estimates[place - 1] as number) > product; place--)
        estimates[place] = estimates[place - 1] as number
      estimates[place] = product
    }
    const at = token * DOUBLES
    const quarter = (found - 1) / 4
    const isEnough = found >= ENOUGH
    this.#doubles[at + LOW] = isEnough ? Math.min(POOL_PRODUCT, estimates[Math.floor(quarter)] as number) : Number.NaN
    this.#doubles[at + HIGH] = isEnough
      ? Math.min(POOL_PRODUCT, estimates[Math.ceil(quarter * 3)] as number)
      : Number.NaN
  }

  /** Returns the estimate of the product from two consecutive prints; undefined if their sides, prices or amounts do
   *  not allow one. */
  #productBetween(token: TokenId, first: number, second: number): number | undefined {
    const net = this.#netAt(token, first)
    const next = this.#netAt(token, second)
    const both = net + next
    const price = this.#priceAt(token, second)
    const ratio = price / this.#priceAt(token, first)
    if (!(net * next > 0 && ratio > 0.5 && ratio < 2 && Math.abs(both) >= MIN_PAIR_SOL)) return undefined
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
    this.#settleAll()
    const size = Math.max(1024, 2 ** Math.ceil(Math.log2(tokens)))
    const doubles = new Float64Array(size * DOUBLES)
    doubles.set(this.#doubles)
    this.#doubles = doubles
    this.#words = new Int32Array(doubles.buffer)
    const nets = new Float32Array(size * RING)
    nets.set(this.#nets)
    this.#nets = nets
    this.#chains = new Int32Array(size * 2)
    this.#pending = new Float64Array(Math.max(2 * size, FEWEST_PENDING) * PENDING_DOUBLES)
    this.#pendingWords = new Int32Array(this.#pending.buffer)
  }
}
