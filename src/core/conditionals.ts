import { type Condition, type ConditionalOrder, isOver } from './conditional.ts'
import type { ConditionalRequest } from './conditional-request.ts'
import type { Client, Desk } from './desk.ts'
import type { ErrorCode } from './errors.ts'
import type { ExitWatch } from './exit-watch.ts'
import { isOpen, type Order, type OrderState } from './order.ts'
import type { Exits } from './position-exits.ts'
import { readSell } from './requests.ts'
import type { Session } from './session.ts'
import type { OrderView, Placed } from './strategy.ts'
import { type Millis, wholeTokens } from './units.ts'
import { conditionalView } from './views.ts'

/** Of one bot, waiting at once. */
const MOST_WAITING = 2_000
/** A limit buy whose orders fail so often ends. */
const MOST_TRIES = 5
const RETRY_MS = 1_000

/** Whose they are. */
interface Owner extends Client {
  /** Its position in a mint began. */
  refresh(mint: string): unknown
  hear(order: OrderView): void
}

/** Conditional orders of all bots: limit, stop, one-cancels-the-other, DCA. What they buy passes the desk as any buy does; what they sell
 *  becomes an exit of the position, which is seen through. */
export class Conditionals {
  readonly #session: Session
  readonly #desk: Desk
  readonly #watch: ExitWatch
  readonly #exits: Exits
  readonly #traderOf: (bot: string) => Owner | undefined
  readonly #open = new Map<string, ConditionalOrder>()
  /** The one that became this order. */
  readonly #byOrder = new Map<string, ConditionalOrder>()
  #next = 1

  constructor(
    session: Session,
    desk: Desk,
    watch: ExitWatch,
    exits: Exits,
    traderOf: (bot: string) => Owner | undefined,
  ) {
    this.#session = session
    this.#desk = desk
    this.#watch = watch
    this.#exits = exits
    this.#traderOf = traderOf
  }

  restore(orders: readonly ConditionalOrder[], next: number): void {
    this.#next = next
    for (const order of orders) this.#keep({ ...order })
  }

  /** Open ones of a bot, oldest first. */
  of(bot: string): ConditionalOrder[] {
    return [...this.#open.values()].filter((order) => order.bot === bot)
  }

  place({ settings }: Client, mint: string, request: ConditionalRequest): Placed {
    const { now } = this.#session
    if (this.of(settings.name).length >= MOST_WAITING)
      return { ok: false, code: 'REQUEST_INVALID', reason: `${MOST_WAITING} conditional orders are waiting already` }
    const { when, action, reason, forMs, oneCancelsOther } = request
    const order: ConditionalOrder = {
      ...{ id: `c${this.#next++}`, time: now, account: settings.account.id, bot: settings.name, mint },
      ...{ when, action, reason, oneCancelsOther, expiresAt: forMs === null ? null : now + forMs },
      ...{ state: 'waiting', code: '', orderId: '', tries: 0, notBefore: 0 },
    }
    this.#keep(order)
    this.#emit(order)
    // The first instalment of a schedule goes at once, as an input of its own.
    if (when.kind === 'every') this.#wake(order, now)
    else if (order.expiresAt !== null) this.#wake(order, order.expiresAt)
    return { ok: true, id: order.id }
  }

  /** By its strategy, which hears no more of it; false when it is not waiting any more. */
  cancel(bot: string, id: string): boolean {
    const order = this.#open.get(id)
    if (order === undefined || order.bot !== bot || order.state !== 'waiting') return false
    this.#end(order, 'cancelled', 'CANCELLED')
    return true
  }

  /** An operator sells what is held, so that nothing is bought behind his back. */
  cancelBuys(which: (order: ConditionalOrder) => boolean): void {
    for (const order of [...this.#open.values()])
      if (order.action.side === 'buy' && which(order)) this.#endAndTell(order, 'cancelled', 'CANCELLED')
  }

  /** A new price of its token. */
  priced(order: ConditionalOrder, price: number): void {
    const { when, state, notBefore, oneCancelsOther } = order
    if (state !== 'waiting' || when.kind === 'every' || this.#session.now < notBefore) return
    if (when.kind === 'below' ? !(price <= when.price) : !(price >= when.price)) return
    if (oneCancelsOther !== '' && this.#rivals(order).some((rival) => rival.state === 'working')) return
    if (order.action.side === 'sell') this.#sell(order, price)
    else this.#buy(order)
  }

  /** The position whose tokens it was to sell is gone. */
  positionClosed(order: ConditionalOrder): void {
    if (order.action.side === 'sell') this.#endAndTell(order, 'cancelled', 'NO_POSITION')
  }

  /** An instalment is due, or its time is over. */
  timer(id: string): void {
    const order = this.#open.get(id)
    if (order === undefined) return
    const { when } = order
    if (when.kind === 'every') this.#instalment(order, when)
    else if (order.state === 'waiting') this.#endAndTell(order, 'expired', '')
    // Its order is out: looked at again when that has ended.
  }

  /** What became of an order. */
  report({ id }: Order, state: OrderState, code: ErrorCode | ''): void {
    const order = this.#byOrder.get(id)
    if (order === undefined || order.state !== 'working' || order.orderId !== id) return
    if (state === 'filled') this.#fulfil(order)
    else if (!isOpen(state)) this.#failed(order, code)
  }

  #failed(order: ConditionalOrder, code: ErrorCode | ''): void {
    const { now } = this.#session
    this.#byOrder.delete(order.orderId)
    if (order.tries >= MOST_TRIES) this.#endAndTell(order, 'failed', code)
    else if (order.expiresAt !== null && order.expiresAt <= now) this.#endAndTell(order, 'expired', code)
    else {
      Object.assign(order, { state: 'waiting', code, notBefore: now + RETRY_MS * 2 ** (order.tries - 1) })
      this.#emit(order)
    }
  }

  /** It executed, and so the others of its name do not. */
  #fulfil(order: ConditionalOrder): void {
    const rivals = order.oneCancelsOther === '' ? [] : this.#rivals(order)
    this.#endAndTell(order, 'done', '')
    for (const rival of rivals) this.#endAndTell(rival, 'cancelled', 'CANCELLED')
  }

  #buy(order: ConditionalOrder): void {
    const placed = this.#tryBuy(order)
    if (placed === undefined) return
    if (!placed.ok) {
      this.#refused(order, placed.code, placed.reason)
      return
    }
    Object.assign(order, { state: 'working', code: '', orderId: placed.id, tries: order.tries + 1 })
    this.#byOrder.set(placed.id, order)
    this.#emit(order)
  }

  #tryBuy({ bot, mint, action }: ConditionalOrder): Placed | undefined {
    const trader = this.#traderOf(bot)
    // Its bot is not configured now: it waits.
    if (trader === undefined || action.side !== 'buy') return undefined
    const placed = this.#desk.buy(trader, mint, action.options)
    if (placed.ok) trader.refresh(mint)
    return placed
  }

  /** What is due stays on record with the position, as its exits do. */
  #sell(order: ConditionalOrder, price: number): void {
    const { account, bot, mint, action } = order
    const position = this.#session.book.positions.get({ account, mint })
    if (action.side !== 'sell' || position === undefined || position.bot !== bot || position.tokens === 0n) return
    const request = readSell(action.options, position)
    if ('code' in request) return // what is left is less than what it names
    const reason = `${order.id} at ${price.toPrecision(6)}: ${order.reason}`
    this.#fulfil(order)
    const { size } = request
    if (size.kind === 'percent') this.#exits.sellPart(position, size.percent, reason)
    else if (size.kind === 'tokens') {
      const share = wholeTokens(size.tokens, size.decimals) / wholeTokens(position.tokens, position.decimals)
      this.#exits.sellPart(position, share * 100, reason)
    } else this.#exits.sell(position, reason)
  }

