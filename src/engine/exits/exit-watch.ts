import type { Millis } from '../../base/units.ts'
import { RowKind, type TokenId } from '../../market/block.ts'
import { type ByToken, setByToken } from '../../market/mints.ts'
import { PoolPrice } from '../../market/pool-price.ts'
import { isWrittenOff, type Position } from '../accounting/position.ts'
import type { EngineState } from '../engine-state.ts'
import type { Order } from '../order.ts'
import type { ConditionalOrder } from './conditional.ts'
import { ExitPrice } from './exit-price.ts'
import { DEFAULT_EXIT_WINDOW, dueExit, stepsReached } from './exit-rules.ts'

/** What a price makes happen to positions. */
export interface ExitActions {
  /** Sends a full exit. */
  sell(position: Position, reason: string): void
  /** Further steps of its take-profit were reached: `taken` in all by now. */
  step(position: Position, taken: number, price: number): void
  /** Somebody else has sold what this one could not. */
  seenSold(position: Position): void
}

/** What a price makes happen to conditional orders. */
export interface OrderActions {
  priced(order: ConditionalOrder, price: number): void
}

/** Everything that acts on a price by itself: exits of open positions, and buys that wait while the price runs away. By
 *  token number, so that a row of a token that nobody holds costs one array read. */
export class ExitWatch {
  readonly #session: EngineState
  readonly #watched: ByToken<Watched> = []
  readonly #marked = new Set<Position>()
  readonly #exits: () => ExitActions
  readonly #orders: () => OrderActions
  readonly repeats: Repeats

  constructor(session: EngineState, exits: () => ExitActions, orders: () => OrderActions) {
    this.#session = session
    this.repeats = new Repeats(session)
    this.#exits = exits
    this.#orders = orders
  }

  /** From the moment a position exists: its mint is subscribed and its price watched. */
  watch(position: Position): void {
    const watched = this.#open(position.mint)
    if (watched.held.some((one) => one.position === position)) return
    const { now } = this.#session
    const since = { printedAt: now, pricedAt: now, heardAt: now }
    const exitPrice = new ExitPrice()
    const held: Held = { position, exitPrice, price: Number.NaN, pool: undefined, ...since }
    watched.held = watched.held.length === 0 ? [held] : [...watched.held, held]
    this.#session.wants.add(position.mint)
  }

  unwatch(position: Position): void {
    const token = this.#session.mints.intern(position.mint)
    const watched = this.#watched[token]
    if (watched?.held.some((one) => one.position === position) !== true) return
    watched.held = watched.held.filter((one) => one.position !== position)
    this.#leave(token, watched)
    this.#session.wants.drop(position.mint)
    this.#marked.delete(position)
  }

  /** Conditional orders that wait for its price, oldest first. */
  ordersOf(mint: string): readonly ConditionalOrder[] {
    return this.#watched[this.#session.mints.intern(mint)]?.orders ?? []
  }

  watchOrder(order: ConditionalOrder): void {
    const watched = this.#open(order.mint)
    watched.orders = [...watched.orders, order]
    this.#session.wants.add(order.mint)
  }

  dropOrder(order: ConditionalOrder): void {
    const token = this.#session.mints.intern(order.mint)
    const watched = this.#watched[token]
    if (watched?.orders.includes(order) !== true) return
    watched.orders = watched.orders.filter((other) => other !== order)
    this.#leave(token, watched)
    this.#session.wants.drop(order.mint)
  }

