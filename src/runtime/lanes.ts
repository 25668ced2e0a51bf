import assert from '../core/assert.ts'
import { laneOf, type Order } from '../core/order.ts'

type OfLane = Pick<Order, 'account' | 'mint' | 'side'>

/** Which lanes hold an open order. The engine refuses a request into a closed lane; here that is asserted, but for a lane that a fork has
 *  reopened: of that the engine may not have heard yet. */
export class Lanes {
  /** Open orders by lane; more than one only where a fork took the fill of an earlier one back. */
  readonly #open = new Map<string, number>()
  readonly #reopened = new Set<string>()

  hold(order: OfLane): void {
    const lane = laneOf(order)
    assert(!this.#open.has(lane), `a second open order in lane ${lane}`)
    this.#open.set(lane, 1)
  }

  /** A fork took a fill back: its order is open again, whatever the lane holds by now. */
  reopen(order: OfLane): void {
    const lane = laneOf(order)
    this.#open.set(lane, (this.#open.get(lane) ?? 0) + 1)
    this.#reopened.add(lane)
  }

  isHeld(order: OfLane): boolean {
    return this.#open.has(laneOf(order))
  }

  isReopened(order: OfLane): boolean {
    return this.#reopened.size > 0 && this.#reopened.has(laneOf(order))
  }

  free(order: OfLane): void {
    const lane = laneOf(order)
    const held = this.#open.get(lane)
    assert(held !== undefined, `lane ${lane} is freed twice`)
    if (held > 1) {
      this.#open.set(lane, held - 1)
      return
    }
    this.#open.delete(lane)
    this.#reopened.delete(lane)
  }
}
