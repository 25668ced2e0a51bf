import { keyOf, type Owner } from '../../engine/accounting/by-mint.ts'
import type { PositionState } from '../../engine/accounting/position.ts'
import type { Output } from '../../engine/messages.ts'
import { isOpen, type OrderState } from '../../engine/order.ts'
import type { RecordedBuy } from '../../journal/reader/position-buys.ts'

/** The buy that opened a position. */
export interface Entry {
  readonly orderId: string
  readonly reason: string
}

interface Buy extends Entry {
  state: OrderState
}

interface Buys {
  /** The buys since the position opened, oldest first. */
  readonly list: Buy[]
  isClosed: boolean
}

/** Number of closed positions whose buys are kept, because a fork may reopen them. */
const MOST_CLOSED = 1_000

/** Tracks which buy opened each position: the first one that is filled or still open. */
export class PositionEntries {
  /** Buys by account and mint. */
  readonly #byKey = new Map<string, Buys>()
  readonly #byOrder = new Map<string, Buy>()
  /** Keys of closed positions, in the order of closing. */
  readonly #closed = new Set<string>()

  restore(buys: readonly RecordedBuy[]): void {
    for (const buy of buys) this.#add(keyOf(buy), buy)
  }

  take(output: Output): void {
    if (output.kind === 'order' && output.order.side === 'buy') {
      const { id, reason } = output.order
      this.#add(keyOf(output.order), { orderId: id, reason, state: 'accepted' })
    } else if (output.kind === 'orderState') {
      const buy = this.#byOrder.get(output.orderId)
      if (buy !== undefined) buy.state = output.state
    } else if (output.kind === 'position') this.#note(keyOf(output.position), output.position.state)
  }

  /** The buy that opened a position; undefined if there is none, for example after `sluice adopt`. `key`: account and
   *  mint, as joined by `keyOf`. */
  of(key: string): Entry | undefined {
    return this.#byKey.get(key)?.list.find(({ state }) => state === 'filled' || isOpen(state))
  }

  #add(key: string, { orderId, reason, state }: Omit<RecordedBuy, keyof Owner>): void {
    const buys = this.#byKey.get(key) ?? { list: [], isClosed: false }
    const buy = { orderId, reason, state }
    buys.list.push(buy)
    this.#byKey.set(key, buys)
    this.#byOrder.set(orderId, buy)
  }

  /** Called with each new state of a position. If the last position in the mint had closed and the new state is
   *  `opening`, a new position begins, and the buys of the closed position are dropped. A position that a fork reopened
   *  keeps its buys: it holds tokens, so its state is not `opening`. */
  #note(key: string, state: PositionState): void {
    const buys = this.#byKey.get(key)
    const isClosed = state === 'closed'
    if (buys === undefined || buys.isClosed === isClosed) return
    if (buys.isClosed && state === 'opening') {
      this.#drop(key)
      return
    }
    buys.isClosed = isClosed
    if (isClosed) this.#closed.add(key)
    else this.#closed.delete(key)
    if (this.#closed.size > MOST_CLOSED) this.#drop(this.#closed.keys().next().value as string)
  }

  #drop(key: string): void {
    const buys = this.#byKey.get(key)
    for (const { orderId } of buys?.list ?? []) this.#byOrder.delete(orderId)
    this.#closed.delete(key)
    this.#byKey.delete(key)
  }
}