  /** A buy that waits for its request, for the first time or once more: called off when the price has run up by more
   *  than `maxChasePercent` before it is sent. */
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
    const { waiting } = watched
    const isOnly = waiting.length === 1 && waiting[0]?.order.id === order.id
    watched.waiting = isOnly ? NOBODY : waiting.filter((one) => one.order.id !== order.id)
    this.#leave(token, watched)
  }

  /** Whether a print of this token can change anything. */
  concerns(token: TokenId): boolean {
    return this.#watched[token] !== undefined
  }

  /** When the token of a position was last traded, as far as it was seen: when it opened, at the start, and at the end
   *  of a gap, nobody had looked. */
  printedAt(position: Position): Millis {
    return this.#find(position)?.printedAt ?? this.#session.now
  }

  /** When the feed last gave its price: when it opened, at the start, and at the end of a gap, nobody could know it. */
  pricedAt(position: Position): Millis {
    return this.#find(position)?.pricedAt ?? this.#session.now
  }

  /** When the feed last gave its price, though it was interrupted since: what was not seen was not heard of either.
   *  Prints that give none, too few since a gap or of an unproved unit, are silence. */
  heardAt(position: Position): Millis {
    return this.#find(position)?.heardAt ?? this.#session.now
  }

  /** Its pool is about to be read. */
  askPool(position: Position): void {
    const held = this.#find(position)
    if (held !== undefined) held.pool ??= new PoolPrice(held.price)
  }

  /** What was read of its pool since its token was last traded; undefined: nobody asked. */
  poolOf(position: Position): PoolPrice | undefined {
    return this.#find(position)?.pool
  }

  /** The price that its exits go by, where that was read of its pool. */
  poolPriceOf({ account, mint }: Pick<Position, 'account' | 'mint'>): number | undefined {
    const watched = this.#watched[this.#session.mints.find(mint) ?? -1]
    return watched?.held.find(({ position }) => position.account === account)?.pool?.at(this.#session.now)
  }

  /** Its pool was read: until its token is traded again, this is what its exits go by. False while the next reading is
   *  needed to say whether something is due. */
  readPool(position: Position, pool: PoolPrice, price: number, slot: number): boolean {
    const held = this.#find(position)
    if (held === undefined) return true
    const isNew = pool.take(price, slot, this.#session.now)
    const { middle } = pool
    if (middle === undefined) return false
    if (isNew) {
      held.price = middle
      held.exitPrice.restart(middle, this.#session.now)
      this.#checkPosition(position, middle)
      this.#checkOrders(this.#ordersOnSaleOf(position), [held], middle)
    }
    return position.exiting !== '' || !this.#isDue(position, price)
  }

  /** Whether something would be due at a price that is not believed yet. */
  #isDue({ exits, averagePrice, highPrice, steps }: Position, price: number): boolean {
    const taken = steps?.taken ?? 0
    return (
      dueExit(exits, averagePrice, Math.max(highPrice, price), price) !== undefined ||
      stepsReached(exits, taken, averagePrice, price) > taken
    )
  }

  #ordersOnSaleOf({ account, mint }: Position): ConditionalOrder[] {
    return this.ordersOf(mint).filter((order) => order.action.side === 'sell' && order.account === account)
  }

  #find(position: Position): Held | undefined {
    const watched = this.#watched[this.#session.mints.find(position.mint) ?? -1]
    return watched?.held.find((one) => one.position === position)
  }

  /** Nobody looked up to now: at any token, or at those of these keys. */
  missed(keys: readonly string[]): void {
    const isAll = keys.includes('trades')
    const missed = isAll ? this.#watched : keys.map((key) => this.#watched[this.#session.mints.find(key) ?? -1])
    for (const watched of missed)
      for (const held of watched?.held ?? []) {
        held.printedAt = held.pricedAt = this.#session.now
        held.exitPrice.forget()
        held.price = Number.NaN
      }
  }

  /** A print of this token may have moved its robust price. */
  check(token: TokenId): void {
    const watched = this.#watched[token]
    if (watched === undefined) return
    const { block, row, now, prices } = this.#session
    const price = prices.at(token)
    if (price !== undefined && watched.waiting.length > 0) this.#callOff(watched, price)
    for (const held of watched.held) {
      held.printedAt = now
      if (block?.kind[row] === RowKind.sell && isWrittenOff(held.position)) this.#exits().seenSold(held.position)
      if (price === undefined || block === undefined) continue
      held.pricedAt = held.heardAt = now
      held.pool = undefined
      held.exitPrice.fold((block.amount[row] as number) / (block.size[row] as number), price, now)
      const window = held.position.exits.windowPrints ?? DEFAULT_EXIT_WINDOW
      held.price = held.exitPrice.of(window, price, now)
      this.#checkPosition(held.position, held.price)
    }
    if (price !== undefined && watched.orders.length > 0) this.#checkOrders(watched.orders, watched.held, price)
  }

  /** What is bought is as near as can be; what is sold goes by the price of the exits. */
  #checkOrders(orders: readonly ConditionalOrder[], held: readonly Held[], price: number): void {
    for (const order of orders) {
      const own =
        order.action.side === 'buy' ? undefined : held.find(({ position }) => position.account === order.account)
      this.#orders().priced(order, own === undefined || Number.isNaN(own.price) ? price : own.price)
    }
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
    const watched: Watched = { held: NOBODY, waiting: NOBODY, orders: NOBODY }
    this.repeats.watch(token)
    setByToken(this.#watched, token, watched)
    return watched
  }

  #leave(token: TokenId, watched: Watched): void {
    if (watched.held.length + watched.waiting.length + watched.orders.length > 0) return
    setByToken(this.#watched, token, undefined)
    this.repeats.forget(token)
  }
}

