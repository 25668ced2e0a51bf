import type { ErrorCode } from '../../base/errors.ts'
import { type Millis, wholeTokens } from '../../base/units.ts'
import type { Position } from '../accounting/position.ts'
import type { EngineState } from '../engine-state.ts'
import { isOpen, type OrderState } from '../order.ts'
import type { Client, OrderFactory } from '../order-factory.ts'
import { readSell } from '../requests.ts'
import type { OrderView, Placed } from '../strategy.ts'
import { type Condition, type ConditionalOrder, conditionalView, isOver, ordersOf } from './conditional.ts'
import type { ConditionalRequest } from './conditional-request.ts'
import type { ExitWatch } from './exit-watch.ts'
import type { Exits } from './position-exits.ts'

/** Of one bot, waiting at once. */
const MOST_WAITING = 2_000
/** A limit buy whose orders fail so often ends. */
const MOST_TRIES = 5
const RETRY_MS = 1_000
/** The last instalment of a schedule is looked at again after so long while the order of a rival is out. */
const HELD_BACK_MS = 5_000

/** The bot that placed a conditional order. */
interface ConditionalOwner extends Client {
  /** Its position in a mint began. */
  refresh(mint: string): unknown
  hear(order: OrderView): void
}

/** Finds the bot that placed a conditional order; undefined for a bot that is not configured now. */
interface ConditionalOwners {
  of(bot: string): ConditionalOwner | undefined
}

/** Conditional orders of all bots: limit, stop, one-cancels-the-other, DCA. What they buy passes the desk as any buy
 *  does; what they sell becomes an exit of the position, which is seen through. */
export class Conditionals {
  readonly #session: EngineState
  readonly #desk: OrderFactory
  readonly #watch: ExitWatch
  readonly #exits: Exits
  readonly #owners: ConditionalOwners
  readonly #open = new OpenConditionals()
  #next = 1

  constructor(session: EngineState, desk: OrderFactory, watch: ExitWatch, exits: Exits, owners: ConditionalOwners) {
    this.#session = session
    this.#desk = desk
    this.#watch = watch
    this.#exits = exits
    this.#owners = owners
  }

  restore(orders: readonly ConditionalOrder[], next: number): void {
    this.#next = next
    for (const one of orders) {
      const order = { ...one }
      this.#keep(order)
      this.#lookAfter(order)
    }
  }

  /** Open ones of a bot, oldest first. */
  of({ settings: { name, account } }: Pick<Client, 'settings'>): ConditionalOrder[] {
    return this.#open.ofBot({ bot: name, account: account.id })
  }

