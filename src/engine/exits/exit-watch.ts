import type { Millis } from '../../base/units.ts'
import type { TokenId } from '../../market/block.ts'
import { type ByToken, setByToken } from '../../market/mints.ts'
import { PoolPrice } from '../../market/pool-price.ts'
import type { Owner } from '../accounting/by-mint.ts'
import { KnownWorth } from '../accounting/known-worth.ts'
import { MarkedPrices } from '../accounting/marked-prices.ts'
import { type Mark, markOf, type Position } from '../accounting/position.ts'
import type { EngineState } from '../engine-state.ts'
import type { Order } from '../order.ts'
import type { ConditionalOrder } from './conditional-order.ts'
import { ExitPrice } from './exit-price.ts'
import { Repeats } from './repeated-prints.ts'

/** Lists everything that a price may trigger: positions with exits, conditional orders, and unsent buys that are
 *  cancelled if the price rises too far. The lists are indexed by token number, so that a row of an unwatched token
 *  costs one array read. `ExitTriggers` acts on the lists. */
export class ExitWatch {
  readonly #state: EngineState
  readonly #watched: ByToken<Watched> = []
  readonly #held = new Map<Position, Held>()
  /** The last result of `find`, cached because several figures of a position are read one after the other. */
  #last: Held | undefined
  readonly #marked = new Set<Position>()
  readonly repeats: Repeats

  constructor(state: EngineState) {
    this.#state = state
    this.repeats = new Repeats(state)
  }

  /** Returns everything watched for a token; undefined if a print of the token cannot change anything. */
  at(token: TokenId): Watched | undefined {
    return this.#watched[token]
  }

