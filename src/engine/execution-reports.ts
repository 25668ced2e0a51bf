import { type Lamports, lamports } from '../base/units.ts'
import type { Booking } from './accounting/book.ts'
import type { Position } from './accounting/position.ts'
import type { StrategyRunner } from './bots/strategy-runner.ts'
import { fillView, orderView } from './bots/views.ts'
import type { EngineState } from './engine-state.ts'
import type { Conditionals } from './exits/conditionals.ts'
import type { ExitWatch } from './exits/exit-watch.ts'
import type { Exits } from './exits/position-exits.ts'
import type { LimitCheck } from './limits/limit-check.ts'
import type { LimitScopes } from './limits/limit-scope.ts'
import type { Results } from './limits/results.ts'
import { type ExecutionReport, type Fill, isOpen, type Order } from './order.ts'

/** What became of orders: books it, lets positions and exits follow, and tells the strategies. */
export class ExecutionReports {
  readonly #session: EngineState
  readonly #watch: ExitWatch
  readonly #exits: Exits
  readonly #conditionals: Conditionals
  readonly #results: Results
  readonly #traderOf: (bot: string) => StrategyRunner | undefined
  readonly #parties: LimitScopes
  readonly #limits: LimitCheck

  constructor(
    session: EngineState,
    watch: ExitWatch,
    exits: Exits,
    conditionals: Conditionals,
    results: Results,
    parties: LimitScopes,
    traderOf: (bot: string) => StrategyRunner | undefined,
    limits: LimitCheck,
  ) {
    this.#session = session
    this.#watch = watch
    this.#exits = exits
    this.#conditionals = conditionals
    this.#results = results
    this.#traderOf = traderOf
    this.#parties = parties
    this.#limits = limits
  }

  /** Reports come in any order and more than once: an order that is neither open nor provisionally filled has no state
   *  here, and what is said of it counts by its fill alone. */
  take(report: ExecutionReport): void {
    const { book } = this.#session
    const { orderId, state, code, reason, fill } = report
    const known = book.orders.get(orderId)
    const order = known?.order
    const before = known?.state
    const wasOpen = before !== undefined && isOpen(before)
    if (known !== undefined) book.move(known, state)
    if (report.unproved !== undefined) book.prove(orderId, order, report.unproved)
    const ended = wasOpen && !isOpen(state) ? order : undefined
    if (ended !== undefined && state !== 'filled') this.#session.gates.notExecuted(ended)
    this.#session.emit({ kind: 'orderState', orderId, state, code, reason })
    this.#session.spending.follow(orderId, state, order, before)
    if (order !== undefined) this.#awaitPrice(order, report)
    const fee = order === undefined ? undefined : report.feeLamports
    if (order !== undefined && fee !== undefined) this.#payFee(order, fee)
    // What is by now another order's fill is that one's to take back.
    const isOwn = report.reversed !== undefined && book.fills.find(report.reversed)?.orderId === orderId
    const reversed = isOwn ? report.reversed : undefined
    const gone = reversed ?? (fill !== undefined && book.hasOther(fill) ? fill.signature : undefined)
    const reversal = gone === undefined ? undefined : book.unbook(gone, fill !== undefined)
    if (reversal !== undefined) this.#reversed(reversal)
    const booking = fill === undefined ? undefined : book.book(fill)
    if (booking !== undefined) this.#booked(booking, order)
    const about = order ?? fill ?? reversal?.fill
    if (about === undefined) return
    const position = ended === undefined ? undefined : book.positions.get(ended)
    if (ended !== undefined && position !== undefined) this.#exits.ended(position, ended, code)
    const closed = this.#follow(about, ended, booking !== undefined || reversal !== undefined || fee !== undefined)
    if (closed !== undefined) this.#conditionals.positionClosed(closed)
    this.#conditionals.report(orderId, state, code)
    this.#tell(report, about, booking)
  }

