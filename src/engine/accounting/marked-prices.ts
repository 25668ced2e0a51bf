import { hasLeftCurve } from '../../solana/pool-depth.ts'
import type { Position } from './position.ts'
import type { TripSums } from './trip-sums.ts'

/** The range of prices at which the profit of a position was already compared with its best and worst profit (its
 *  marks). While the position stays the same, its value rises with the price, so a price within this range cannot
 *  change a mark. Most prints of a held token are within the range. */
export class MarkedPrices {
  #low = Number.NaN
  #high = Number.NaN
  #trip: TripSums | undefined
  #tokens = 0n
  #exitTries = 0
  #isOffCurve = false

  /** Returns whether the price is within the range. If not, extends the range to the price. */
  covers(position: Position, price: number): boolean {
    const { trip, tokens, exitTries } = position
    // The liquidation value of a token that has left the curve is computed from another depth, so the earlier range of
    // prices does not apply.
    const isOffCurve = hasLeftCurve(price, position.highPrice)
    const isSame =
      trip !== undefined &&
      trip === this.#trip &&
      exitTries === this.#exitTries &&
      isOffCurve === this.#isOffCurve &&
      tokens === this.#tokens
    if (isSame && price >= this.#low && price <= this.#high) return true
    this.#low = isSame ? Math.min(this.#low, price) : price
    this.#high = isSame ? Math.max(this.#high, price) : price
    this.#trip = trip
    this.#tokens = tokens
    this.#exitTries = exitTries
    this.#isOffCurve = isOffCurve
    return false
  }
}
