import { dayOf, endOfDay, type Millis, type Seq } from '../base/units.ts'
import type { Bar } from '../market/bar.ts'
import type { Width } from '../market/bar-width.ts'
import { type Block, RowKind, type TokenId } from '../market/block.ts'
import type { Owner } from './accounting/by-mint.ts'
import type { Mark, Position } from './accounting/position.ts'
import type { TokenBars } from './bars/token-bars.ts'
import type { SubscriptionRouter } from './bots/subscription-router.ts'
import type { EngineParts } from './engine-parts.ts'
import type { EngineState } from './engine-state.ts'
import { ExecutionReports } from './execution-reports.ts'
import type { OwnedReading, PositionReading } from './exits/exit-levels.ts'
import type { ExitTriggers } from './exits/exit-triggers.ts'
import type { ExitWatch } from './exits/exit-watch.ts'
import type { Input, StartInput, WarmGap } from './messages.ts'
import { OperatorCommands } from './operator-commands.ts'
import { NO_RESULTS } from './recovered-money.ts'
import type { BotSettings } from './settings.ts'
import type { SourceValue } from './sources.ts'
import { exitTimerOf } from './timers.ts'
import { WalletReconciler } from './wallet-reconciler.ts'

/** Number of rows whose memory is loaded in advance. With 4 or 16 rows instead of 8, runs took a tenth longer. */
const ROWS_AHEAD = 8

/** Runs the engine from one start input to the next. Passes each row and input to the parts of the engine that need
 *  it. */
export class EngineRun {
  readonly #parts: EngineParts
  readonly #commands: OperatorCommands
  readonly #reports: ExecutionReports
  readonly #reconciler: WalletReconciler
  // The engine uses these parts for every row. As fields of this object they need no look-up in `#parts`.
  readonly #state: EngineState
  readonly #watch: ExitWatch
  readonly #triggers: ExitTriggers
  readonly #router: SubscriptionRouter
  /** The bars that the bots declare; undefined if no bot declares bars. */
  #bars: TokenBars | undefined
  /** Gaps of the feed within the warm-up that end after the last row that the strategies have received. */
  #warmGaps: readonly WarmGap[] = []
  /** Time at which the next bar or the UTC day ends. The first row or input at or after this time calls `#catchUp`.
   *  After a warm-up, the next row or input calls it in any case. */
  #dueAt: Millis = Number.NEGATIVE_INFINITY
  #dayEnds: Millis = Number.NEGATIVE_INFINITY

  constructor(parts: EngineParts) {
    this.#parts = parts
    this.#state = parts.state
    this.#watch = parts.watch
    this.#triggers = parts.triggers
    this.#router = parts.router
    this.#reports = new ExecutionReports(parts)
    this.#reconciler = new WalletReconciler(parts)
    this.#commands = new OperatorCommands(parts, this.#reconciler)
  }

  rows(firstSeq: Seq, block: Block, from: number, to: number): number {
    const state = this.#state
    const seqOfZero = firstSeq - from
    state.agesFrom = from
    state.block = block
    let next = from
    do
      next = this.#router.showsTrades
        ? this.#handle(state, seqOfZero, block, next, to)
        : this.#scan(state, seqOfZero, block, next, to)
    while (next < to && state.outputs.length === 0)
    state.block = undefined
    state.learnAges(block, next)
    if (state.tornBy >= 0) state.end()
    return next
  }

  /** Handles rows until one has outputs, and returns the next row to handle. No statement follows the loop, because V8
   *  compiles the method while the loop runs (on-stack replacement), and would discard that code at the first statement
   *  after the loop. */
  #handle(state: EngineState, seqOfZero: Seq, block: Block, from: number, to: number): number {
    const { outputs } = state
    const { time } = block
    let row = from
    let ahead = from
    do {
      if (row === ahead) ahead = this.#lookAhead(state, block, row, to)
      const now = time[row] as number
      if (!(now >= state.now)) throw new Error(`invariant broken: time runs backwards from ${state.now} to ${now}`)
      state.seq = seqOfZero + row
      state.now = now
      if (now >= this.#dueAt) this.#catchUp(state)
      this.#dispatch(state, block, row)
      state.wants.flush()
      row++
    } while (row < to && outputs.length === 0)
    return row
  }

