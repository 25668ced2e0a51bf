import type { ErrorCode } from '../../base/errors.ts'
import { type Millis, wholeTokens } from '../../base/units.ts'
import type { Position } from '../accounting/position.ts'
import { readSell } from '../buy-and-sell-options.ts'
import type { EngineState } from '../engine-state.ts'
import { isOpen, type OrderState } from '../order.ts'
import type { Client, OrderFactory } from '../order-factory.ts'
import type { BuyOptions, BuyTrigger, OrderView, Placed } from '../strategy.ts'
import { type Condition, type ConditionalOrder, conditionalView, isOver, ordersOf } from './conditional-order.ts'
import type { ConditionalRequest } from './conditional-request.ts'
import type { Exits } from './exit-execution.ts'
import type { ExitWatch } from './exit-watch.ts'

/** Largest number of conditional orders of one bot that may wait. */
const MOST_WAITING = 2_000
/** A limit buy ends after this many failed orders. */
const MOST_TRIES = 5
const RETRY_MS = 1_000
/** If the last installment of a schedule (DCA) must wait because another conditional order of its group has an open
 *  order, it is tried again after this time, ms. */
const HELD_BACK_MS = 5_000
/** After the strategy has vetoed a limit buy, `confirmBuy` is called again after this time, ms. */
const VETO_MS = 1_000

/** The bot that placed a conditional order. */
interface ConditionalOwner extends Client {
  /** Updates the bot's view of a mint. Called when a position of the bot opens. */
  refresh(mint: string): unknown
  notify(order: OrderView): void
  /** Calls `confirmBuy` of the strategy. Returns the reason if the buy may not be placed. */
  vetoOf(trigger: BuyTrigger): string | undefined
}

/** Finds the bot that placed a conditional order; undefined if that bot is not configured now. */
interface ConditionalOwners {
  of(bot: string): ConditionalOwner | undefined
}

/** The conditional orders of all bots: limit, stop, one-cancels-the-other and DCA. Their buys pass all checks of a buy.
 *  Their sales become exits of the position, which are retried until they fill. */
export class ConditionalBook {
  readonly #state: EngineState
  readonly #factory: OrderFactory
  readonly #watch: ExitWatch
  readonly #exits: Exits
  readonly #owners: ConditionalOwners
  readonly #open = new OpenConditionals()
  #next = 1

  constructor(state: EngineState, factory: OrderFactory, watch: ExitWatch, exits: Exits, owners: ConditionalOwners) {
    this.#state = state
    this.#factory = factory
    this.#watch = watch
    this.#exits = exits
    this.#owners = owners
  }

  restore(orders: readonly ConditionalOrder[], next: number): void {
    this.#next = next
    for (const one of orders) {
      const order = { ...one }
      this.#add(order)
      this.#restoreTimer(order)
    }
  }

  /** Returns the open conditional orders of a bot, oldest first. */
  of({ settings: { name, account } }: Pick<Client, 'settings'>): ConditionalOrder[] {
    return this.#open.ofBot({ bot: name, account: account.id })
  }

  place(client: Client, mint: string, request: ConditionalRequest): Placed {
    const { settings } = client
    const { now } = this.#state
    if (this.of(client).length >= MOST_WAITING)
      return {
        ok: false,
        code: 'REQUEST_INVALID',
        reason: `${MOST_WAITING} conditional orders are waiting, which is the maximum; cancel one first`,
      }
    const { when, action, reason, forMs, oneCancelsOther } = request
    const order: ConditionalOrder = {
      ...{ id: `c${this.#next++}`, time: now, account: settings.account.id, bot: settings.name, mint },
      ...{ when, action, reason, oneCancelsOther, expiresAt: forMs === null ? null : now + forMs },
      ...{ state: 'waiting', code: '', orderId: '', tries: 0, notBefore: 0 },
    }
    this.#add(order)
    this.#emit(order)
    // The first installment is due immediately. A timer triggers it, so that this buy, too, belongs to an input of its
    // own.
    if (when.kind === 'every') this.#setTimer(order, now)
    else if (order.expiresAt !== null) this.#setTimer(order, order.expiresAt)
    return { ok: true, id: order.id }
  }

