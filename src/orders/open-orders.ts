import { ByMint } from '../engine/accounting/by-mint.ts'
import { isFullExit, type Order, orderNumber } from '../engine/order.ts'
import type { WorkingOrder } from './working-order.ts'

const NONE: readonly WorkingOrder[] = []

/** Orders that may still change: open orders, and filled orders with a provisional fill or another open attempt. */
export class OpenOrders {
  readonly #all = new Map<string, WorkingOrder>()
  /** Number of full exits among these orders, by account and mint. A full exit could also sell a later position in its
   *  mint. */
  readonly #exits = new ByMint<number>()
  readonly #buys = new ByMint<WorkingOrder[]>()
  /** The largest reservation of a single order so far, lamports, by account and bot. */
  readonly #largest = new Map<string, Map<string, number>>()

  add(working: WorkingOrder): void {
    const { account, bot, reserveLamports } = working.order
    this.#all.set(working.order.id, working)
    const largest = this.#largest.get(account)
    if (largest === undefined) this.#largest.set(account, new Map([[bot, reserveLamports]]))
    else if (reserveLamports > (largest.get(bot) ?? 0)) largest.set(bot, reserveLamports)
    this.#countExit(working.order, 1)
    if (working.order.side === 'buy') this.#addBuy(working)
  }

  remove(working: WorkingOrder): void {
    const { order } = working
    if (!this.#all.delete(order.id)) return
    this.#countExit(order, -1)
    if (order.side === 'buy') this.#removeBuy(working)
  }

  get(orderId: string): WorkingOrder | undefined {
    return this.#all.get(orderId)
  }

  values(): Iterable<WorkingOrder> {
    return this.#all.values()
  }

  /** Returns the lamports that an account would additionally reserve if each of its bots placed one more order, as
   *  large as its largest order so far. */
  onceMoreLamports(account: string): bigint {
    let sum = 0n
    for (const lamports of this.#largest.get(account)?.values() ?? []) sum += BigInt(lamports)
    return sum
  }

  /** Whether a full exit could also sell the tokens of this buy, because it is not proved that the exit has ended. */
  couldBeSold(order: Order): boolean {
    return order.side === 'buy' && this.#exits.has(order)
  }

  /** Returns the buys of the exit's mint and account that were decided before the exit. Filled buys are included,
   *  because a fork may reopen them. */
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

  #countExit(order: Order, by: 1 | -1): void {
    if (!isFullExit(order)) return
    const count = (this.#exits.get(order) ?? 0) + by
    if (count === 0) this.#exits.delete(order)
    else this.#exits.set(order, count)
  }
}
