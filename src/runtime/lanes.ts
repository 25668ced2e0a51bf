import assert from '../core/assert.ts'
import { ByMint } from '../core/by-mint.ts'
import { laneOf, type Order, sharesLane } from '../core/order.ts'

/** Which lanes (see `laneOf`) hold open orders. The engine refuses a request into a closed lane; here that is asserted, but for a lane that
 *  a fork has reopened: of that the engine may not have heard yet. */
export class Lanes {
  /** By account and mint, of both sides. More than one in a lane only where a full exit went in beside a partial sale, or a fork took the
   *  fill of an earlier one back. */
  readonly #open = new ByMint<Order[]>()
  /** By lane. */
  readonly #reopened = new Set<string>()

  /** Whether an order may go in: nothing is open there, or nothing but what it may share the lane with. */
  takes(order: Order): boolean {
    const open = this.#open.get(order)
    return open === undefined || open.every((held) => held.side !== order.side || sharesLane(order, held))
  }

  hold(order: Order): void {
    assert(this.takes(order), 'a second open order in a lane')
    this.#add(order)
  }

  /** A fork took a fill back: its order is open again, whatever the lane holds by now. */
  reopen(order: Order): void {
    this.#add(order)
    this.#reopened.add(laneOf(order))
  }

  isReopened(order: Order): boolean {
    return this.#reopened.size > 0 && this.#reopened.has(laneOf(order))
  }

  free(order: Order): void {
    const open = this.#open.get(order) ?? []
    const at = open.findIndex(({ id }) => id === order.id)
    assert(at >= 0, 'a lane is freed twice')
    if (open.length === 1) this.#open.delete(order)
    else open.splice(at, 1)
    if (this.#reopened.size > 0 && !open.some(({ id, side }) => id !== order.id && side === order.side))
      this.#reopened.delete(laneOf(order))
  }

  #add(order: Order): void {
    const open = this.#open.get(order)
    if (open === undefined) this.#open.set(order, [order])
    else open.push(order)
  }
}
