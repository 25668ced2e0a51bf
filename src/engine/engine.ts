import { dayOf, endOfDay, type Millis, type Seq } from '../base/units.ts'
import { type Block, RowKind, type TokenId } from '../market/block.ts'
import type { Mints, TokenHolder } from '../market/mints.ts'
import { Liquidation } from './accounting/liquidation.ts'
import type { Position } from './accounting/position.ts'
import { Bots, moneyIn, strategyOf } from './bots/bots.ts'
import { StrategyRunner } from './bots/strategy-runner.ts'
import { SubscriptionRouter } from './bots/subscription-router.ts'
import type { ThrownAtOf } from './bots/thrown.ts'
import { Activity, EngineState } from './engine-state.ts'
import { ExecutionReports } from './execution-reports.ts'
import { Conditionals } from './exits/conditionals.ts'
import { ExitWatch } from './exits/exit-watch.ts'
import { Exits } from './exits/position-exits.ts'
import { LimitCheck } from './limits/limit-check.ts'
import { LimitScopes } from './limits/limit-scope.ts'
import { Results } from './limits/results.ts'
import type { Input, Output, StartInput } from './messages.ts'
import { OperatorCommands } from './operator-commands.ts'
import { OrderFactory } from './order-factory.ts'
import type { EnginePort } from './ports.ts'
import { moneyOf, NO_RESULTS } from './recovered-money.ts'
import type { BotSettings } from './settings.ts'
import type { Strategy } from './strategy.ts'
import { exitTimerOf } from './timers.ts'
import { WalletReconciler } from './wallet-reconciler.ts'

export interface EngineOptions {
  /** Where a watchdog looks, see Activity. */
  readonly cells?: Int32Array
  /** Finds a strategy's own code in a stack; without it alarms name no place. */
  readonly thrownAt?: ThrownAtOf
}

/** All bots and accounts of one process under one seq. The same in live, paper, backtest and replay: what differs is
 *  who feeds it. First comes a `start` input, then rows that strategies are shown without acting (`warm`), then the
 *  stream. */
export class Engine implements EnginePort, TokenHolder {
  readonly outputs: Output[] = []
  readonly #activity: Activity
  readonly #mints: Mints
  readonly #strategies: ReadonlyMap<string, Strategy>
  readonly #thrownAt: ThrownAtOf | undefined
  #session!: EngineState
  #watch!: ExitWatch
  #exits!: Exits
  #conditionals!: Conditionals
  #commands!: OperatorCommands
  #reports!: ExecutionReports
  #custody!: WalletReconciler
  #results!: Results
  #audience!: SubscriptionRouter
  #roster!: Bots
  #parties!: LimitScopes
  /** From this time on there is something to do before the next row or input: the end of the UTC day, or at once after
   *  a warm-up. */
  #dueAt: Millis = Number.NEGATIVE_INFINITY
  #dayEnds: Millis = Number.NEGATIVE_INFINITY

  /** `strategies` by the name that the bots' settings use. */
  constructor(mints: Mints, strategies: ReadonlyMap<string, Strategy>, { cells, thrownAt }: EngineOptions = {}) {
    this.#mints = mints
    this.#strategies = strategies
    this.#thrownAt = thrownAt
    this.#activity = new Activity(cells)
  }

  rows(firstSeq: Seq, block: Block, from: number, to: number): number {
    const session = this.#session
    session.agesFrom = from
    const row = this.#handle(session, firstSeq - from, block, from, to)
    session.learnAges(block, row)
    if (session.tornBy >= 0) session.end()
    return row
  }

  /** The row to go on with. Nothing stands behind the loop: code compiled while it runs does not know that, and is
   *  thrown away there. */
  #handle(session: EngineState, seqOfZero: Seq, block: Block, from: number, to: number): number {
    const { outputs } = this
    const { time } = block
    let row = from
    let ahead = from
    do {
      if (row === ahead) ahead = this.#audience.lookAhead(block, row, to)
      const now = time[row] as number
      if (!(now >= session.now)) throw new Error(`invariant broken: time runs backwards from ${session.now} to ${now}`)
      session.seq = seqOfZero + row
      session.now = now
      if (now >= this.#dueAt) this.#catchUp(session)
      this.#dispatch(session, block, row)
      session.wants.flush()
      row++
    } while (row < to && outputs.length === 0)
    return row
  }

