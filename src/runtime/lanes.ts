import assert from '../core/assert.ts'
import { laneOf, type Order } from '../core/order.ts'

type OfLane = Pick<Order, 'account' | 'mint' | 'side'>

/** Which lanes hold an open order. The engine refuses a request into a closed lane; here that is asserted. */
export class Lanes {
  readonly #open = new Map<string, number>()

  hold(order: OfLane): void {
    const lane = laneOf(order)
    assert(!this.#open.has(lane), `a second open order in lane ${lane}`)
    this.#open.set(lane, 1)
  }

  /** A fork took a fill back: its order is open again, whatever the lane holds by now. */
  retake(order: OfLane): void {
    const lane = laneOf(order)
    this.#open.set(lane, (this.#open.get(lane) ?? 0) + 1)
  }

  free(order: OfLane): void {
    const lane = laneOf(order)
    const held = this.#open.get(lane)
    assert(held !== undefined, `lane ${lane} is freed twice`)
    if (held === 1) this.#open.delete(lane)
    else this.#open.set(lane, held - 1)
  }
}