  /** Cancels an order at the request of its strategy, which gets no further report. Returns false if the order is no
   *  longer waiting. */
  cancel(client: Client, id: string): boolean {
    const order = this.#open.get(id)
    if (order === undefined || this.#ownerOf(order) !== client || order.state !== 'waiting') return false
    return this.#end(order, 'cancelled', 'CANCELLED')
  }

  /** Cancels a conditional order at the request of an operator, together with its open order. Does nothing if that
   *  order was sent, because it may execute. */
  cancelByHand(id: string): void {
    const order = this.#open.get(id)
    if (order === undefined) return
    const became = this.#state.book.orders.get(order.orderId)
    if (order.state === 'working' && became !== undefined && isOpen(became.state) && became.state !== 'accepted') return
    this.#cancelOrder(order)
    this.#endAndReport(order, 'cancelled', 'CANCELLED')
  }

  /** Cancels the conditional buys that `which` selects. Called when an operator sells positions, because these buys
   *  would open positions again. */
  cancelBuys(which: (order: ConditionalOrder) => boolean): void {
    for (const order of this.#open.all())
      if (order.action.side === 'buy' && which(order)) this.#endAndReport(order, 'cancelled', 'CANCELLED')
  }

  /** Executes a waiting order if a new price of its token meets the condition. */
  priced(order: ConditionalOrder, price: number): void {
    const { when, state, notBefore, expiresAt } = order
    const { now } = this.#state
    if (state !== 'waiting' || when.kind === 'every' || now < notBefore) return
    if (expiresAt !== null && now >= expiresAt) {
      // The order has expired although its timer has not fired. Timers stop while the computer sleeps, and the clock
      // may be set.
      this.#endAndReport(order, 'expired', '')
      return
    }
    if (when.kind === 'below' ? !(price <= when.price) : !(price >= when.price)) return
    if (this.#open.isHeldBack(order)) return
    if (order.action.side === 'sell') this.#sell(order, price)
    else this.#buy(order)
  }

  /** Cancels the conditional sales of a closed position. Must be the last step of the caller, because the strategy is
   *  notified during this call and may buy again. */
  positionClosed({ account, mint }: Position): void {
    for (const order of this.#watch.ordersOf(mint))
      if (order.action.side === 'sell' && order.account === account)
        this.#endAndReport(order, 'cancelled', 'NO_POSITION')
  }

  /** Handles the timer of an order: buys an installment that is due, or ends an order that expires. */
  timer(id: string): void {
    const order = this.#open.get(id)
    if (order === undefined) return
    const { when } = order
    if (when.kind === 'every' && this.#ownerOf(order) !== undefined) this.#buyInstallment(order, when)
    else if (order.state === 'waiting') this.#endAndReport(order, 'expired', '')
  }

  /** Applies the report of an order that a conditional order placed. A fill always counts, even if it is the late fill
   *  of an earlier order. */
  report(orderId: string, state: OrderState, code: ErrorCode | ''): void {
    const order = this.#open.behind(orderId)
    if (order === undefined) return
    const isLast = order.orderId === orderId
    if (state === 'filled') {
      if (!isLast) this.#cancelOrder(order)
      this.#executed(order)
    } else if (order.state === 'working' && isLast && !isOpen(state)) this.#failed(order, code)
  }

  #failed(order: ConditionalOrder, code: ErrorCode | ''): void {
    const { now } = this.#state
    if (code === 'CANCELLED') this.#endAndReport(order, 'cancelled', code)
    else if (order.tries >= MOST_TRIES) this.#endAndReport(order, 'failed', code)
    else if (order.expiresAt !== null && order.expiresAt <= now) this.#endAndReport(order, 'expired', code)
    else {
      Object.assign(order, { state: 'waiting', code, notBefore: now + RETRY_MS * 2 ** (order.tries - 1) })
      this.#open.set(order)
      this.#emit(order)
    }
  }

  /** Ends an executed order, and cancels the other orders of its group. */
  #executed(order: ConditionalOrder): void {
    const rivals = this.#open.rivals(order)
    for (const rival of rivals) this.#cancelOrder(rival)
    const isDone = this.#end(order, 'done', '')
    const ended = rivals.filter((rival) => this.#end(rival, 'cancelled', 'CANCELLED'))
    for (const one of isDone ? [order, ...ended] : ended) this.#report(one)
  }

  /** Cancels the order that a conditional order placed, unless the request of this order has been sent. */
  #cancelOrder({ state, orderId }: ConditionalOrder): void {
    if (state === 'working' && this.#state.book.orders.get(orderId)?.state === 'accepted')
      this.#state.emit({ kind: 'cancel', orderId, code: 'CANCELLED' })
  }

  #buy(order: ConditionalOrder): void {
    const placed = this.#tryBuy(order)
    if (placed === undefined) return
    if (!placed.ok) {
      if (placed.code === 'VETOED') order.notBefore = this.#state.now + VETO_MS
      this.#refused(order, placed.code, placed.reason)
      if (placed.code === 'VETOED') this.#emit(order)
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
    // The bot is not configured now, so the conditional order waits.
    if (owner === undefined || action.side !== 'buy') return undefined
    const veto = owner.vetoOf(triggerOf(order, action.options))
    if (isOver(order.state)) return undefined // the strategy has cancelled the order in `confirmBuy`
    if (veto !== undefined) return { ok: false, code: 'VETOED', reason: veto }
    const placed = this.#factory.buy(owner, mint, action.options)
    if (placed.ok) owner.refresh(mint)
    return placed
  }

  /** Turns the sale of a conditional order into a due exit of its position, and ends the conditional order. */
  #sell(order: ConditionalOrder, price: number): void {
    const { account, bot, mint, action } = order
    const position = this.#state.book.positions.get({ account, mint })
    if (action.side !== 'sell' || position === undefined || position.bot !== bot || position.tokens === 0n) return
    const request = readSell(action.options, position)
    if ('code' in request) return // the position is too small for this sale
    const reason = `${order.id} at ${price.toPrecision(6)}: ${order.reason}`
    this.#executed(order)
    const { size, tag } = request
    const cause = { reason, tag }
    if (size.kind === 'percent') this.#exits.sellPart(position, size.percent, cause)
    else if (size.kind === 'tokens') {
      const share = wholeTokens(size.tokens, size.decimals) / wholeTokens(position.tokens, position.decimals)
      this.#exits.sellPart(position, share * 100, cause)
    } else this.#exits.sell(position, reason, tag)
  }

  /** Buys one installment. A refused installment is not repeated. */
  #buyInstallment(order: ConditionalOrder, when: Extract<Condition, { kind: 'every' }>): void {
    const isHeldBack = this.#open.isHeldBack(order)
    if (isHeldBack && when.left <= 1) {
      // The last installment ends the schedule and cancels the other conditional orders of its group. One of them has
      // an open order that may already have executed, so the last installment waits for its outcome.
      this.#setTimer(order, this.#state.now + Math.min(when.everyMs, HELD_BACK_MS))
      return
    }
    const price = this.#state.price(order.mint)
    const isTooExpensive = when.maxPrice !== null && price !== undefined && price > when.maxPrice
    const placed = isTooExpensive || isHeldBack ? undefined : this.#tryBuy(order)
    if (isOver(order.state)) return
    if (placed?.ok === false) this.#refused(order, placed.code, placed.reason)
    if (placed?.ok === true) Object.assign(order, { code: '', orderId: placed.id, tries: order.tries + 1 })
    order.when = { ...when, left: when.left - 1 }
    if (when.left <= 1 && order.tries === 0) this.#endAndReport(order, 'failed', order.code)
    else if (when.left <= 1) this.#executed(order)
    else {
      this.#emit(order)
      this.#setTimer(order, this.#state.now + when.everyMs)
    }
  }

  #refused(order: ConditionalOrder, code: ErrorCode, reason: string): void {
    // The refusal is reported only once while its code stays the same.
    if (order.code === code) return
    order.code = code
    const { bot, mint, id } = order
    this.#state.emit({ kind: 'refused', bot, mint, code, reason: `${id}: ${reason}` })
  }

  /** Returns the bot that placed an order. A bot whose wallet has changed does not own the orders of its former
   *  wallet. */
  #ownerOf({ account, bot }: Pick<ConditionalOrder, 'account' | 'bot'>): ConditionalOwner | undefined {
    const owner = this.#owners.of(bot)
    return owner?.settings.account.id === account ? owner : undefined
  }

