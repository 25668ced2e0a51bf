import type { Limits } from '../../src/engine/limits/limit-rules.ts'
import type { ExecutionReport, Order } from '../../src/engine/order.ts'

const HOUR_MS = 3_600_000

interface Asked {
  readonly orderId: string
  readonly time: number
  readonly lamports: number
}

interface Held {
  readonly mint: string
  readonly cost: number
}

/** A reference model of a bot's limits. It computes the use of the limits from orders, reports and positions. */
export class LimitReference {
  readonly #limits: Limits
  readonly #asked: Asked[] = []
  readonly #over = new Set<string>()

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** Returns the limit that a buy violates; '' if there is none. `held` has the bot's positions before the buy. */
  objection(order: Order, held: readonly Held[]): string {
    if (order.size.kind !== 'sol') return 'a buy must have a size in SOL'
    const { lamports } = order.size
    const { maxLamportsPerOrder, maxLamportsPerHour, maxLamportsPerMint, maxOpenPositions } = this.#limits
    const hour = this.#asked.filter(({ orderId, time }) => order.time - time < HOUR_MS && !this.#over.has(orderId))
    const inHour = hour.reduce((sum, one) => sum + one.lamports, Number(lamports))
    const inMint = held
      .filter(({ mint }) => mint === order.mint)
      .reduce((sum, { cost }) => sum + cost, Number(lamports))
    const isNew = held.every(({ mint }) => mint !== order.mint)
    if (lamports > (maxLamportsPerOrder ?? Infinity)) return 'the order costs more than one order may cost'
    if (inHour > (maxLamportsPerHour ?? Infinity)) return `${inHour} lamports were requested within an hour`
    if (inMint > (maxLamportsPerMint ?? Infinity)) return `${inMint} lamports would be in one mint`
    if (isNew && held.length >= (maxOpenPositions ?? Infinity)) return `${held.length + 1} positions`
    this.#asked.push({ orderId: order.id, time: order.time, lamports })
    return ''
  }

  /** An order that ended without a fill uses up no limit. A filled order uses up limits from its request on. */
  report({ orderId, state }: ExecutionReport): void {
    if (['failed', 'refused', 'expired', 'cancelled', 'not_executed'].includes(state)) this.#over.add(orderId)
    else this.#over.delete(orderId)
  }
}
