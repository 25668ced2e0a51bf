import { poolAround } from '../solana/pool-depth.ts'

/** Number of unexplained prints in a row that together become the price. */
const MOST_DOUBTS = 3

/** What the price of a pool is computed from. */
export interface PoolRules {
  /** Product of SOL and whole tokens; if it is not `isExact`, the pool is rather deeper. */
  readonly product: number
  readonly isExact: boolean
  /** A print is explained if its trade began at most this factor away from where the trade before it ended. */
  readonly explained: number
}

/** The price at which the last trade left a token's pool, and the prices that an order could meet in the slot in which
 *  it lands.
 *
 *  A print has the mean price and the amount of a trade; in a constant product they give the price that the trade
 *  found and the one that it left. With an estimated depth these are ranges between the print's own price and the
 *  computed one. Real feeds contain legs of routers with wrong amounts. So a print is taken at once only if the trade
 *  before explains it. An unexplained print is an alternative until an explained one refutes it; three unexplained
 *  ones in a row become the price. */
export class PricePath {
  readonly #rules: PoolRules
  /** Number of sized prints since `begin`. */
  prints = 0
  /** Prices that the last trade may have left; NaN before the first print. */
  #low = Number.NaN
  #high = Number.NaN
  #doubts = 0
  #doubtLow = Number.POSITIVE_INFINITY
  #doubtHigh = Number.NEGATIVE_INFINITY
  /** Lowest and highest settled price since `enterSlot`, before it since `begin`. */
  #least = Number.POSITIVE_INFINITY
  #most = Number.NEGATIVE_INFINITY
  /** Settled price at `begin`. */
  first = { low: Number.NaN, high: Number.NaN }

  constructor(rules: PoolRules) {
    this.#rules = rules
  }

  /** Lowest and highest price that the order could meet and that no print has refuted. */
  get low(): number {
    return Math.min(this.#least, this.#doubtLow)
  }

  get high(): number {
    return Math.max(this.#most, this.#doubtHigh)
  }

  /** The order is sent now. */
  begin(): void {
    this.prints = 0
    this.enterSlot()
    this.first = { low: this.#low, high: this.#high }
  }

  /** The slot in which the order lands begins now. */
  enterSlot(): void {
    this.#least = this.#low
    this.#most = this.#high
  }

  /** `net`: amount of the print in SOL, negative for a sale. */
  print(price: number, net: number): void {
    this.prints++
    const { product, isExact, explained } = this.#rules
    const { before, after } = poolAround(price, net, product)
    const low = isExact ? after : Math.min(price, after)
    const high = isExact ? after : Math.max(price, after)
    const foundLow = isExact ? before : Math.min(price, before)
    const foundHigh = isExact ? before : Math.max(price, before)
    if (!(foundLow > this.#high * explained || foundHigh * explained < this.#low)) {
      this.settle(low, high)
      return
    }
    this.#doubtLow = Math.min(this.#doubtLow, low)
    this.#doubtHigh = Math.max(this.#doubtHigh, high)
    if (++this.#doubts === MOST_DOUBTS) this.settle(this.#doubtLow, this.#doubtHigh)
  }

  /** The pool's price is in this range: after an explained print, or as read from the pool. */
  settle(low: number, high: number): void {
    this.#low = low
    this.#high = high
    this.#least = Math.min(this.#least, low)
    this.#most = Math.max(this.#most, high)
    this.#doubts = 0
    this.#doubtLow = Number.POSITIVE_INFINITY
    this.#doubtHigh = Number.NEGATIVE_INFINITY
  }
}