  #endAndReport(order: ConditionalOrder, state: ConditionalOrder['state'], code: ErrorCode | ''): void {
    if (this.#end(order, state, code)) this.#report(order)
  }

  #report(order: ConditionalOrder): void {
    this.#ownerOf(order)?.notify(conditionalView(order))
  }

  /** Ends an order. Returns false if it had ended before. */
  #end(order: ConditionalOrder, state: ConditionalOrder['state'], code: ErrorCode | ''): boolean {
    if (isOver(order.state)) return false
    Object.assign(order, { state, code })
    this.#open.delete(order)
    this.#watch.dropOrder(order)
    this.#state.timers.clearExit({ bot: order.bot, mint: order.id }, 'due')
    this.#emit(order)
    return true
  }

  #add(order: ConditionalOrder): void {
    this.#open.set(order)
    this.#watch.watchOrder(order)
  }

  /** Sets a timer that is missing after a restart, because a bot of the same name with another wallet may have cleared
   *  it. */
  #restoreTimer(order: ConditionalOrder): void {
    const { bot, id, when, expiresAt } = order
    const at = when.kind === 'every' ? this.#state.now + when.everyMs : expiresAt
    const { timers } = this.#state
    if (at === null || this.#ownerOf(order) === undefined) return
    if (timers.findExit({ bot, mint: id }, 'due') === undefined) this.#setTimer(order, at)
  }

  #setTimer({ bot, id }: ConditionalOrder, at: Millis): void {
    this.#state.timers.setExit({ bot, mint: id }, 'due', at)
  }

  #emit(order: ConditionalOrder): void {
    this.#state.emit({ kind: 'conditional', order: { ...order } })
  }
}

