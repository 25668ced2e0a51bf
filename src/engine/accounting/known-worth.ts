import type { Lamports } from '../../base/units.ts'
import { hasLeftCurve } from '../../solana/pool-depth.ts'
import { isUnsellable, type Position } from './position.ts'

/** The last computed value of a position. It is kept, because limits ask for the values of all positions at each buy,
 *  and most positions have had no print since the last buy. */
export class KnownWorth {
  #price = Number.NaN
  #tokens = 0n
  #decimals = 0
  #isOffCurve = false
  #isUnsellable = false
  #lamports: Lamports | undefined

  /** Returns the value at a price, SOL per token. Calls `valueAt` only if the price, or a field of the position that
   *  affects its value, has changed since the last call. */
  at(position: Position, price: number, valueAt: (position: Position, price: number) => Lamports | undefined) {
    const { tokens, decimals } = position
    const isOffCurve = hasLeftCurve(price, position.highPrice)
    const cannotSell = isUnsellable(position)
    if (
      price === this.#price &&
      isOffCurve === this.#isOffCurve &&
      cannotSell === this.#isUnsellable &&
      decimals === this.#decimals &&
      tokens === this.#tokens
    )
      return this.#lamports
    this.#price = price
    this.#tokens = tokens
    this.#decimals = decimals
    this.#isOffCurve = isOffCurve
    this.#isUnsellable = cannotSell
    this.#lamports = valueAt(position, price)
    return this.#lamports
  }
}