  /** One that is refused is not made up for. */
  #instalment(order: ConditionalOrder, when: Extract<Condition, { kind: 'every' }>): void {
    const price = this.#session.price(order.mint)
    const isDear = when.maxPrice !== null && price !== undefined && price > when.maxPrice
    const placed = isDear ? undefined : this.#tryBuy(order)
    if (placed?.ok === false) this.#refused(order, placed.code, placed.reason)
    if (placed?.ok === true) Object.assign(order, { code: '', orderId: placed.id, tries: order.tries + 1 })
    order.when = { ...when, left: when.left - 1 }
    if (when.left <= 1) this.#fulfil(order)
    else {
      this.#emit(order)
      this.#wake(order, this.#session.now + when.everyMs)
    }
  }

  #refused(order: ConditionalOrder, code: ErrorCode, reason: string): void {
    // Said once while it goes on being so.
    if (order.code === code) return
    order.code = code
    const { bot, mint, id } = order
    this.#session.emit({ kind: 'refused', bot, mint, code, reason: `${id}: ${reason}` })
  }

  /** Others of the same bot and name. */
  #rivals({ id, bot, oneCancelsOther }: ConditionalOrder): ConditionalOrder[] {
    return this.of(bot).filter((other) => other.id !== id && other.oneCancelsOther === oneCancelsOther)
  }

  #endAndTell(order: ConditionalOrder, state: ConditionalOrder['state'], code: ErrorCode | ''): void {
    this.#end(order, state, code)
    this.#traderOf(order.bot)?.hear(conditionalView(order))
  }

  #end(order: ConditionalOrder, state: ConditionalOrder['state'], code: ErrorCode | ''): void {
    if (isOver(order.state)) return
    Object.assign(order, { state, code })
    this.#open.delete(order.id)
    this.#byOrder.delete(order.orderId)
    this.#watch.dropOrder(order)
    this.#session.timers.clearExit({ bot: order.bot, mint: order.id }, 'due')
    this.#emit(order)
  }

  #keep(order: ConditionalOrder): void {
    this.#open.set(order.id, order)
    if (order.state === 'working') this.#byOrder.set(order.orderId, order)
    this.#watch.watchOrder(order)
  }

  #wake({ bot, id }: ConditionalOrder, at: Millis): void {
    this.#session.timers.setExit({ bot, mint: id }, 'due', at)
  }

  #emit(order: ConditionalOrder): void {
    this.#session.emit({ kind: 'conditional', order: { ...order } })
  }
}
