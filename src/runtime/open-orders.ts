import { ByMint } from '../core/by-mint.ts'
import { isFullExit, type Order, orderNumber } from '../core/order.ts'
import type { WorkingOrder } from './working-order.ts'

/** Orders of which something is still to come: open ones, and filled ones of which a fill is not final or another attempt is out. */
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
