import { assert } from '../base/errors.ts'
import { ByMint } from '../engine/accounting/by-mint.ts'
import { laneOf, type Order, sharesLane } from '../engine/order.ts'

/** The open orders by lane (account, mint and side; see `laneOf`). The engine refuses a second order of a lane, and
 *  this class asserts that. The exception is a lane that a fork has reopened, because the engine may not have received
 *  the report of the fork yet. */
export class Lanes {
  /** Open orders of both sides, by account and mint. A lane has several orders only if a full exit was accepted during
   *  a partial sale, or if a fork reversed the fill of an earlier order. */
  readonly #open = new ByMint<Order[]>()
  /** Keys of the lanes (account, mint and side) in which a fork has reopened an order. */
  readonly #reopened = new Set<string>()

  /** Whether an order may be open together with all open orders of its lane (account, mint and side). True if there are
   *  none. */
  takes(order: Order): boolean {
    const open = this.#open.get(order)
    return open === undefined || open.every((held) => held.side !== order.side || sharesLane(order, held))
  }

  hold(order: Order): void {
    assert(this.takes(order), 'a second open order in a lane')
    this.#add(order)
  }

  /** Adds an order again after a fork reversed its fill, even if another order for the same account, mint and side is
   *  open now. */
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
    assert(at >= 0, 'an order releases a lane that it does not hold')
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