  /** Handles rows as `#handle` does, but is used only while no bot has a handler of trades. A row of a quiet token (see
   *  `QuietTokens`) then changes only the price and the bars of the token. Stops as soon as a strategy has added a
   *  handler of trades. */
  #scan(state: EngineState, seqOfZero: Seq, block: Block, from: number, to: number): number {
    const { outputs, activity, quiet, prices } = state
    const { time, kind, token: tokens } = block
    let { runs } = activity
    let showsTrades = false
    let row = from
    let ahead = from
    do {
      if (row === ahead) ahead = this.#lookAhead(state, block, row, to)
      const now = time[row] as number
      if (!(now >= state.now)) throw new Error(`invariant broken: time runs backwards from ${state.now} to ${now}`)
      state.seq = seqOfZero + row
      state.now = now
      if (now >= this.#dueAt) this.#catchUp(state)
      const token = tokens[row] as number
      if ((kind[row] as number) > RowKind.sell || !quiet.has(token) || activity.runs !== runs)
        this.#dispatchLoud(state, block, row, token)
      else if (prices.fold(block, row, token) && this.#bars !== undefined) {
        state.row = row
        this.#bars.print(block, row, token)
        if (activity.runs !== runs) {
          runs = activity.runs
          showsTrades = this.#router.showsTrades
          if (showsTrades || !quiet.has(token)) this.#router.showTrade(block, row, token)
        }
      }
      state.wants.flush()
      row++
      if (activity.runs !== runs) {
        runs = activity.runs
        showsTrades = this.#router.showsTrades
      }
    } while (row < to && outputs.length === 0 && !showsTrades)
    return row
  }

