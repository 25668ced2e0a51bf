import type { ErrorCode } from '../core/errors.ts'
import type { Order, OrderState } from '../core/order.ts'
import type { Lanes } from './lanes.ts'
import type { OpenOrders } from './open-orders.ts'
import type { Refusals } from './refusals.ts'
import { RETRY } from './retry.ts'
import { isWaiting, type WorkingOrder } from './working-order.ts'

export interface StopParts {
  readonly orders: OpenOrders
  readonly lanes: Lanes
  readonly refusals: Refusals
  /** The order is over. */
  readonly end: (working: WorkingOrder, state: OrderState, code: ErrorCode) => void
}

/** Orders that wait, and may not go any more. */
export class Stops {
  readonly #parts: StopParts

  constructor(parts: StopParts) {
    this.#parts = parts
  }

  /** Ends what waits to go again at once after a refusal, where refusals are not believed any more. */
  endRepeats(): void {
    const { orders, refusals, end } = this.#parts
    for (const working of orders.values()) {
      const { refusedFor, code } = working
      if (refusedFor === undefined || code === '' || !isWaiting(working)) continue
      if (!refusals.mayGoAgain(working)) end(working, RETRY[refusedFor].ends, code)
    }
  }

  /** Ends the entries that wait where entries have stopped, or while a full exit of their mint is out. */
  refuseEntries(): void {
    for (const working of this.#parts.orders.values()) this.#refuseEntry(working)
  }

  /** The same of one mint, whose full exit goes out. */
  refuseBuys(exit: Order): void {
    const { lanes, orders } = this.#parts
    for (const { id } of lanes.buys(exit)) {
      const working = orders.get(id)
      if (working !== undefined) this.#refuseEntry(working)
    }
  }

  #refuseEntry(working: WorkingOrder): void {
    const { orders, refusals, end } = this.#parts
    const { order, route } = working
    if (order.class === 'exit' || !isWaiting(working)) return
    const refusal = orders.mayBeSold(order) ? 'EXIT_UNPROVED' : refusals.of(route)
    if (refusal !== undefined) end(working, 'refused', refusal)
  }
}
