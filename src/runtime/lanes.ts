import assert from '../core/assert.ts'
import { laneOf, type Order, sharesLane } from '../core/order.ts'

/** Which lanes (see `laneOf`) hold open orders. The engine refuses a request into a closed lane; here that is asserted, but for a lane that
 *  a fork has reopened: of that the engine may not have heard yet. */
export class Lanes {
  /** More than one in a lane only where a full exit went in beside a partial sale, or a fork took the fill of an earlier one back. */
  readonly #open = new Map<string, readonly Order[]>()
  readonly #reopened = new Set<string>()

  /** Whether an order may go in: nothing is open there, or nothing but what it may share the lane with. */
  takes(order: Order): boolean {
    return this.#in(order).every((held) => sharesLane(order, held))
  }

  hold(order: Order): void {
    assert(this.takes(order), 'a second open order in a lane')
    this.#open.set(laneOf(order), [...this.#in(order), order])
  }

  /** A fork took a fill back: its order is open again, whatever the lane holds by now. */
  reopen(order: Order): void {
    this.#open.set(laneOf(order), [...this.#in(order), order])
    this.#reopened.add(laneOf(order))
  }

  isReopened(order: Order): boolean {
    return this.#reopened.has(laneOf(order))
  }

  free(order: Order): void {
    const left = this.#in(order).filter(({ id }) => id !== order.id)
    assert(left.length === this.#in(order).length - 1, 'a lane is freed twice')
    if (left.length > 0) this.#open.set(laneOf(order), left)
    else {
      this.#open.delete(laneOf(order))
      this.#reopened.delete(laneOf(order))
    }
  }

  #in(order: Order): readonly Order[] {
    return this.#open.get(laneOf(order)) ?? []
  }
}