  /** Loads what the next rows need into the processor's cache. Returns the row at which to look ahead again. */
  #lookAhead({ prices }: EngineState, block: Block, from: number, to: number): number {
    const end = from + ROWS_AHEAD < to ? from + ROWS_AHEAD : to
    prices.lookAhead(block, from, end)
    this.#router.lookAhead(block, from, end)
    return end
  }

  /** Passes on a row as `#dispatch` does. Then marks the row's token as quiet (see `QuietTokens`) if its next trades
   *  need to change only prices and bars. */
  #dispatchLoud(state: EngineState, block: Block, row: number, token: TokenId): void {
    this.#dispatch(state, block, row)
    if (this.#watch.at(token) === undefined && this.#router.isSeen(token)) state.quiet.add(token)
  }

  /** Shows a row of the warm-up to the strategies; see `EnginePort.warm`. */
  warm(block: Block, row: number): void {
    const state = this.#state
    state.warming = true
    this.#dueAt = Number.NEGATIVE_INFINITY
    state.now = block.time[row] as number
    if (this.#bars !== undefined) this.#warmBars(this.#bars, state)
    state.warmed = true
    state.agesFrom = row
    state.block = block
    this.#dispatch(state, block, row)
    this.#watch.repeats.warm()
    state.block = undefined
    state.warming = false
  }

  #warmBars(bars: TokenBars, state: EngineState): void {
    this.#missWarmGaps(bars, state)
    bars.warm(state.now)
  }

  /** Called during the warm-up. Forgets prices and marks bars for each gap of the feed that has ended at or before the
   *  current time. */
  #missWarmGaps(bars: TokenBars, state: EngineState): void {
    for (let gap = this.#warmGaps[0]; gap !== undefined && gap.to <= state.now; gap = this.#warmGaps[0]) {
      this.#warmGaps = this.#warmGaps.slice(1)
      this.#forgetPrices(state, gap.keys)
      bars.missed(gap)
    }
  }

  input(seq: Seq, time: Millis, input: Input): void {
    const state = this.#state
    state.seq = seq
    state.now = time
    if (time >= this.#dueAt) this.#catchUp(state)
    this.#take(state, input)
    state.wants.flush()
    if (state.tornBy >= 0) state.end()
  }

  /** Whether the engine keeps data about a token. */
  holds(token: TokenId): boolean {
    const { prices, launches } = this.#state
    const isKnown = prices.holds(token) || launches.of(token) !== undefined || this.#bars?.holds(token) === true
    return this.#isWanted(token) || isKnown || this.#parts.bots.all().some((runner) => runner.holds(token))
  }

  takeMarks(): Mark[] {
    return this.#watch.takeMarks()
  }

  exitPriceOf(owner: Owner): number | undefined {
    return this.#watch.exitPriceOf(owner)
  }

  readingOf(owner: Owner): PositionReading | undefined {
    const position = this.#state.book.positions.get(owner)
    return position && this.#read(position)
  }

  readings(): OwnedReading[] {
    return this.#state.book.positions.all().map((position) => {
      const { account, mint } = position
      return { account, mint, ...this.#read(position) }
    })
  }

  #read(position: Position): PositionReading {
    return {
      lamports: this.#parts.liquidation.atLastPrice(position),
      price: this.#watch.exitPriceOf(position),
      highPrice: position.highPrice,
      printedAt: this.#watch.printedAt(position),
      pricedAt: this.#watch.pricedAt(position),
    }
  }

  price(mint: string): number | undefined {
    return this.#state.price(mint)
  }

  bars(bot: string, mint: string, width: Width): readonly Bar[] {
    const token = this.#state.mints.find(mint)
    return token === undefined ? [] : (this.#parts.bots.of(bot)?.bars?.list(token, width) ?? [])
  }

  #isWanted(token: TokenId): boolean {
    return this.#watch.at(token) !== undefined || this.#router.watches(token)
  }

  #dispatch(state: EngineState, block: Block, row: number): void {
    const token = block.token[row] as number
    const kind = block.kind[row] as RowKind
    state.row = row
    if (kind <= RowKind.sell) {
      const watched = this.#watch.at(token)
      if (watched === undefined) {
        if (state.prices.fold(block, row, token) && this.#bars !== undefined) this.#bars.print(block, row, token)
      } else if (!this.#watch.repeats.isRepeat(token) && state.prices.fold(block, row, token)) {
        if (!state.warming) this.#triggers.printed(token, watched)
        this.#bars?.print(block, row, token)
      }
      this.#router.showTrade(block, row, token)
      return
    }
    if (kind === RowKind.newToken) state.launches.note(block, row, token)
    this.#router.show(block, row, kind, token)
  }

  /** Ends the warm-up, begins a new UTC day, and closes bars; does each of these only if it is due. */
  #catchUp(state: EngineState): void {
    const { block } = state
    state.block = undefined
    if (state.warmed) this.#endWarmup(state)
    if (state.now >= this.#dayEnds) this.#nextDay(state)
    this.#bars?.advance(state.now)
    this.#dueAt = Math.min(this.#dayEnds, this.#bars?.dueAt ?? Number.POSITIVE_INFINITY)
    state.block = block
  }

  /** Ends the warm-up. Forgets the prices of the warm-up, because no order may act on a print from before the start.
   *  For the same reason, the bars that have ended by now are closed as a part of the warm-up, whose requests are
   *  discarded. */
  #endWarmup(state: EngineState): void {
    state.warming = true
    if (this.#bars !== undefined) {
      this.#missWarmGaps(this.#bars, state)
      this.#bars.endWarmup(state.now)
    }
    state.warming = state.warmed = false
    state.prices.forgetAll()
    for (const runner of this.#parts.bots.all()) runner.endWarmup()
  }

  #nextDay(state: EngineState): void {
    const { bots, scopes, results } = this.#parts
    // If no row or input arrived for more than a day, at least two midnights have passed. The first call of
    // `forgetTokens` only marks the data as those of the previous day; the second call frees them.
    const isLater = this.#dayEnds > 0 && state.now >= endOfDay(this.#dayEnds)
    this.#dayEnds = endOfDay(state.now)
    for (const runner of bots.all()) {
      runner.forgetTokens()
      if (isLater) runner.forgetTokens()
    }
    state.quiet.clear()
    state.nextDay((token) => this.#isWanted(token))
    this.#bars?.nextDay(state.now, (token) => this.#isWanted(token))
    for (const scope of scopes.all()) results.roll(scope)
  }

  #take(state: EngineState, input: Input): void {
    switch (input.kind) {
      case 'start':
        this.#start(state, input)
        break
      case 'gap':
        this.#gap(state, input)
        break
      case 'timer':
        this.#timer(state, input.id)
        break
      case 'report':
        this.#reports.take(input.report)
        this.#reconciler.reported(input.report)
        break
      case 'foreign':
      case 'deficit':
      case 'adopt':
      case 'mint':
        this.#reconciler.take(input)
        break
      case 'pool':
        this.#parts.polls.take(input, this.#triggers)
        break
      case 'source':
        this.#parts.bots.of(input.bot)?.source(input.name, state.now, input.data)
        break
      case 'command':
        this.#commands.take(input.command)
        break
      case 'feed':
        this.#bars?.feed(input.status, state.now)
        state.take(input)
        break
      default:
        state.take(input)
    }
  }

  /** Opens accounts, restores what the journal recorded, and starts the strategies. */
  #start(state: EngineState, { bots: settings, money, ...start }: StartInput): void {
    const { bots, bars, conditionals, router } = this.#parts
    const { book, timers } = state
    openAccounts(state, settings)
    timers.restore(money.timers, money.nextTimer, (bot) => bots.of(bot)?.settings.strategy)
    for (const position of book.positions.all()) this.#restore(state, position)
    conditionals.restore(money.conditionals, money.nextConditional)
    for (const { order, state: orderState } of book.orders.values())
      if (orderState === 'accepted' && order.side === 'buy')
        this.#watch.await(order, bots.of(order.bot)?.settings.orders.maxChasePercent ?? 0)
    bots.start(start.stopped, state.wants, router)
    if (start.sources !== undefined) this.#showSources(state, start.sources)
    if (bars.isUsed) this.#useBars(bars, start)
  }

  #useBars(bars: TokenBars, { warmGaps = [], warmTo }: Pick<StartInput, 'warmGaps' | 'warmTo'>): void {
    this.#bars = bars
    this.#warmGaps = warmGaps
    bars.seenTo = warmTo
    this.#dueAt = Number.NEGATIVE_INFINITY
    for (const width of bars.timeWidths) this.#state.timers.setBars(width)
  }

  /** As a part of the warm-up, passes to each strategy the last answers of its data sources from before the start. */
  #showSources(state: EngineState, sources: readonly SourceValue[]): void {
    const { now } = state
    state.warming = state.warmed = true
    this.#dueAt = Number.NEGATIVE_INFINITY
    for (const { bot, name, data, time } of sources) {
      state.now = time
      this.#parts.bots.of(bot)?.source(name, time, data)
    }
    state.now = now
    state.warming = false
  }

  #restore(state: EngineState, position: Position): void {
    const { exits } = this.#parts
    state.book.settle(position)
    if (position.state === 'closed') {
      state.emitPosition(position)
      exits.closed(position)
    } else {
      this.#watch.watch(position)
      exits.restore(position)
    }
  }

  #gap(state: EngineState, gap: Extract<Input, { kind: 'gap' }>): void {
    this.#forgetPrices(state, gap.keys)
    this.#watch.missed(gap.keys)
    this.#bars?.missed(gap)
    this.#parts.bots.missed(gap)
  }

  #forgetPrices(state: EngineState, keys: readonly string[]): void {
    if (keys.includes('trades')) state.prices.forgetAll()
    else for (const key of keys) state.prices.forget(state.mints.find(key))
  }

  #timer(state: EngineState, id: number): void {
    const { bots, conditionals, exits } = this.#parts
    const timer = state.timers.fire(id)
    // A timer that closes bars needs no more work, because `#catchUp` has already closed the bars that have ended.
    if (timer === undefined || timer.owner === 'bars') return
    const exitTimer = exitTimerOf(timer)
    if (exitTimer === undefined) bots.of(timer.bot)?.timer(timer.name)
    else if (exitTimer.what === 'due') conditionals.timer(exitTimer.mint)
    else exits.timer(timer)
  }
}

/** Opens an account for each bot whose account is not in the journal. */
function openAccounts(state: EngineState, bots: readonly BotSettings[]): void {
  const { accounts } = state.book
  // `halt` applies to every account, so an account that is added later is halted too.
  const halted = [...accounts.values()].some((account) => account.halted)
  for (const { account, paperLamports } of bots) {
    if (account.mode === 'live') state.gates.take({ kind: 'gate', account: account.id, open: false })
    if (accounts.has(account.id)) continue
    const lamports = account.mode === 'live' ? null : paperLamports
    const results = { ...NO_RESULTS, day: dayOf(state.now) }
    const money = { account: account.id, lamports, slot: 0, halted, results }
    accounts.set(account.id, money)
    state.emitAccount(money)
  }
}