  /** A buy that waits, for the first time or once more, is dropped when the price runs away; before a try at a higher
   *  slippage also when a limit has been reached since. */
  #awaitPrice(order: Order, { state, code }: ExecutionReport): void {
    this.#watch.sent(order)
    if (state !== 'accepted' || order.side !== 'buy') return
    const trader = this.#traderOf(order.bot)
    this.#watch.await(order, trader?.settings.orders.maxChasePercent ?? 0)
    if (code !== 'SLIPPAGE_EXCEEDED' || trader === undefined) return
    const veto = this.#limits.vetoAgain(trader)
    if (veto !== undefined) this.#session.emit({ kind: 'cancel', orderId: order.id, code: veto.code })
  }

  #booked(booking: Booking, order: Order | undefined): void {
    const { fill, position, realizedLamports } = booking
    this.#watched(booking)
    if (fill.side === 'sell') position.exitTries = 0
    else {
      if (position.tokens === fill.tokens) this.#exits.opened(position)
      this.#confirmUnit(fill, order)
    }
    this.#settleMoney(fill, realizedLamports - fill.feeLamports)
  }

  #reversed(reversal: Booking): void {
    this.#watched(reversal)
    this.#settleMoney(reversal.fill, reversal.realizedLamports + reversal.fill.feeLamports)
  }

  /** A late fill, or a fork, may give a position that nobody watches any more, and the bot's exits are those that are
   *  left. */
  #watched({ position, isNew }: Booking): void {
    if (isNew) position.exits = this.#exits.usual(position)
    this.#watch.watch(position)
  }

  /** The position follows what is held and which orders are open, and its exits follow the position. The one that is
   *  closed by that. */
  #follow(
    about: Pick<Order, 'account' | 'mint' | 'bot'>,
    ended: Order | undefined,
    moved: boolean,
  ): Position | undefined {
    const { book } = this.#session
    const position = book.positions.get(about)
    if (position === undefined) return undefined
    const before = position.state
    book.settle(position)
    if (position.state === 'closed') {
      this.#watch.unwatch(position)
      this.#exits.closed(position)
      for (const party of this.#parties.of(position)) this.#results.closed(party, position)
    }
    this.#traderOf(position.bot)?.refresh(position.mint)
    if (moved || ended !== undefined || position.state !== before) this.#session.emitPosition(position)
    this.#exits.held(position)
    this.#exits.goOn(position, ended)
    return book.positions.get(position) === position ? undefined : position
  }

  #payFee(order: Order, feeLamports: Lamports): void {
    const { book } = this.#session
    const account = book.accounts.get(order.account)
    if (account !== undefined && account.lamports !== null) account.lamports = lamports(account.lamports - feeLamports)
    const position = book.positions.get(order)
    if (position !== undefined) position.feeLamports = lamports(position.feeLamports + feeLamports)
    this.#settleMoney(order, -feeLamports)
  }

  #settleMoney({ bot, account }: Pick<Order, 'bot' | 'account'>, resultLamports: number): void {
    for (const party of this.#parties.of({ bot, account })) this.#results.book(party, resultLamports)
  }

  /** The chain says what a token costs; a feed whose unit is another one must not move money. What it is proved by is
   *  forgotten at the end of the process, so entries are halted: a person lets them go on. A fill on paper has its
   *  price from that very feed and proves nothing. */
  #confirmUnit(fill: Fill, order: Order | undefined): void {
    if (this.#traderOf(fill.bot)?.settings.account.mode !== 'live') return
    const { price } = fillView(fill)
    if (!(price > 0 && price < Number.POSITIVE_INFINITY)) return
    if (this.#session.prices.confirm(this.#session.mints.intern(fill.mint), price, order?.price ?? undefined)) return
    if (this.#session.prices.contradicted) this.#session.halt(true)
    this.#session.emit({
      kind: 'alarm',
      bot: fill.bot,
      code: 'UNIT_CONTRADICTED',
      reason: `bought at ${price} SOL a token while the feed's price is of another magnitude`,
    })
  }

  #tell(report: ExecutionReport, about: Order | Fill, booking: Booking | undefined): void {
    const trader = this.#traderOf(about.bot)
    if (trader === undefined) return
    const { orderId, state, code, reason } = report
    const view = trader.viewOf(this.#session.mints.intern(about.mint))
    if (booking !== undefined) trader.guard(() => trader.handlers.onFill?.(fillView(booking.fill), view))
    const { mint, side } = about
    trader.guard(() => trader.handlers.onOrder?.(orderView({ id: orderId, mint, side }, state, code, reason), view))
  }
}
