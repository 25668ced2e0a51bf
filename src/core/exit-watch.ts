import type { TokenId } from './block.ts'
import { type ByToken, setByToken } from './by-token.ts'
import { dueExit, stepsReached } from './exits.ts'
import type { Order } from './order.ts'
import type { Position } from './position.ts'
import type { Session } from './session.ts'
import type { Millis } from './units.ts'

/** What a price makes happen to positions. */
export interface ExitActions {
  /** Sends a full exit. */
  sell(position: Position, reason: string): void
  /** Further steps of its take-profit were reached: `taken` in all by now. */
  step(position: Position, taken: number, price: number): void
}

/** Everything that acts on a price by itself: exits of open positions, and buys that wait while the price runs away. By token number, so
 *  that a row of a token that nobody holds costs one array read. */
export class ExitWatch {
  readonly #session: Session
  readonly #watched: ByToken<Watched> = []
  readonly #marked = new Set<Position>()
  readonly #exits: () => ExitActions

  constructor(session: Session, exits: () => ExitActions) {
    this.#session = session
    this.#exits = exits
  }

  /** From the moment a position exists: its mint is subscribed and its price watched. */
  watch(position: Position): void {
    const watched = this.#open(position.mint)
    if (watched.positions.includes(position)) return
    watched.positions = [...watched.positions, position]
    this.#session.wants.add(position.mint)
  }

  unwatch(position: Position): void {
    const token = this.#session.mints.intern(position.mint)
    const watched = this.#watched[token]
    if (watched === undefined || !watched.positions.includes(position)) return
    watched.positions = watched.positions.filter((other) => other !== position)
    this.#leave(token, watched)
    this.#session.wants.drop(position.mint)
    this.#marked.delete(position)
  }

  /** A buy that waits for its request, for the first time or once more: called off when the price has run up by more than
   *  `maxChasePercent` before it is sent. */
  await(order: Order, maxChasePercent: number): void {
    if (order.price === null) return
    const watched = this.#open(order.mint)
    watched.waiting = [...watched.waiting, { order, ceiling: order.price * (1 + maxChasePercent / 100) }]
    const price = this.#session.price(order.mint)
    if (price !== undefined) this.#callOff(watched, price)
  }

  /** It is being sent, or over. */
  sent(order: Order): void {
    const token = this.#session.mints.intern(order.mint)
    const watched = this.#watched[token]
    if (watched === undefined || watched.waiting.length === 0) return
    watched.waiting = watched.waiting.filter((one) => one.order.id !== order.id)
    this.#leave(token, watched)
  }

  /** Whether a print of this token can change anything. */
  concerns(token: TokenId): boolean {
    return this.#watched[token] !== undefined
  }

  /** When a token that is watched was last traded, as far as it was seen: at the start, and at the end of a gap, nobody had looked. */
  printedAt(mint: string): Millis {
    return this.#watched[this.#session.mints.intern(mint)]?.printedAt ?? this.#session.now
  }

  /** Nobody looked up to now: all tokens, or those of these keys. */
  missed(keys: readonly string[]): void {
    const now = this.#session.now
    if (keys.includes('trades')) {
      for (const watched of this.#watched) if (watched !== undefined) watched.printedAt = now
      return
    }
    for (const key of keys) {
      const watched = this.#watched[this.#session.mints.find(key) ?? -1]
      if (watched !== undefined) watched.printedAt = now
    }
  }

  /** A print of this token may have moved its robust price. */
  check(token: TokenId): void {
    const watched = this.#watched[token]
    if (watched === undefined) return
    watched.printedAt = this.#session.now
    const price = this.#session.prices.at(token)
    if (price === undefined) return
    if (watched.waiting.length > 0) this.#callOff(watched, price)
    for (const position of watched.positions) this.#checkPosition(position, price)
  }

  #checkPosition(position: Position, price: number): void {
    if (position.tokens === 0n) return
    if (price > position.highPrice) {
      position.highPrice = price
      this.#marked.add(position)
    }
    if (position.exiting !== '') return
    const { exits, averagePrice, steps } = position
    const reason = dueExit(exits, averagePrice, position.highPrice, price)
    if (reason !== undefined) {
      this.#exits().sell(position, reason)
      return
    }
    if (exits.takeProfitSteps === undefined) return
    const taken = steps?.taken ?? 0
    const reached = stepsReached(exits, taken, averagePrice, price)
    if (reached > taken) this.#exits().step(position, reached, price)
  }

  /** Positions whose high-water mark rose since the last call; written with the tape, not as an output. */
  takeMarks(): Position[] {
    const marked = [...this.#marked]
    this.#marked.clear()
    return marked
  }

  #callOff(watched: Watched, price: number): void {
    for (const { order, ceiling } of watched.waiting) {
      if (!(price > ceiling)) continue
      this.sent(order) // said once: the answer comes as a report
      this.#session.emit({ kind: 'cancel', orderId: order.id, code: 'CHASED' })
    }
  }

  #open(mint: string): Watched {
    const token = this.#session.mints.intern(mint)
    const known = this.#watched[token]
    if (known !== undefined) return known
    const watched: Watched = { positions: [], waiting: [], printedAt: this.#session.now }
    setByToken(this.#watched, token, watched)
    return watched
  }

  #leave(token: TokenId, watched: Watched): void {
    if (watched.positions.length === 0 && watched.waiting.length === 0) setByToken(this.#watched, token, undefined)
  }
}

/** What hangs on the price of one token. Lists are replaced, never changed: an exit may come and go while they are looked through. */
interface Watched {
  positions: readonly Position[]
  waiting: readonly Waiting[]
  /** Its last sized print. */
  printedAt: Millis
}

interface Waiting {
  readonly order: Order
  readonly ceiling: number
}
