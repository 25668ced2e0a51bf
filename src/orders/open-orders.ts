import { assert, type ErrorCode } from '../base/errors.ts'
import { ByMint } from '../engine/accounting/by-mint.ts'
import { isFullExit, laneOf, type Order, type OrderState, orderNumber, sharesLane } from '../engine/order.ts'
import type { Journal } from './ports.ts'
import { RETRY } from './retry.ts'
import type { ServiceRefusals } from './service-refusals.ts'
import { isWaiting, overtake, type WorkingOrder } from './working-order.ts'

/** Orders of which something is still to come: open ones, and filled ones of which a fill is not final or another
 *  attempt is out. */
export class OpenOrders {
  readonly #all = new Map<string, WorkingOrder>()
  /** How many full exits there are among them, by the mint that they could sell. */
  readonly #exits = new ByMint<number>()
  /** The buys among them. */
  readonly #buys = new ByMint<WorkingOrder[]>()

  /** The most that one order of each bot has reserved, lamports, by account and bot. */
  readonly #largest = new Map<string, Map<string, number>>()

  add(working: WorkingOrder): void {
    const { account, bot, reserveLamports } = working.order
    this.#all.set(working.order.id, working)
    const largest = this.#largest.get(account)
    if (largest === undefined) this.#largest.set(account, new Map([[bot, reserveLamports]]))
    else if (reserveLamports > (largest.get(bot) ?? 0)) largest.set(bot, reserveLamports)
    this.#count(working.order, 1)
    if (working.order.side === 'buy') this.#addBuy(working)
  }

  remove(working: WorkingOrder): void {
    const { order } = working
    if (!this.#all.delete(order.id)) return
    this.#count(order, -1)
    if (order.side === 'buy') this.#removeBuy(working)
  }

  get(orderId: string): WorkingOrder | undefined {
    return this.#all.get(orderId)
  }

  values(): Iterable<WorkingOrder> {
    return this.#all.values()
  }

  /** What an account's bots take out of the wallet if each orders as much once more as it ever has, lamports. */
  onceMoreLamports(account: string): bigint {
    let sum = 0n
    for (const lamports of this.#largest.get(account)?.values() ?? []) sum += BigInt(lamports)
    return sum
  }

  /** What this order buys, a full exit that is not proved could sell. */
  mayBeSold(order: Order): boolean {
    return order.side === 'buy' && this.#exits.has(order)
  }

  /** Those of the mint of `exit`, of its account, that were decided before it: a fork may open again what is filled. */
  buysBefore(exit: Order): readonly WorkingOrder[] {
    return this.#buys.get(exit)?.filter(({ order }) => orderNumber(order) < orderNumber(exit)) ?? NONE
  }

  #addBuy(working: WorkingOrder): void {
    const buys = this.#buys.get(working.order)
    if (buys === undefined) this.#buys.set(working.order, [working])
    else buys.push(working)
  }

  #removeBuy(working: WorkingOrder): void {
    const buys = this.#buys.get(working.order) as WorkingOrder[]
    if (buys.length === 1) this.#buys.delete(working.order)
    else buys.splice(buys.indexOf(working), 1)
  }

  #count(order: Order, by: 1 | -1): void {
    if (!isFullExit(order)) return
    const count = (this.#exits.get(order) ?? 0) + by
    if (count === 0) this.#exits.delete(order)
    else this.#exits.set(order, count)
  }
}

const NONE: readonly WorkingOrder[] = []

/** Which lanes (see `laneOf`) hold open orders. The engine refuses a request into a closed lane; here that is asserted,
 *  but for a lane that a fork has reopened: of that the engine may not have heard yet. */
export class Lanes {
  /** By account and mint, of both sides. More than one in a lane only where a full exit went in beside a partial sale,
   *  or a fork took the fill of an earlier one back. */
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

export interface StopParts {
  readonly journal: Journal
  readonly orders: OpenOrders
  readonly refusals: ServiceRefusals
  /** The order is over. */
  readonly end: (working: WorkingOrder, state: OrderState, code: ErrorCode) => void
}

/** Orders that wait, and may not go any more. */
export class WaitingOrders {
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

  /** A full exit is accepted: what buys its mint and was decided before neither goes nor goes again, nor is it signed
   *  where it is being built. What is signed may be out. To be called before the exit is durable. */
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
