import { keyOf } from './book.ts'
import type { ExitWatch } from './exit-watch.ts'
import { type ExecutionReport, type Fill, isFullExit, isOpen, type Order } from './order.ts'
import type { Position } from './position.ts'
import type { Exits } from './position-exits.ts'
import type { Session } from './session.ts'
import type { Trader } from './trader.ts'
import { lamports } from './units.ts'
import { fillView, orderView } from './views.ts'

/** What became of orders: books it, lets positions and exits follow, and tells the strategies. */
export class Reports {
  readonly #session: Session
  readonly #watch: ExitWatch
  readonly #exits: Exits
  readonly #traderOf: (bot: string) => Trader | undefined

  constructor(session: Session, watch: ExitWatch, exits: Exits, traderOf: (bot: string) => Trader | undefined) {
    this.#session = session
    this.#watch = watch
    this.#exits = exits
    this.#traderOf = traderOf
  }

  take(report: ExecutionReport): void {
    const { orderId, state, code, reason } = report
    const open = this.#session.book.move(orderId, state)
    this.#session.emit({ kind: 'orderState', orderId, state, code, reason })
    if (open !== undefined && state !== 'accepted') this.#watch.sent(open.order)
    if (report.feeLamports !== undefined && open !== undefined) this.#payFee(open.order, report.feeLamports)
    const booked = report.fill === undefined ? undefined : this.#book(report.fill)
    if (report.reversed !== undefined) this.#unbook(report.reversed)
    if (open !== undefined && !isOpen(state)) this.#ended(open.order, booked === true)
    this.#tell(report, open?.order, booked)
  }

  /** Books a fill once: true when it is new. */
  #book(fill: Fill): boolean {
    const { book } = this.#session
    const booked = book.book(fill)
    if (booked === undefined) return false
    const { position, realizedLamports } = booked
    if (fill.side === 'buy') {
      this.#watch.watch(position) // a late fill may open a position that nobody watched any more
      if (position.tokens === fill.tokens) this.#opened(position)
      this.#confirmUnit(fill)
    } else position.exitTries = 0
    if (position.state === 'closed') this.#forget(position)
    this.#settleDay(fill, realizedLamports)
    this.#session.emit({ kind: 'position', position: { ...position } })
    this.#emitAccount(fill.account)
    this.#traderOf(fill.bot)?.refresh(fill.mint)
    return true
  }

  #opened(position: Position): void {
    const settings = this.#traderOf(position.bot)?.settings
    if (settings !== undefined && Object.keys(position.exits).length === 0) position.exits = settings.exits
    this.#exits.opened(position)
  }

  #unbook(signature: string): void {
    const unbooked = this.#session.book.unbook(signature)
    if (unbooked === undefined) return
    const { fill, position } = unbooked
    this.#settleDay(fill, 0)
    this.#watch.watch(position)
    this.#session.emit({ kind: 'position', position: { ...position } })
    this.#emitAccount(fill.account)
    this.#traderOf(fill.bot)?.refresh(fill.mint)
  }

  /** The order is over, its lane is free. */
  #ended(order: Order, executed: boolean): void {
    const position = this.#session.book.positions.get(keyOf(order))
    const trader = this.#traderOf(order.bot)
    if (order.side === 'buy' && !executed) this.#returnBudget(trader, order)
    if (position === undefined) return
    if (position.tokens === 0n) {
      position.state = 'closed'
      this.#session.book.positions.delete(keyOf(position))
      this.#forget(position)
      trader?.refresh(order.mint)
    } else if (order.side === 'sell') {
      position.state = 'open'
      if (position.exiting !== '') this.#exits.goOn(position, isFullExit(order))
    }
    this.#session.emit({ kind: 'position', position: { ...position } })
  }

  #forget(position: Position): void {
    this.#watch.unwatch(position)
    this.#exits.closed(position)
  }

  /** What was asked for and not bought does not count against the hour. */
  #returnBudget(trader: Trader | undefined, order: Order): void {
    const index =
      trader?.money.buys.findIndex(
        (buy) => buy.time === order.time && order.size.kind === 'sol' && buy.lamports === order.size.lamports,
      ) ?? -1
    if (trader === undefined || index < 0) return
    trader.money.buys.splice(index, 1)
    this.#session.emitBot(trader.money)
  }

  #payFee(order: Order, feeLamports: number): void {
    const account = this.#session.book.accounts.get(order.account)
    if (account !== undefined && account.lamports !== null) account.lamports = lamports(account.lamports - feeLamports)
    const position = this.#session.book.positions.get(keyOf(order))
    if (position !== undefined) position.feeLamports = lamports(position.feeLamports + feeLamports)
    const trader = this.#traderOf(order.bot)
    if (trader !== undefined)
      trader.money.dayRealizedLamports = lamports(trader.money.dayRealizedLamports - feeLamports)
    if (trader !== undefined) this.#session.emitBot(trader.money)
    this.#emitAccount(order.account)
  }

  #settleDay(fill: Fill, realizedLamports: number): void {
    const trader = this.#traderOf(fill.bot)
    if (trader === undefined) return
    trader.money.dayRealizedLamports = lamports(trader.money.dayRealizedLamports + realizedLamports - fill.feeLamports)
    this.#session.emitBot(trader.money)
  }

  /** The chain says what a token costs; a feed whose unit is another one must not move money. */
  #confirmUnit(fill: Fill): void {
    const price = fillView(fill).price
    if (this.#session.prices.confirm(this.#session.mints.intern(fill.mint), price)) return
    this.#session.emit({
      kind: 'alarm',
      bot: fill.bot,
      code: 'UNIT_CONTRADICTED',
      reason: `bought at ${price} SOL a token while the feed's price is of another magnitude`,
    })
  }

  #emitAccount(id: string): void {
    const account = this.#session.book.accounts.get(id)
    if (account !== undefined) this.#session.emit({ kind: 'account', money: { ...account } })
  }

  #tell(report: ExecutionReport, order: Order | undefined, newFill: boolean | undefined): void {
    const known = order ?? report.fill
    const trader = known === undefined ? undefined : this.#traderOf(known.bot)
    if (known === undefined || trader === undefined) return
    const view = trader.viewOf(this.#session.mints.intern(known.mint))
    const { fill } = report
    if (fill !== undefined && newFill === true) trader.guard(() => trader.handlers.onFill?.(fillView(fill), view))
    const told = orderView(
      { id: report.orderId, mint: known.mint, side: known.side },
      report.state,
      report.code,
      report.reason,
    )
    trader.guard(() => trader.handlers.onOrder?.(told, view))
  }
}
