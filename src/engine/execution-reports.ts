import { type Lamports, lamports } from '../base/units.ts'
import type { Booking } from './accounting/book.ts'
import type { Position } from './accounting/position.ts'
import { fillView, orderView } from './bots/views.ts'
import type { EngineParts } from './engine-parts.ts'
import type { EngineState } from './engine-state.ts'
import { type ExecutionReport, type Fill, isOpen, type Order } from './order.ts'

/** What became of orders: books it, lets positions and exits follow, and tells the strategies. */
export class ExecutionReports {
  readonly #state: EngineState
  readonly #parts: EngineParts

  constructor(parts: EngineParts) {
    this.#state = parts.state
    this.#parts = parts
  }

  /** Reports come in any order and more than once: an order that is neither open nor provisionally filled has no state
   *  here, and what is said of it counts by its fill alone. */
  take(report: ExecutionReport): void {
    const { book } = this.#state
    const { orderId, state, code, reason, fill } = report
    const known = book.orders.get(orderId)
    const order = known?.order
    const before = known?.state
    const wasOpen = before !== undefined && isOpen(before)
    if (known !== undefined) book.move(known, state)
    if (report.unproved !== undefined) book.prove(orderId, order, report.unproved)
    const ended = wasOpen && !isOpen(state) ? order : undefined
    if (ended !== undefined && state !== 'filled') this.#state.gates.notExecuted(ended)
    this.#state.emit({ kind: 'orderState', orderId, state, code, reason })
    this.#state.spending.follow(orderId, state, order, before)
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
    if (ended !== undefined && position !== undefined) this.#parts.exits.ended(position, ended, code)
    const closed = this.#follow(about, ended, booking !== undefined || reversal !== undefined || fee !== undefined)
    if (closed !== undefined) this.#parts.conditionals.positionClosed(closed)
    this.#parts.conditionals.report(orderId, state, code)
    this.#tell(report, about, booking)
  }

  /** A buy that waits, for the first time or once more, is dropped when the price runs away; before a try at a higher
   *  slippage also when a limit has been reached since. */
  #awaitPrice(order: Order, { state, code }: ExecutionReport): void {
    this.#parts.watch.sent(order)
    if (state !== 'accepted' || order.side !== 'buy') return
    const runner = this.#parts.bots.of(order.bot)
    this.#parts.watch.await(order, runner?.settings.orders.maxChasePercent ?? 0)
    if (code !== 'SLIPPAGE_EXCEEDED' || runner === undefined) return
    const veto = this.#parts.limits.vetoAgain(runner)
    if (veto !== undefined) this.#state.emit({ kind: 'cancel', orderId: order.id, code: veto.code })
  }

  #booked(booking: Booking, order: Order | undefined): void {
    const { fill, position, realizedLamports } = booking
    this.#watched(booking)
    if (fill.side === 'sell') position.exitTries = 0
    else {
      if (position.tokens === fill.tokens) this.#parts.exits.opened(position)
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
    if (isNew) position.exits = this.#parts.exits.usual(position)
    this.#parts.watch.watch(position)
  }

  /** The position follows what is held and which orders are open, and its exits follow the position. The one that is
   *  closed by that. */
  #follow(
    about: Pick<Order, 'account' | 'mint' | 'bot'>,
    ended: Order | undefined,
    moved: boolean,
  ): Position | undefined {
    const { book } = this.#state
    const position = book.positions.get(about)
    if (position === undefined) return undefined
    const before = position.state
    book.settle(position)
    if (position.state === 'closed') {
      this.#parts.watch.unwatch(position)
      this.#parts.exits.closed(position)
      for (const scope of this.#parts.scopes.of(position)) this.#parts.results.closed(scope, position)
    }
    this.#parts.bots.of(position.bot)?.refresh(position.mint)
    if (moved || ended !== undefined || position.state !== before) this.#state.emitPosition(position)
    this.#parts.exits.held(position)
    this.#parts.exits.goOn(position, ended)
    return book.positions.get(position) === position ? undefined : position
  }

  #payFee(order: Order, feeLamports: Lamports): void {
    const { book } = this.#state
    const account = book.accounts.get(order.account)
    if (account !== undefined && account.lamports !== null) account.lamports = lamports(account.lamports - feeLamports)
    const position = book.positions.get(order)
    if (position !== undefined) position.feeLamports = lamports(position.feeLamports + feeLamports)
    this.#settleMoney(order, -feeLamports)
  }

  #settleMoney({ bot, account }: Pick<Order, 'bot' | 'account'>, resultLamports: number): void {
    for (const scope of this.#parts.scopes.of({ bot, account })) this.#parts.results.book(scope, resultLamports)
  }

  /** The chain says what a token costs; a feed whose unit is another one must not move money. What it is proved by is
   *  forgotten at the end of the process, so entries are halted: a person lets them go on. A fill on paper has its
   *  price from that very feed and proves nothing. */
  #confirmUnit(fill: Fill, order: Order | undefined): void {
    if (this.#parts.bots.of(fill.bot)?.settings.account.mode !== 'live') return
    const { price } = fillView(fill)
    if (!(price > 0 && price < Number.POSITIVE_INFINITY)) return
    if (this.#state.prices.confirm(this.#state.mints.intern(fill.mint), price, order?.price ?? undefined)) return
    if (this.#state.prices.contradicted) this.#state.halt(true)
    this.#state.emit({
      kind: 'alarm',
      bot: fill.bot,
      code: 'UNIT_CONTRADICTED',
      reason: `bought at ${price} SOL a token while the feed's price is of another magnitude`,
    })
  }

  #tell(report: ExecutionReport, about: Order | Fill, booking: Booking | undefined): void {
    const runner = this.#parts.bots.of(about.bot)
    if (runner === undefined) return
    const { orderId, state, code, reason } = report
    const view = runner.viewOf(this.#state.mints.intern(about.mint))
    if (booking !== undefined) runner.guard(() => runner.handlers.onFill?.(fillView(booking.fill), view))
    const { mint, side } = about
    runner.guard(() => runner.handlers.onOrder?.(orderView({ id: orderId, mint, side }, state, code, reason), view))
  }
}