  /** Subscribes to the position's mint and watches its price. A second call has no effect. */
  watch(position: Position): void {
    if (this.#held.has(position)) return
    const token = this.#state.mints.intern(position.mint)
    const watched = this.#open(token)
    const { now } = this.#state
    const since = { printedAt: now, pricedAt: now, heardAt: now }
    const parts = { exitPrice: new ExitPrice(), marked: new MarkedPrices(), worth: new KnownWorth() }
    const held: Held = { position, token, ...parts, price: Number.NaN, pool: undefined, ...since }
    this.#held.set(position, held)
    watched.held = watched.held.length === 0 ? [held] : [...watched.held, held]
    this.#state.wants.add(position.mint)
  }

  unwatch(position: Position): void {
    const held = this.#held.get(position)
    if (held === undefined) return
    this.#held.delete(position)
    this.#last = undefined
    const watched = this.#watched[held.token] as Watched
    watched.held = watched.held.filter((one) => one !== held)
    this.#leave(held.token, watched)
    this.#state.wants.drop(position.mint)
    this.#marked.delete(position)
  }

  /** Returns the conditional orders that wait for the price of a mint, oldest first. */
  ordersOf(mint: string): readonly ConditionalOrder[] {
    return this.#watched[this.#state.mints.intern(mint)]?.orders ?? []
  }

  watchOrder(order: ConditionalOrder): void {
    const watched = this.#open(this.#state.mints.intern(order.mint))
    watched.orders = [...watched.orders, order]
    this.#state.wants.add(order.mint)
  }

  dropOrder(order: ConditionalOrder): void {
    const token = this.#state.mints.intern(order.mint)
    const watched = this.#watched[token]
    if (watched?.orders.includes(order) !== true) return
    watched.orders = watched.orders.filter((other) => other !== order)
    this.#leave(token, watched)
    this.#state.wants.drop(order.mint)
  }

  /** Watches a buy that waits for its first request or for a retry. The buy is cancelled (CHASED) if the price rises by
   *  more than `maxChasePercent` above the order's price before the request is sent. */
  await(order: Order, maxChasePercent: number): void {
    if (order.price === null) return
    const watched = this.#open(this.#state.mints.intern(order.mint))
    watched.waiting = [...watched.waiting, { order, ceiling: order.price * (1 + maxChasePercent / 100) }]
    const price = this.#state.price(order.mint)
    if (price !== undefined) this.cancelChased(watched, price)
  }

  /** Stops watching a buy that `await` watches. Called when its request is being sent, and when the order has ended. */
  sent(order: Order): void {
    const token = this.#state.mints.intern(order.mint)
    const watched = this.#watched[token]
    if (watched === undefined || watched.waiting.length === 0) return
    const { waiting } = watched
    const isOnly = waiting.length === 1 && waiting[0]?.order.id === order.id
    watched.waiting = isOnly ? NONE : waiting.filter((one) => one.order.id !== order.id)
    this.#leave(token, watched)
  }

  cancelChased(watched: Watched, price: number): void {
    for (const { order, ceiling } of watched.waiting) {
      if (!(price > ceiling)) continue
      this.sent(order) // one cancellation is enough: the gateway answers with a report
      this.#state.emit({ kind: 'cancel', orderId: order.id, code: 'CHASED' })
    }
  }

  /** Returns the time of the last print above the minimum size. If the position opened, the engine started or a gap
   *  ended after that print, returns that later time. */
  printedAt(position: Position): Millis {
    return this.find(position)?.printedAt ?? this.#state.now
  }

  /** Returns the time at which the feed last gave a price. If the position opened, the engine started or a gap ended
   *  after that, returns that later time. */
  pricedAt(position: Position): Millis {
    return this.find(position)?.pricedAt ?? this.#state.now
  }

  /** Returns the time of the last print that gave a price; before the first, the time at which the watch began. In
   *  contrast to `pricedAt`, the end of a gap does not count. A print gives no price if there were too few prints since
   *  a gap, or if the unit is not proved. */
  heardAt(position: Position): Millis {
    return this.find(position)?.heardAt ?? this.#state.now
  }

  /** Starts collecting readings of the position's pool. */
  askPool(position: Position): void {
    const held = this.find(position)
    if (held !== undefined) held.pool ??= new PoolPrice(held.price)
  }

  /** Returns the readings of the pool since the token's last print; undefined if no reading was requested. */
  poolOf(position: Position): PoolPrice | undefined {
    return this.find(position)?.pool
  }

  /** Returns the price that the exits use, SOL a token, if it comes from readings of the pool; otherwise undefined. */
  poolPriceOf({ account, mint }: Pick<Position, 'account' | 'mint'>): number | undefined {
    const watched = this.#watched[this.#state.mints.find(mint) ?? -1]
    return watched?.held.find(({ position }) => position.account === account)?.pool?.at(this.#state.now)
  }

  /** Returns the price that the exits of an account's position use, SOL a token; undefined before the first print. */
  exitPriceOf({ account, mint }: Owner): number | undefined {
    const watched = this.#watched[this.#state.mints.find(mint) ?? -1]
    const price = watched?.held.find(({ position }) => position.account === account)?.price
    return price === undefined || Number.isNaN(price) ? undefined : price
  }

  find(position: Position): Held | undefined {
    if (this.#last?.position === position) return this.#last
    this.#last = this.#held.get(position)
    return this.#last
  }

  /** Forgets prices after a gap: those of the mints in `keys`, or all prices if `trades` is one of the keys. */
  missed(keys: readonly string[]): void {
    const isAll = keys.includes('trades')
    const missed = isAll ? this.#watched : keys.map((key) => this.#watched[this.#state.mints.find(key) ?? -1])
    for (const watched of missed)
      for (const held of watched?.held ?? []) {
        held.printedAt = held.pricedAt = this.#state.now
        held.exitPrice.forget()
        held.price = Number.NaN
      }
  }

  /** Records that the position's highest price, or its best or worst profit, changed. */
  mark(position: Position): void {
    this.#marked.add(position)
  }

  /** Returns the positions whose highest price, or best or worst profit, changed since the last call. The journal
   *  writes these figures together with the tape instead of as outputs. */
  takeMarks(): Mark[] {
    const marked = [...this.#marked].map(markOf)
    this.#marked.clear()
    return marked
  }

  #open(token: TokenId): Watched {
    const known = this.#watched[token]
    if (known !== undefined) return known
    const watched: Watched = { held: NONE, waiting: NONE, orders: NONE }
    this.#state.quiet.remove(token)
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

/** The empty list that all tokens share. Sharing is safe, because the lists of `Watched` are replaced and never
 *  changed. */
const NONE: readonly never[] = []

/** Everything that the price of one token may trigger. Lists are replaced and never changed, because exits may be added
 *  and removed while a list is iterated. */
export interface Watched {
  held: readonly Held[]
  waiting: readonly Waiting[]
  orders: readonly ConditionalOrder[]
}

/** A watched position, with the prices seen since the watch began. Earlier prices would be known only if another bot
 *  had watched the token before. They do not count, so that one bot does not influence the exits of another. */
export interface Held {
  readonly position: Position
  readonly token: TokenId
  readonly exitPrice: ExitPrice
  readonly marked: MarkedPrices
  readonly worth: KnownWorth
  /** Price of the exits as of the last print or pool reading; NaN before the first print or reading. It is never
   *  undefined, so that a print allocates no memory. */
  price: number
  /** Time of the last print above the minimum size, of the end of a gap, or of the beginning of the watch: the latest
   *  of these. */
  printedAt: Millis
  /** Like `printedAt`, but a print counts only if it gave a price. */
  pricedAt: Millis
  /** Time of the last print above the minimum size that gave a price; before the first, the time at which the watch
   *  began. */
  heardAt: Millis
  /** Readings of the pool since the last print; undefined if none was requested. */
  pool: PoolPrice | undefined
}

/** An unsent buy, and the price above which it is cancelled. */
interface Waiting {
  readonly order: Order
  readonly ceiling: number
}