  warm(block: Block, row: number): void {
    const session = this.#session
    session.warming = session.warmed = true
    this.#dueAt = Number.NEGATIVE_INFINITY
    session.now = block.time[row] as number
    session.agesFrom = row
    this.#dispatch(session, block, row)
    session.block = block
    this.#watch.repeats.warm()
    session.block = undefined
    session.warming = false
  }

  input(seq: Seq, time: Millis, input: Input): void {
    if (input.kind === 'start') this.#begin(input)
    const session = this.#session
    session.seq = seq
    session.now = time
    if (time >= this.#dueAt) this.#catchUp(session)
    this.#take(session, input)
    session.wants.flush()
    if (session.tornBy >= 0) session.end()
  }

  /** Whether more is known of a token than of one that was never seen. */
  holds(token: TokenId): boolean {
    const { prices, launches } = this.#session
    const isWanted = this.#watch.concerns(token) || this.#audience.watches(token)
    const isKnown = prices.holds(token) || launches.of(token) !== undefined
    return isWanted || isKnown || this.#roster.all().some((trader) => trader.holds(token))
  }

  /** Positions whose high-water mark rose since the last call. */
  takeMarks(): Position[] {
    return this.#watch.takeMarks()
  }

  #dispatch(session: EngineState, block: Block, row: number): void {
    const token = block.token[row] as number
    const kind = block.kind[row] as RowKind
    session.block = block
    session.row = row
    if (kind <= RowKind.sell) {
      if (!this.#watch.concerns(token)) session.prices.fold(block, row, token)
      else if (!this.#watch.repeats.isRepeat(token) && session.prices.fold(block, row, token) && !session.warming)
        this.#watch.check(token)
    } else if (kind === RowKind.newToken) session.launches.note(block, row, token)
    this.#audience.show(block, row, kind, token)
    session.block = undefined
  }

  /** What was printed before the start is no price to act on. */
  #catchUp(session: EngineState): void {
    if (session.warmed) session.prices.forgetAll()
    session.warmed = false
    const isNewDay = session.now >= this.#dayEnds
    this.#dueAt = this.#dayEnds = endOfDay(session.now)
    for (const trader of this.#roster.all()) trader.settle()
    if (!isNewDay) return
    for (const trader of this.#roster.all()) trader.forgetTokens()
    session.nextDay((token) => this.#watch.concerns(token) || this.#audience.watches(token))
    for (const party of this.#parties.all()) this.#results.roll(party)
  }

  #begin(start: StartInput): void {
    const session = new EngineState(this.outputs, this.#mints, start, this.#activity, this.#thrownAt)
    this.#session = session
    this.#dueAt = this.#dayEnds = Number.NEGATIVE_INFINITY
    session.nextOrder = start.money.nextOrder
    session.book.restore(start.money)
    session.spending.restore(start.money.spends, start.money.daySpends)
    const roster = new Bots()
    this.#roster = roster
    const traderOf = (bot: string): StrategyRunner | undefined => roster.of(bot)
    this.#watch = new ExitWatch(
      session,
      () => this.#exits,
      () => this.#conditionals,
    )
    const liquidation = new Liquidation(session, this.#watch)
    this.#results = new Results(session, liquidation)
    this.#parties = new LimitScopes(session, start.bots)
    const limits = new LimitCheck(session, this.#results, liquidation)
    const desk = new OrderFactory(session, this.#watch, limits)
    this.#exits = new Exits(session, desk, this.#watch, (position) => roster.sellerOf(position))
    this.#conditionals = new Conditionals(session, desk, this.#watch, this.#exits, traderOf)
    this.#reports = new ExecutionReports(
      session,
      this.#watch,
      this.#exits,
      this.#conditionals,
      this.#results,
      this.#parties,
      traderOf,
      limits,
    )
    this.#custody = new WalletReconciler(session, this.#watch, this.#exits, this.#conditionals, traderOf)
    this.#commands = new OperatorCommands(session, this.#exits, this.#conditionals, {
      forgive: () => this.#forgive(session),
      accept: (signature) => this.#custody.accept(signature),
      traders: () => roster.all(),
    })
    this.#audience = new SubscriptionRouter(this.#mints)
    for (const [index, settings] of start.bots.entries()) roster.add(this.#hire(desk, settings, index, start))
  }

  #hire(desk: OrderFactory, settings: BotSettings, index: number, start: StartInput): StrategyRunner {
    const strategy = strategyOf(settings, start, this.#strategies)
    const wallet = this.#parties.wallet(settings.account.id)
    const own = moneyOf(settings, moneyIn(start, settings))
    const trader: StrategyRunner = new StrategyRunner(
      this.#session,
      desk,
      this.#results,
      settings,
      own,
      wallet,
      strategy,
      {
        index,
        setExits: (mint, exits) => this.#exits.change(settings, mint, exits),
        conditionals: this.#conditionals,
        watch: (token, on) => this.#audience.watch(trader, token, on),
      },
    )
    this.#parties.add(trader.party)
    return trader
  }

  #take(session: EngineState, input: Input): void {
    switch (input.kind) {
      case 'start':
        this.#open(session, input)
        break
      case 'gap':
        this.#gap(session, input)
        break
      case 'timer':
        this.#timer(session, input.id)
        break
      case 'report':
        this.#reports.take(input.report)
        this.#custody.alarm(input.report)
        break
      case 'foreign':
      case 'deficit':
      case 'adopt':
      case 'mint':
        this.#custody.take(input)
        break
      case 'pool':
        this.#exits.polls.take(input)
        break
      case 'command':
        this.#commands.take(input.command)
        break
      default:
        session.take(input)
    }
  }

  /** Second half of a start, at its own time: accounts, what is watched, timers, strategies. */
  #open(session: EngineState, start: StartInput): void {
    const { book, timers } = session
    openAccounts(session, start.bots)
    const strategyOf = (bot: string): string | undefined => this.#roster.of(bot)?.settings.strategy
    timers.restore(start.money.timers, start.money.nextTimer, strategyOf)
    for (const position of book.positions.all()) this.#restore(session, position)
    this.#conditionals.restore(start.money.conditionals, start.money.nextConditional)
    for (const { order, state } of book.orders.values())
      if (state === 'accepted' && order.side === 'buy')
        this.#watch.await(order, this.#roster.of(order.bot)?.settings.orders.maxChasePercent ?? 0)
    this.#roster.begin(start, session.wants, this.#audience)
  }

  #restore(session: EngineState, position: Position): void {
    session.book.settle(position)
    if (position.state === 'closed') {
      session.emitPosition(position)
      this.#exits.closed(position)
    } else {
      this.#watch.watch(position)
      this.#exits.restore(position)
    }
  }

  #gap(session: EngineState, gap: Extract<Input, { kind: 'gap' }>): void {
    if (gap.keys.includes('trades')) session.prices.forgetAll()
    else for (const key of gap.keys) session.prices.forget(this.#mints.find(key))
    this.#watch.missed(gap.keys)
    this.#roster.missed(gap)
  }

  #timer(session: EngineState, id: number): void {
    const timer = session.timers.fire(id)
    if (timer === undefined) return
    const trader = this.#roster.of(timer.bot)
    const due = exitTimerOf(timer)
    if (due?.what === 'due') this.#conditionals.timer(due.mint)
    else if (due !== undefined) this.#exits.timer(timer)
    else trader?.timer(timer.name)
  }

  /** What stopped entries is over, for the operator says so. */
  #forgive(session: EngineState): void {
    for (const account of session.book.accounts.values()) this.#custody.release(account)
    for (const party of this.#parties.all()) this.#results.forgive(party)
  }
}

/** The accounts of these bots: those that the journal does not know begin here. */
function openAccounts(session: EngineState, bots: readonly BotSettings[]): void {
  const { accounts } = session.book
  // A halt is the operator's word for all of it, so what joins later is halted too.
  const halted = [...accounts.values()].some((account) => account.halted)
  for (const { account, paperLamports } of bots) {
    if (account.mode === 'live') session.gates.take({ kind: 'gate', account: account.id, open: false })
    if (accounts.has(account.id)) continue
    const lamports = account.mode === 'live' ? null : paperLamports
    const results = { ...NO_RESULTS, day: dayOf(session.now) }
    const money = { account: account.id, lamports, slot: 0, halted, results }
    accounts.set(account.id, money)
    session.emitAccount(money)
  }
}
