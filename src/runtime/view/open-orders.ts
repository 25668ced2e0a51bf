import { lamportsToSol } from '../../base/units.ts'
import type { Output } from '../../engine/messages.ts'
import { isOpen, type Order, type OrderState, orderNumber } from '../../engine/order.ts'
import type { OpenOrder } from '../../engine/recovered-money.ts'
import { type Attempt, isUndecided, isUnsigned } from '../../orders/attempt.ts'
import type { JournalRecord } from '../../orders/ports.ts'
import type { OrderStage, OrderStatus, ProofStatus } from './view.ts'

type StateOutput = Pick<Extract<Output, { kind: 'orderState' }>, 'orderId' | 'state' | 'code'>

interface Tracked {
  readonly order: Order
  state: OrderState
  code: StateOutput['code']
  /** The last attempt; undefined before the first. */
  attempt: Attempt | undefined
}

/** Number of ended orders that are kept, because a fork may reverse their fill. */
const MOST_ENDED = 1_000

/** Tracks the open orders and the stages that they pass through. It reads outputs and the writes to the journal. */
export class OpenOrders {
  readonly #open = new Map<string, Tracked>()
  readonly #ended = new Map<string, Tracked>()

  get size(): number {
    return this.#open.size
  }

  restore({
    orders,
    attempts,
  }: {
    readonly orders: readonly OpenOrder[]
    readonly attempts: readonly Attempt[]
  }): void {
    for (const { order, state } of orders)
      (isOpen(state) ? this.#open : this.#ended).set(order.id, { order, state, code: '', attempt: undefined })
    for (const attempt of attempts) this.write({ kind: 'attempt', attempt })
  }

  take(output: Output): void {
    if (output.kind === 'order') {
      const { order } = output
      this.#open.set(order.id, { order, state: 'accepted', code: '', attempt: undefined })
    } else if (output.kind === 'orderState') this.#stateOf(output)
  }

  write(record: JournalRecord): void {
    if (record.kind !== 'attempt') return
    const { attempt } = record
    const tracked = this.#open.get(attempt.orderId) ?? this.#ended.get(attempt.orderId)
    if (tracked === undefined || tryOf(attempt) < tryOf(tracked.attempt)) return
    tracked.attempt = attempt
  }

  /** Name of the bot that requested an open order; undefined if no open order has this id. */
  botOf(orderId: string): string | undefined {
    return this.#open.get(orderId)?.order.bot
  }

  /** Returns an order and its state; undefined if the order is unknown, or ended so long ago that it was dropped. */
  find(orderId: string): { readonly order: Order; readonly state: OrderState } | undefined {
    return this.#open.get(orderId) ?? this.#ended.get(orderId)
  }

  countOf(bot: string): number {
    let count = 0
    for (const { order } of this.#open.values()) if (order.bot === bot) count++
    return count
  }

  /** Open orders, oldest first. `proofOf`: progress of the proof of an attempt; null without one. */
  list(proofOf: (attemptId: string) => ProofStatus | null): OrderStatus[] {
    const all = [...this.#open.values()].sort((one, other) => orderNumber(one.order) - orderNumber(other.order))
    return all.map((tracked) => statusOf(tracked, proofOf))
  }

  #stateOf({ orderId, state, code }: StateOutput): void {
    const tracked = this.#open.get(orderId) ?? this.#ended.get(orderId)
    if (tracked === undefined) return
    Object.assign(tracked, { state, code })
    const [from, to] = isOpen(state) ? [this.#ended, this.#open] : [this.#open, this.#ended]
    if (from.delete(orderId)) to.set(orderId, tracked)
    if (this.#ended.size > MOST_ENDED) this.#ended.delete(this.#ended.keys().next().value as string)
  }
}

function statusOf(
  { order, state, code, attempt }: Tracked,
  proofOf: (attemptId: string) => ProofStatus | null,
): OrderStatus {
  const { id, bot, mint, side, size, reason } = order
  return {
    ...{ id, bot, mint, symbol: '', side, kind: order.class },
    sol: size.kind === 'sol' ? lamportsToSol(size.lamports) : null,
    percent: size.kind === 'all' ? 100 : size.kind === 'percent' ? size.percent : null,
    ...{ state, ...stageOf(order, state, attempt), attempts: tryOf(attempt), reason, code },
    proof: attempt === undefined ? null : proofOf(attempt.id),
  }
}

function stageOf(
  order: Order,
  state: OrderState,
  attempt: Attempt | undefined,
): { readonly stage: OrderStage; readonly stageSince: number } {
  if (attempt === undefined) return { stage: state === 'held' ? 'held' : 'queued', stageSince: order.time }
  const step = attempt.trail?.at(-1)
  const stageSince = step?.state === attempt.state ? step.at : attempt.armedAt
  if (state === 'held') return { stage: 'held', stageSince }
  const isUnderWay = isUndecided(attempt.state) || isUnsigned(attempt.state) || attempt.state === 'filled'
  return { stage: isUnderWay ? attempt.state : 'retrying', stageSince }
}

/** Number of an attempt: 2 for `o1.2`; 0 if there is no attempt. */
function tryOf(attempt: Attempt | undefined): number {
  return attempt === undefined ? 0 : Number(attempt.id.slice(attempt.orderId.length + 1))
}
