import type { TokenId } from './block.ts'
import { type ByToken, setByToken } from './by-token.ts'
import { dueExit } from './exits.ts'
import type { Order } from './order.ts'
import type { Position } from './position.ts'
import type { Session } from './session.ts'

/** Everything that acts on a price by itself: exits of open positions, and buys that wait while the price runs away. By token number, so
 *  that a row of a token that nobody holds costs one array read. */
export class ExitWatch {
  readonly #session: Session
  readonly #positions: ByToken<Position[]> = []
  readonly #waiting: ByToken<Waiting[]> = []
  readonly #marked = new Set<Position>()
  readonly #sell: (position: Position, reason: string) => void

  /** `sell` sends a full exit of a position whose exit is due. */
  constructor(session: Session, sell: (position: Position, reason: string) => void) {
    this.#session = session
    this.#sell = sell
  }

  /** From the moment a position exists: its mint is subscribed and its price watched. */
  watch(position: Position): void {
    const token = this.#session.mints.intern(position.mint)
    const watched = this.#positions[token] ?? []
    if (watched.includes(position)) return
    setByToken(this.#positions, token, [...watched, position])
    this.#session.wants.add(position.mint)
  }

  unwatch(position: Position): void {
    const token = this.#session.mints.intern(position.mint)
    const watched = this.#positions[token]
    if (watched === undefined || !watched.includes(position)) return
    const left = watched.filter((other) => other !== position)
    setByToken(this.#positions, token, left.length === 0 ? undefined : left)
    this.#session.wants.drop(position.mint)
    this.#marked.delete(position)
  }

  /** A buy that waits for its request, for the first time or once more: called off when the price has run up by more than
   *  `maxChasePercent` before it is sent. */
  await(order: Order, maxChasePercent: number): void {
    if (order.price === null) return
    const token = this.#session.mints.intern(order.mint)
    const waiting = { order, ceiling: order.price * (1 + maxChasePercent / 100) }
    setByToken(this.#waiting, token, [...(this.#waiting[token] ?? []), waiting])
    this.#callOff(token)
  }

  /** It is being sent, or over. */
  sent(order: Order): void {
    const token = this.#session.mints.intern(order.mint)
    const waiting = this.#waiting[token]
    if (waiting === undefined) return
    const left = waiting.filter((one) => one.order.id !== order.id)
    setByToken(this.#waiting, token, left.length === 0 ? undefined : left)
  }

  /** Whether a print of this token can change anything. */
  concerns(token: TokenId): boolean {
    return this.#positions[token] !== undefined || this.#waiting[token] !== undefined
  }

  /** A print of this token may have moved its robust price. */
  check(token: TokenId): void {
    const price = this.#session.prices.at(token)
    if (price === undefined) return
    this.#callOff(token)
    for (const position of this.#positions[token] ?? []) {
      if (position.tokens === 0n) continue
      if (price > position.highPrice) {
        position.highPrice = price
        this.#marked.add(position)
      }
      if (position.exiting !== '') continue
      const reason = dueExit(position.exits, position.averagePrice, position.highPrice, price)
      if (reason !== undefined) this.#sell(position, reason)
    }
  }

  /** Positions whose high-water mark rose since the last call; written with the tape, not as an output. */
  takeMarks(): Position[] {
    const marked = [...this.#marked]
    this.#marked.clear()
    return marked
  }

  #callOff(token: TokenId): void {
    const waiting = this.#waiting[token]
    const price = waiting === undefined ? undefined : this.#session.prices.at(token)
    if (waiting === undefined || price === undefined) return
    for (const { order, ceiling } of waiting) {
      if (!(price > ceiling)) continue
      this.sent(order) // said once: the answer comes as a report
      this.#session.emit({ kind: 'cancel', orderId: order.id, code: 'CHASED' })
    }
  }
}

interface Waiting {
  readonly order: Order
  readonly ceiling: number
}