  place(client: Client, mint: string, request: ConditionalRequest): Placed {
    const { settings } = client
    const { now } = this.#session
    if (this.of(client).length >= MOST_WAITING)
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
  cancel(client: Client, id: string): boolean {
    const order = this.#open.get(id)
    if (order === undefined || this.#ownerOf(order) !== client || order.state !== 'waiting') return false
    return this.#end(order, 'cancelled', 'CANCELLED')
  }

  /** An operator sells what is held, so that nothing is bought behind his back. */
  cancelBuys(which: (order: ConditionalOrder) => boolean): void {
    for (const order of this.#open.all())
      if (order.action.side === 'buy' && which(order)) this.#endAndTell(order, 'cancelled', 'CANCELLED')
  }

  /** A new price of its token. */
  priced(order: ConditionalOrder, price: number): void {
    const { when, state, notBefore, expiresAt } = order
    const { now } = this.#session
    if (state !== 'waiting' || when.kind === 'every' || now < notBefore) return
    if (expiresAt !== null && now >= expiresAt) {
      // Its timer counts the time that the machine is awake, and the clock may be set.
      this.#endAndTell(order, 'expired', '')
      return
    }
    if (when.kind === 'below' ? !(price <= when.price) : !(price >= when.price)) return
    if (this.#open.isHeldBack(order)) return
    if (order.action.side === 'sell') this.#sell(order, price)
    else this.#buy(order)
  }

  /** The position whose tokens they were to sell is gone. Its strategy is told at once and may buy again, so whoever
   *  closes one says so last. */
  positionClosed({ account, mint }: Position): void {
    for (const order of this.#watch.ordersOf(mint))
      if (order.action.side === 'sell' && order.account === account) this.#endAndTell(order, 'cancelled', 'NO_POSITION')
  }

  /** An instalment is due, or its time is over. */
  timer(id: string): void {
    const order = this.#open.get(id)
    if (order === undefined) return
    const { when } = order
    if (when.kind === 'every' && this.#ownerOf(order) !== undefined) this.#instalment(order, when)
    else if (order.state === 'waiting') this.#endAndTell(order, 'expired', '')
    // Its order is out: looked at again when that has ended.
  }

  /** What became of an order: a fill counts whenever it comes, of whichever of its orders. */
  report(orderId: string, state: OrderState, code: ErrorCode | ''): void {
    const order = this.#open.behind(orderId)
    if (order === undefined) return
    const isLast = order.orderId === orderId
    if (state === 'filled') {
      if (!isLast) this.#callOff(order)
      this.#fulfil(order)
    } else if (order.state === 'working' && isLast && !isOpen(state)) this.#failed(order, code)
  }

  #failed(order: ConditionalOrder, code: ErrorCode | ''): void {
    const { now } = this.#session
    if (code === 'CANCELLED') this.#endAndTell(order, 'cancelled', code)
    else if (order.tries >= MOST_TRIES) this.#endAndTell(order, 'failed', code)
    else if (order.expiresAt !== null && order.expiresAt <= now) this.#endAndTell(order, 'expired', code)
    else {
      Object.assign(order, { state: 'waiting', code, notBefore: now + RETRY_MS * 2 ** (order.tries - 1) })
      this.#open.set(order)
      this.#emit(order)
    }
  }

  /** It executed, and so the others of its name do not. */
  #fulfil(order: ConditionalOrder): void {
    const rivals = this.#open.rivals(order)
    for (const rival of rivals) this.#callOff(rival)
    const isDone = this.#end(order, 'done', '')
    const ended = rivals.filter((rival) => this.#end(rival, 'cancelled', 'CANCELLED'))
    for (const one of isDone ? [order, ...ended] : ended) this.#tell(one)
  }

  /** Its order, where that has not been sent yet. */
  #callOff({ state, orderId }: ConditionalOrder): void {
    if (state === 'working' && this.#session.book.orders.get(orderId)?.state === 'accepted')
      this.#session.emit({ kind: 'cancel', orderId, code: 'CANCELLED' })
  }

  #buy(order: ConditionalOrder): void {
    const placed = this.#tryBuy(order)
    if (placed === undefined) return
    if (!placed.ok) {
      this.#refused(order, placed.code, placed.reason)
      return
    }
    if (order.orderId !== '') order.earlierOrders = [...(order.earlierOrders ?? []), order.orderId]
    Object.assign(order, { state: 'working', code: '', orderId: placed.id, tries: order.tries + 1 })
    this.#open.set(order)
    this.#emit(order)
  }

  #tryBuy(order: ConditionalOrder): Placed | undefined {
    const { mint, action } = order
    const owner = this.#ownerOf(order)
    // The bot is not configured now: the order waits.
    if (owner === undefined || action.side !== 'buy') return undefined
    const placed = this.#desk.buy(owner, mint, action.options)
    if (placed.ok) owner.refresh(mint)
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
    const isHeldBack = this.#open.isHeldBack(order)
    if (isHeldBack && when.left <= 1) {
      // With its last one it would end what may have executed just now.
      this.#wake(order, this.#session.now + Math.min(when.everyMs, HELD_BACK_MS))
      return
    }
    const price = this.#session.price(order.mint)
    const isDear = when.maxPrice !== null && price !== undefined && price > when.maxPrice
    const placed = isDear || isHeldBack ? undefined : this.#tryBuy(order)
    if (placed?.ok === false) this.#refused(order, placed.code, placed.reason)
    if (placed?.ok === true) Object.assign(order, { code: '', orderId: placed.id, tries: order.tries + 1 })
    order.when = { ...when, left: when.left - 1 }
    if (when.left <= 1 && order.tries === 0) this.#endAndTell(order, 'failed', order.code)
    else if (when.left <= 1) this.#fulfil(order)
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

  /** A bot that has another wallet now is another one. */
  #ownerOf({ account, bot }: Pick<ConditionalOrder, 'account' | 'bot'>): ConditionalOwner | undefined {
    const owner = this.#owners.of(bot)
    return owner?.settings.account.id === account ? owner : undefined
  }

  #endAndTell(order: ConditionalOrder, state: ConditionalOrder['state'], code: ErrorCode | ''): void {
    if (this.#end(order, state, code)) this.#tell(order)
  }

  #tell(order: ConditionalOrder): void {
    this.#ownerOf(order)?.hear(conditionalView(order))
  }

  /** False where it had ended before. */
  #end(order: ConditionalOrder, state: ConditionalOrder['state'], code: ErrorCode | ''): boolean {
    if (isOver(order.state)) return false
    Object.assign(order, { state, code })
    this.#open.delete(order)
    this.#watch.dropOrder(order)
    this.#session.timers.clearExit({ bot: order.bot, mint: order.id }, 'due')
    this.#emit(order)
    return true
  }

  #keep(order: ConditionalOrder): void {
    this.#open.set(order)
    this.#watch.watchOrder(order)
  }