function triggerOf({ id, mint, when, reason }: ConditionalOrder, { sol, tag = '' }: BuyOptions): BuyTrigger {
  return Object.freeze({ id, mint, kind: when.kind === 'every' ? 'dca' : 'limit', sol, reason, tag })
}

/** The conditional orders that have not ended, of all bots. */
class OpenConditionals {
  readonly #byId = new Map<string, ConditionalOrder>()
  /** Conditional orders by the ids of the orders that they placed. */
  readonly #byOrder = new Map<string, ConditionalOrder>()
  /** Conditional orders with an open order. A print checks only this small set, not all waiting orders. */
  readonly #working = new Set<ConditionalOrder>()

  /** Adds a conditional order, or updates its state and the ids of the orders that it placed. */
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

  /** Returns a copy of the list of all orders, oldest first. */
  all(): ConditionalOrder[] {
    return [...this.#byId.values()]
  }

  /** Returns the orders of a bot in one account. A bot whose wallet has changed does not own those of its former
   *  wallet. */
  ofBot({ account, bot }: Pick<ConditionalOrder, 'account' | 'bot'>): ConditionalOrder[] {
    return this.all().filter((order) => order.bot === bot && order.account === account)
  }

  /** Returns the other orders of the order's group. */
  rivals(order: ConditionalOrder): ConditionalOrder[] {
    const { oneCancelsOther } = order
    if (oneCancelsOther === '') return []
    return this.ofBot(order).filter((other) => other !== order && other.oneCancelsOther === oneCancelsOther)
  }

  /** Whether another conditional order of the same group has an open order. */
  isHeldBack({ account, bot, oneCancelsOther }: ConditionalOrder): boolean {
    if (oneCancelsOther === '') return false
    for (const other of this.#working)
      if (other.oneCancelsOther === oneCancelsOther && other.bot === bot && other.account === account) return true
    return false
  }
}
