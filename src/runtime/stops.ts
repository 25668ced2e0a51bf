import type { ErrorCode } from '../core/errors.ts'
import { isFullExit, type Order, type OrderState } from '../core/order.ts'
import type { Journal } from '../core/ports.ts'
import type { OpenOrders } from './open-orders.ts'
import type { Refusals } from './refusals.ts'
import { RETRY } from './retry.ts'
import { isWaiting, overtake, type WorkingOrder } from './working-order.ts'

export interface StopParts {
  readonly journal: Journal
  readonly orders: OpenOrders
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

  /** The disk that holds the journal is nearly full, and no entry goes; or it has room again. */
  diskLow(isLow: boolean): void {
    this.#parts.refusals.diskLow(isLow)
    if (isLow) this.refuseEntries()
  }

  /** A full exit is accepted: what buys its mint and was decided before neither goes nor goes again, nor is it signed where it is being
   *  built. What is signed may be out. To be called before the exit is durable. */
  overtakeBuys(exit: Order): void {
    const { journal, orders } = this.#parts
    for (const working of orders.buysBefore(exit))
      for (const attempt of overtake(working)) journal.write({ kind: 'attempt', attempt: { ...attempt } })
  }

  /** Ends those of them that wait. */
  refuseBuys(exit: Order): void {
    for (const working of this.#parts.orders.buysBefore(exit)) this.#refuseEntry(working)
  }

  /** The same after a restart, of all full exits that are there. */
  resume(): void {
    for (const { order } of this.#parts.orders.values()) if (isFullExit(order)) this.overtakeBuys(order)
    this.refuseEntries()
  }

  #refuseEntry(working: WorkingOrder): void {
    const { orders, refusals, end } = this.#parts
    const { order } = working
    if (order.class === 'exit' || !isWaiting(working)) return
    const refusal = orders.mayBeSold(order) ? 'EXIT_UNPROVED' : refusals.of(working)
    if (refusal !== undefined) end(working, 'refused', refusal)
  }
}
