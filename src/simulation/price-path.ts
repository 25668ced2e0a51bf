import { poolAround } from '../solana/pool-depth.ts'

/** Number of consecutive unexplained prints (see `PoolRules`) after which the range of their prices becomes the
 *  price. */
const MOST_DOUBTS = 3

/** Parameters from which `PricePath` computes the price of a pool. */
export interface PoolRules {
  /** Product of SOL and whole tokens. If `isExact` is false, the real pool is probably deeper. */
  readonly product: number
  readonly isExact: boolean
  /** A print is explained if its trade began near the price at which the previous trade ended: the two prices differ at
   *  most by this factor. */
  readonly explained: number
}

/** Computes the price of a token's pool after the last trade, and the prices at which an order could be filled in the
 *  Solana slot in which it lands.
 *
 *  A print has the mean price and the amount of a trade. In a constant-product pool these two determine the price
 *  before the trade and the price after it. If the depth is only estimated, each of the two prices is a range, from the
 *  print's own price to the computed price. Real feeds contain prints with wrong amounts, from trades that a router
 *  splits. A print is explained if the price before its trade matches the price after the previous trade. Only an
 *  explained print changes the price immediately. Any other print counts as a possible price until an explained print
 *  refutes it. After three unexplained prints in a row, the range of their prices becomes the price. */
export class PricePath {
  readonly #rules: PoolRules
  /** Number of prints above the minimum size since `begin`. */
  prints = 0
  /** Range of the prices that the pool may have after the last trade; NaN before the first print. */
  #low = Number.NaN
  #high = Number.NaN
  #doubts = 0
  #doubtLow = Number.POSITIVE_INFINITY
  #doubtHigh = Number.NEGATIVE_INFINITY
  /** Lowest and highest confirmed price since `enterSlot` or, before the call of `enterSlot`, since `begin`. */
  #least = Number.POSITIVE_INFINITY
  #most = Number.NEGATIVE_INFINITY
  /** Range of the pool's price at `begin`. */
  first = { low: Number.NaN, high: Number.NaN }

  constructor(rules: PoolRules) {
    this.#rules = rules
  }

  /** Lowest price at which the order could be filled and which no print has refuted. The property `high` is the highest
   *  such price. */
  get low(): number {
    return Math.min(this.#least, this.#doubtLow)
  }

  get high(): number {
    return Math.max(this.#most, this.#doubtHigh)
  }

  /** Starts the path of an order that is sent now. */
  begin(): void {
    this.prints = 0
    this.enterSlot()
    this.first = { low: this.#low, high: this.#high }
  }

  /** Starts the Solana slot in which the order lands. From now on, `low` and `high` refer to this slot only. */
  enterSlot(): void {
    this.#least = this.#low
    this.#most = this.#high
  }

  /** Adds a print. `net`: amount of the print in SOL, negative for a sale. */
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

  /** Sets the range that contains the pool's price. Called after an explained print, and after a reading of the
   *  pool. */
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