  /** None is without its timer, though a bot of this name with another wallet may have had that meanwhile. */
  #lookAfter(order: ConditionalOrder): void {
    const { bot, id, when, expiresAt } = order
    const at = when.kind === 'every' ? this.#session.now + when.everyMs : expiresAt
    const { timers } = this.#session
    if (at === null || this.#ownerOf(order) === undefined) return
    if (timers.findExit({ bot, mint: id }, 'due') === undefined) this.#wake(order, at)
  }

  #wake({ bot, id }: ConditionalOrder, at: Millis): void {
    this.#session.timers.setExit({ bot, mint: id }, 'due', at)
  }

  #emit(order: ConditionalOrder): void {
    this.#session.emit({ kind: 'conditional', order: { ...order } })
  }
}

/** Conditional orders that have not ended, of all bots. */
class OpenConditionals {
  readonly #byId = new Map<string, ConditionalOrder>()
  /** The one that became this order. */
  readonly #byOrder = new Map<string, ConditionalOrder>()
  /** Those whose order is out: few, so that a print does not look through all that wait. */
  readonly #working = new Set<ConditionalOrder>()

  /** A new one, or one whose state or order is another now. */
  set(order: ConditionalOrder): void {
    this.#byId.set(order.id, order)
    if (order.state === 'working') this.#working.add(order)
    else this.#working.delete(order)
    for (const orderId of ordersOf(order)) this.#byOrder.set(orderId, order)
  }

  delete(order: ConditionalOrder): void {
    this.#byId.delete(order.id)
    this.#working.delete(order)
    for (const orderId of ordersOf(order)) this.#byOrder.delete(orderId)
  }

  get(id: string): ConditionalOrder | undefined {
    return this.#byId.get(id)
  }

  behind(orderId: string): ConditionalOrder | undefined {
    return this.#byOrder.get(orderId)
  }

  /** Oldest first; a copy. */
  all(): ConditionalOrder[] {
    return [...this.#byId.values()]
  }

  /** A bot that has another wallet now is another one. */
  ofBot({ account, bot }: Pick<ConditionalOrder, 'account' | 'bot'>): ConditionalOrder[] {
    return this.all().filter((order) => order.bot === bot && order.account === account)
  }

  /** Others of the same bot and name. */
  rivals(order: ConditionalOrder): ConditionalOrder[] {
    const { oneCancelsOther } = order
    if (oneCancelsOther === '') return []
    return this.ofBot(order).filter((other) => other !== order && other.oneCancelsOther === oneCancelsOther)
  }

  /** While the order of a rival is out. */
  isHeldBack({ account, bot, oneCancelsOther }: ConditionalOrder): boolean {
    if (oneCancelsOther === '') return false
    for (const other of this.#working)
      if (other.oneCancelsOther === oneCancelsOther && other.bot === bot && other.account === account) return true
    return false
  }
}
