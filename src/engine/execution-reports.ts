import { type Lamports, lamports } from '../base/units.ts'
import type { Booking } from './accounting/book.ts'
import type { Position } from './accounting/position.ts'
import { tripOf, withFailed } from './accounting/trip-sums.ts'
import { endTrip, fillView, orderView } from './bots/views.ts'
import type { EngineParts } from './engine-parts.ts'
import type { EngineState } from './engine-state.ts'
import { type ExecutionReport, type Fill, isOpen, type Order } from './order.ts'
import type { RoundTripView } from './strategy.ts'

/** Applies reports of executions: books fills, updates positions and exits, and notifies the strategies. */
export class ExecutionReports {
  readonly #state: EngineState
  readonly #parts: EngineParts

  constructor(parts: EngineParts) {
    this.#state = parts.state
    this.#parts = parts
  }

  /** Applies a report. Reports may arrive in any order and more than once. If the engine no longer knows the order,
   *  only the fill in the report is applied. */
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
    // If the fill now belongs to another order, only a report of that order may reverse it.
    const isOwn = report.reversed !== undefined && book.fills.find(report.reversed)?.orderId === orderId
    const reversed = isOwn ? report.reversed : undefined
    const gone = reversed ?? (fill !== undefined && book.hasOther(fill) ? fill.signature : undefined)
    const reversal = gone === undefined ? undefined : book.unbook(gone, fill !== undefined)
    if (reversal !== undefined) this.#reversed(reversal)
    const booking = fill === undefined ? undefined : book.book(fill, order?.reason)
    if (booking !== undefined) this.#booked(booking, order)
    const subject = order ?? fill ?? reversal?.fill
    if (subject === undefined) return
    const position = ended === undefined ? undefined : book.positions.get(ended)
    if (ended !== undefined && position !== undefined) this.#parts.exits.ended(position, ended, code)
    const closed = this.#follow(subject, ended, booking !== undefined || reversal !== undefined || fee !== undefined)
    if (closed !== undefined) this.#parts.conditionals.positionClosed(closed.position)
    this.#parts.conditionals.report(orderId, state, code)
    this.#notify(report, subject, booking)
    if (closed?.trip !== undefined) this.#parts.bots.of(closed.position.bot)?.tripEnded(closed.trip)
  }

  /** Watches the price while a buy waits for its first request or for a retry. Before a retry with higher slippage,
   *  checks the limits on losses again. */
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

  /** Watches the price of a position. If a late fill or a fork created the position, gives it the usual exits of its
   *  bot. */
  #watched({ position, isNew }: Booking): void {
    if (isNew) position.exits = this.#parts.exits.usual(position)
    this.#parts.watch.watch(position)
  }

  /** Updates the state of the position and then its exits. Returns the position with its round trip if this update
   *  closed it. */
  #follow(
    subject: Pick<Order, 'account' | 'mint' | 'bot'>,
    ended: Order | undefined,
    moved: boolean,
  ): { readonly position: Position; readonly trip: RoundTripView | undefined } | undefined {
    const { book } = this.#state
    const position = book.positions.get(subject)
    if (position === undefined) return undefined
    const before = position.state
    book.settle(position)
    const trip = position.state === 'closed' ? endTrip(position) : undefined
    if (position.state === 'closed') {
      this.#parts.watch.unwatch(position)
      this.#parts.exits.closed(position)
      for (const scope of this.#parts.scopes.of(position)) this.#parts.results.closed(scope, position)
    }
    this.#parts.bots.of(position.bot)?.refresh(position.mint)
    if (moved || ended !== undefined || position.state !== before) this.#state.emitPosition(position)
    this.#parts.exits.held(position)
    this.#parts.exits.goOn(position, ended)
    return book.positions.get(position) === position ? undefined : { position, trip }
  }

  #payFee(order: Order, feeLamports: Lamports): void {
    const { book } = this.#state
    const account = book.accounts.get(order.account)
    if (account !== undefined && account.lamports !== null) account.lamports = lamports(account.lamports - feeLamports)
    const position = book.positions.get(order)
    if (position !== undefined) {
      if (book.keepsTrips) position.trip = withFailed(tripOf(position), feeLamports)
      position.feeLamports = lamports(position.feeLamports + feeLamports)
    }
    this.#settleMoney(order, -feeLamports)
  }

  #settleMoney({ bot, account }: Pick<Order, 'bot' | 'account'>, resultLamports: number): void {
    for (const scope of this.#parts.scopes.of({ bot, account })) this.#parts.results.book(scope, resultLamports)
  }

  /** Compares the price of a landed buy with the price of the feed. If the two contradict each other, the feed quotes
   *  another unit, and no exit or limit may use its prices. Entries are then halted until an operator resumes. The halt
   *  must be recorded, because a restart forgets the contradiction. A paper fill takes its price from the same feed, so
   *  it proves nothing. */
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
      reason: `bought at ${price} SOL a token, but the price of the feed differs by more than a factor of 20: the feed may use another unit. Run \`sluice doctor FILE --probe-live 0.01 --mint MINT\``,
    })
  }

  #notify(report: ExecutionReport, subject: Order | Fill, booking: Booking | undefined): void {
    const runner = this.#parts.bots.of(subject.bot)
    if (runner === undefined) return
    const { orderId, state, code, reason } = report
    const view = runner.viewOf(this.#state.mints.intern(subject.mint))
    if (booking !== undefined) runner.guard(() => runner.handlers.onFill?.(fillView(booking.fill), view))
    const { mint, side, tag } = subject
    const order = { id: orderId, mint, side, tag }
    runner.guard(() => runner.handlers.onOrder?.(orderView(order, state, code, reason), view))
  }
}
