import type { Clock } from '../base/machine.ts'
import { isOpen } from '../engine/order.ts'
import { type CalledOff, isAnswered } from './attempt.ts'
import type { Orders } from './reducer-state.ts'
import { isExecuted, timeLeftMs } from './working-order.ts'

/** Answers questions of executors about orders in progress. An executor must ask, because the order may change between
 *  the commit of an attempt and its sending, while the transaction is built and verified. */
export class OrderQueries {
  readonly #orders: Orders
  readonly #clock: Clock
  readonly #monotonicMs: () => number

  constructor(orders: Orders, clock: Clock, monotonicMs: () => number) {
    this.#orders = orders
    this.#clock = clock
    this.#monotonicMs = monotonicMs
  }

  /** Returns why an order may not be signed or sent any more; undefined if it may. Possible reasons: the order was
   *  called off, its time to live is over, or one of its attempts has executed. */
  refusalOf(orderId: string): CalledOff | 'TTL' | undefined {
    const working = this.#orders.open.get(orderId)
    if (working === undefined) return 'TTL'
    const isInTime = timeLeftMs(working, this.#clock.now(), this.#monotonicMs()) >= 0
    return this.#orders.blocks.calledOff(working) ?? (isInTime && !isExecuted(working) ? undefined : 'TTL')
  }

  /** Whether the service has answered, or a transaction was sent, for every open attempt: none is being checked, built
   *  or signed, and none waits for an answer of the service. */
  get isAnswered(): boolean {
    for (const { openAttempts } of this.#orders.open.values())
      if (openAttempts.some(({ attempt }) => attempt.executor !== 'paper' && !isAnswered(attempt.state))) return false
    return true
  }

  /** Returns the most lamports that an order can take out of the wallet; 0 if the order has ended. */
  reserveLamports(orderId: string): bigint {
    return BigInt(this.#orders.open.get(orderId)?.order.reserveLamports ?? 0)
  }

  /** Returns the lamports that new orders of this account may reserve while a transaction is on its way: for each bot,
   *  twice its largest order so far. */
  headroomLamports(account: string): bigint {
    return 2n * this.#orders.open.onceMoreLamports(account)
  }

  /** Returns the most lamports that the account's other open orders can take out of the wallet. */
  reservedLamports(account: string, orderId: string): bigint {
    let sum = 0n
    for (const { order, state } of this.#orders.open.values())
      if (order.account === account && order.id !== orderId && isOpen(state)) sum += BigInt(order.reserveLamports)
    return sum
  }
}