/** Lists are replaced, never changed, so that one that is empty serves all. */
const NOBODY: readonly never[] = []

/** What hangs on the price of one token. Lists are replaced, never changed: an exit may come and go while they are
 *  looked through. */
export interface Watched {
  held: readonly Held[]
  waiting: readonly Waiting[]
  orders: readonly ConditionalOrder[]
}

/** What is known of prints since the position is watched: of no more, so that bots of one engine do not change what
 *  another one's exits do. */
export interface Held {
  readonly position: Position
  readonly exitPrice: ExitPrice
  /** As of the last print, or reading of its pool; NaN before the first. A number always, so that no print allocates
   *  one. */
  price: number
  /** The last sized print, or the end of a gap. */
  printedAt: Millis
  /** The last sized print that gave a price, or the end of a gap. */
  pricedAt: Millis
  /** The last sized print that gave a price. */
  heardAt: Millis
  /** What was read of its pool since. */
  pool: PoolPrice | undefined
}

interface Waiting {
  readonly order: Order
  readonly ceiling: number
}

/** What is behind the newest by less only came in another order. */
const OUT_OF_ORDER_MS = 10000
/** A feed that shows nothing else of a token for longer repeats nothing: what was taken for the newest had a wrong
 *  stamp. */
const LONGEST_MS = 30000

/** Prints of watched tokens that the feed shows anew, as it may after a reconnect: older than what was seen before, and
 *  so no price of now. By the feed's own clock, since ours may be wrong: a feed that falls behind shows everything
 *  late, and repeats nothing. */
export class Repeats {
  readonly #session: EngineState
  /** Of all that was looked at. */
  #newest: Millis = Number.NEGATIVE_INFINITY
  /** Of what came before the start. */
  #warmedTo: Millis = Number.NEGATIVE_INFINITY
  readonly #seen: ByToken<Seen> = []

  constructor(session: EngineState) {
    this.#session = session
  }

  /** From now on the token is watched: what is older than the row at hand, or than what was seen of others, is of
   *  before. */
  watch(token: TokenId): void {
    this.#note()
    setByToken(this.#seen, token, { newest: this.#newest, repeatsSince: Number.POSITIVE_INFINITY })
  }

  forget(token: TokenId): void {
    setByToken(this.#seen, token, undefined)
  }

  /** The row at hand is one of before the start. */
  warm(): void {
    this.#note()
    this.#warmedTo = this.#newest
  }

  /** Whether the row at hand, of a token that is watched, is one. */
  isRepeat(token: TokenId): boolean {
    const at = this.#note()
    const { now } = this.#session
    const seen = this.#seen[token] as Seen
    const newest = Math.max(seen.newest, this.#warmedTo)
    if (at < newest - OUT_OF_ORDER_MS) {
      seen.repeatsSince = Math.min(seen.repeatsSince, now)
      if (now - seen.repeatsSince < LONGEST_MS) return true
      this.#warmedTo = this.#newest = seen.newest = at
    } else if (at > newest) seen.newest = at
    seen.repeatsSince = Number.POSITIVE_INFINITY
    return false
  }

  /** The row at hand was seen; when it was stamped. */
  #note(): Millis {
    const at = this.#session.stampedAt()
    if (at > this.#newest) this.#newest = at
    return at
  }
}

interface Seen {
  newest: Millis
  /** Infinity while what comes is new. */
  repeatsSince: Millis
}
