import { type CalledOff, isAnswered, isOpen } from '../core/order.ts'
import type { Departures } from './departures.ts'
import type { OpenOrders } from './open-orders.ts'
import type { Refusals } from './refusals.ts'
import { isExecuted } from './working-order.ts'

/** What an executor may ask about orders that are out: between arming an attempt and sending it, time passes where it is built and checked. */
export class Outgoing {
  readonly #orders: OpenOrders
  readonly #departures: Departures
  readonly #refusals: Refusals

  constructor(orders: OpenOrders, departures: Departures, refusals: Refusals) {
    this.#orders = orders
    this.#departures = departures
    this.#refusals = refusals
  }

  /** Why an order may not be signed or sent any more: it is called off, its time is over, or something of it was seen to execute. */
  refusalOf(orderId: string): CalledOff | 'TTL' | undefined {
    const working = this.#orders.get(orderId)
    if (working === undefined) return 'TTL'
    const isWanted = this.#departures.timeLeftMs(working) >= 0 && !isExecuted(working)
    return this.#refusals.callOff(working) ?? (isWanted ? undefined : 'TTL')
  }

  /** Nothing is being looked at, built, signed or asked of the service: what is out by now is out, and known to be. */
  get isAnswered(): boolean {
    for (const { flights } of this.#orders.values())
      if (flights.some(({ attempt }) => attempt.executor !== 'paper' && !isAnswered(attempt.state))) return false
    return true
  }

  /** What an order may take out of the wallet at most, lamports; 0 where it is over. */
  reserveLamports(orderId: string): bigint {
    return BigInt(this.#orders.get(orderId)?.order.reserveLamports ?? 0)
  }

  /** What may be ordered in this account while something is on its way: twice what each of its bots has ordered at once at most, lamports. */
  headroomLamports(account: string): bigint {
    return 2n * this.#orders.onceMoreLamports(account)
  }

  /** What the account's open orders may take out of the wallet at most, lamports, this one left out. */
  reservedLamports(account: string, orderId: string): bigint {
    let sum = 0n
    for (const { order, state } of this.#orders.values())
      if (order.account === account && order.id !== orderId && isOpen(state)) sum += BigInt(order.reserveLamports)
    return sum
  }
}
