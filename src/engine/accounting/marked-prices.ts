import { hasLeftCurve } from '../../solana/pool-depth.ts'
import type { Position } from './position.ts'
import type { TripSums } from './trip-sums.ts'

/** The marks of a position are its best and its worst profit so far. This class stores the range of the prices that
 *  were already compared with the marks. As long as nothing else about the position changes, a higher price means a
 *  higher value, so a price within the range cannot change a mark. Most prints of a held token are within the range. */
export class MarkedPrices {
  #low = Number.NaN
  #high = Number.NaN
  #trip: TripSums | undefined
  #tokens = 0n
  #exitTries = 0
  #isOffCurve = false

  /** Returns whether the price is between the stored lowest and highest price. If not, extends this range to the
   *  price. */
  covers(position: Position, price: number): boolean {
    const { trip, tokens, exitTries } = position
    // Once a token has left the bonding curve, its liquidation value is computed from the depth of its new pool, so the
    // range of prices on the curve no longer applies.
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
