import { type ConditionalOrder, ordersOf } from './conditional.ts'

/** Conditional orders that have not ended, of all bots. */
export class OpenConditionals {
  readonly #byId = new Map<string, ConditionalOrder>()
  /** The one that became this order. */
  readonly #byOrder = new Map<string, ConditionalOrder>()
  /** Those whose order is out: few, so that a print does not look through all that wait. */
  readonly #working = new Set<ConditionalOrder>()

  /** A new one, or one whose state or order is another now. */
  set(order: ConditionalOrder): void {
    this.#byId.set(order.id, order)
    if (order.state === 'working') this.#working.add(order)
    else this.#working.delete(order)
    for (const orderId of ordersOf(order)) this.#byOrder.set(orderId, order)
  }

  delete(order: ConditionalOrder): void {
    this.#byId.delete(order.id)
    this.#working.delete(order)
    for (const orderId of ordersOf(order)) this.#byOrder.delete(orderId)
  }

  get(id: string): ConditionalOrder | undefined {
    return this.#byId.get(id)
  }

  behind(orderId: string): ConditionalOrder | undefined {
    return this.#byOrder.get(orderId)
  }

  /** Oldest first; a copy. */
  all(): ConditionalOrder[] {
    return [...this.#byId.values()]
  }

  /** A bot that has another wallet now is another one. */
  ofBot({ account, bot }: Pick<ConditionalOrder, 'account' | 'bot'>): ConditionalOrder[] {
    return this.all().filter((order) => order.bot === bot && order.account === account)
  }

  /** Others of the same bot and name. */
  rivals(order: ConditionalOrder): ConditionalOrder[] {
    const { oneCancelsOther } = order
    if (oneCancelsOther === '') return []
    return this.ofBot(order).filter((other) => other !== order && other.oneCancelsOther === oneCancelsOther)
  }

  /** While the order of a rival is out. */
  isHeldBack({ account, bot, oneCancelsOther }: ConditionalOrder): boolean {
    if (oneCancelsOther === '') return false
    for (const other of this.#working)
      if (other.oneCancelsOther === oneCancelsOther && other.bot === bot && other.account === account) return true
    return false
  }
}
