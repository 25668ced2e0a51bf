import { SluiceError } from '../../base/errors.ts'
import { type Json, plainJson } from '../../base/json.ts'
import { dayOf, type Millis } from '../../base/units.ts'
import type { Bar } from '../../market/bar.ts'
import type { Bars } from '../../market/bars.ts'
import { type MarketEvent, type NewToken, type PriceUpdate, RowKind, type Trade } from '../../market/block.ts'
import { type ByToken, setByToken } from '../../market/mints.ts'
import type { Liquidation } from '../accounting/liquidation.ts'
import type { Position } from '../accounting/position.ts'
import { readPlan } from '../bars/bar-plan.ts'
import { type BarHost, BotBars } from '../bars/bot-bars.ts'
import type { TokenBars } from '../bars/token-bars.ts'
import { readText } from '../buy-and-sell-options.ts'
import type { EngineState } from '../engine-state.ts'
import { BotScope, type LimitScope } from '../limits/limit-scope.ts'
import type { Alarm, StoppedBot } from '../messages.ts'
import { flawText } from '../plan-flaw.ts'
import type { BotMoney } from '../recovered-money.ts'
import type { BotSettings } from '../settings.ts'
import type { BuyTrigger, Handlers, OrderView, RoundTripView, Strategy } from '../strategy.ts'
import { BotHandle } from './bot.ts'
import type { BotContext, BotHost } from './bot-context.ts'
import type { DurableStates } from './durable-states.ts'
import type { Subscriber, SubscriptionRouter } from './subscription-router.ts'
import { readThrown } from './thrown-value.ts'
import type { ViewTable } from './view-table.ts'
import { HeldView, TokenView, type ViewSource } from './views.ts'

/** Runs the strategy of one bot, and keeps the bot's views of tokens. */
export class StrategyRunner implements BotHost, Subscriber, BarHost, ViewSource {
  readonly settings: BotSettings
  readonly money: BotMoney
  readonly durable: DurableStates
  readonly scope: BotScope
  readonly wallet: LimitScope
  readonly keys: Set<string>
  /** Whether the keys cover the trades of all tokens. */
  readonly #coversAll: boolean
  handlers: Handlers<unknown> = {}
  starting = false
  readonly state: EngineState
  readonly #liquidation: Liquidation
  bars: BotBars | undefined
  readonly #allBars: TokenBars
  readonly #strategy: Strategy
  readonly #index: number
  readonly #router: SubscriptionRouter
  /** The views that all bots have of the tokens that they have seen since the day began. */
  readonly #table: ViewTable
  // These two fields of the table are also here, because each row needs them.
  readonly #views: ByToken<TokenView>
  readonly #bots: number
  /** The bot's views of the tokens that it saw on the previous day, by token. */
  #yesterday: ByToken<TokenView> = []
  /** All views in the order of their creation; undefined until the strategy first asks for that order. */
  #inOrder: Set<TokenView> | undefined
  readonly #bot: BotHandle
  /** Frozen copy of the params, made when the strategy first needs it. */
  #params: Json | undefined
  readonly #firings = new FiringRate()
  /** The last answer of each data source that the strategy declares, by the name of the source. */
  readonly #sources = new Map<string, Json>()
  /** Alarm of a strategy that threw during the warm-up. It is emitted afterwards, because outputs are discarded until
   *  then. */
  #heldAlarm: Alarm | undefined

  constructor(
    context: BotContext,
    settings: BotSettings,
    { money, wallet, durable }: Pick<StrategyRunner, 'money' | 'wallet' | 'durable'>,
    strategy: Strategy,
  ) {
    this.state = context.state
    this.#allBars = context.bars
    this.#liquidation = context.liquidation
    this.#index = context.index
    this.#router = context.router
    this.#table = context.table
    this.#views = context.table.views
    this.#bots = context.table.bots
    this.settings = settings
    this.money = money
    this.durable = durable
    this.scope = new BotScope(context.state, settings, money)
    this.wallet = wallet
    this.#strategy = strategy
    this.keys = new Set(strategy.keys)
    this.#coversAll = this.keys.has('trades')
    this.#bot = new BotHandle(context, this)
  }

  start(): void {
    this.#restoreViews()
    if (this.money.status === 'exits-only') return // `Strategy.token` threw while the views were restored
    this.starting = true
    this.guard(() => {
      const params = this.#frozenParams()
      this.#declareBars(params)
      const handlers: unknown = this.#strategy.start(params, this.#bot)
      if (typeof handlers !== 'object' || handlers === null || 'then' in handlers)
        throw new TypeError('start must return an object of handlers, synchronously')
      this.handlers = handlers
      this.#assertTested()
    })
    this.starting = false
    this.#bot.clearUndeclared()
  }

  #declareBars(params: unknown): void {
    const { bars, indicators, when } = this.#strategy
    if (bars === undefined && indicators === undefined && when === undefined) return
    const { plan, flaws } = readPlan(this.#strategy, params)
    if (flaws[0] !== undefined) throw new TypeError(flawText(flaws[0]))
    if (plan.bars.length > 0) this.bars = new BotBars(plan, this.#allBars, this)
  }

  /** Throws if the strategy declares conditions but has no `onCondition`, or has `onCondition` but declares no
   *  conditions. */
  #assertTested(): void {
    const { when } = this.#strategy
    const { onCondition } = this.handlers
    if (when !== undefined && onCondition === undefined)
      throw new TypeError('`when` declares conditions, but `start` returns no `onCondition`')
    if (when === undefined && onCondition !== undefined)
      throw new TypeError('`onCondition` is never called, because the strategy declares no `when`')
  }

  /** Ends a strategy that failed in an earlier engine. Called instead of `start`. */
  stop({ reason, told }: StoppedBot): void {
    this.#restoreViews()
    this.money.status = 'exits-only'
    this.state.timers.clearAll(this.name)
    if (!told) this.#emitEnd({ kind: 'alarm', bot: this.name, code: 'STRATEGY_STOPPED', reason })
  }

  get keepsState(): boolean {
    return this.#strategy.token !== undefined
  }

  get handlesTrades(): boolean {
    return this.handlers.onTrade !== undefined
  }

  hasSeen(token: number): boolean {
    return this.#seen(token) !== undefined
  }

  /** Passes a trade to the strategy. It does what `guard` does, without a closure, because it runs for every trade. */
  trade(trade: Trade, token: number): void {
    const view = this.#seen(token) ?? this.viewOf(token)
    const { activity } = this.state
    const before = activity.enter(this.#index)
    try {
      const returned: unknown = this.handlers.onTrade?.(trade, view)
      if (returned !== undefined) refusePromise(returned)
    } catch (error) {
      this.#threw(error)
    }
    activity.leave(before)
  }

  /** Passes a market row that is not a trade to the strategy. */
  row(kind: RowKind, event: MarketEvent, token: number): void {
    const view = this.viewOf(token)
    this.guard(() =>
      kind === RowKind.newToken
        ? this.handlers.onNewToken?.(event as NewToken, view)
        : this.handlers.onPriceUpdate?.(event as PriceUpdate, view),
    )
  }

  get hasBarHandler(): boolean {
    return this.handlers.onBar !== undefined || this.handlers.exitsFor !== undefined
  }

  /** Passes the newest bar of a token to the strategy. If the strategy's keys cover the token, `onBar` receives the
   *  bar, and `onCondition` receives it once for each name in `conditions`. If the bot holds the token, `exitsFor`
   *  receives the bar. */
  closed(bars: Bars, token: number, conditions: readonly string[]): void {
    if (this.hasBarHandler || conditions.length > 0) this.#showBar(bars, token, conditions)
  }

  // V8 allocates memory at every call of a method that contains a closure, even if the call does not use the closure.
  // Therefore the closures are in separate methods, which most calls do not reach.

  #showBar(bars: Bars, token: number, conditions: readonly string[]): void {
    const { exitsFor } = this.handlers
    const isCovered = this.#coversAll || this.keys.has(this.#mintOf(token))
    if (!isCovered && (exitsFor === undefined || this.#positionIn(this.#mintOf(token)) === undefined)) return
    const view = this.viewOf(token)
    const bar = bars.newest(token)
    if (isCovered) {
      if (this.handlers.onBar !== undefined) this.#onBar(bar, view)
      for (let index = 0; index < conditions.length; index++) this.#onCondition(bar, view, conditions[index] as string)
    }
    if (exitsFor !== undefined) this.#exitsFor(bar, view)
  }

  #mintOf(token: number): string {
    return this.state.mints.list[token] as string
  }

  #onBar(bar: Bar, view: TokenView): void {
    const { activity } = this.state
    const before = activity.enter(this.#index)
    try {
      const returned: unknown = this.handlers.onBar?.(bar, view)
      if (returned !== undefined) refusePromise(returned)
    } catch (error) {
      this.#threw(error)
    }
    activity.leave(before)
  }

  #onCondition(bar: Bar, view: TokenView, name: string): void {
    const { activity } = this.state
    const before = activity.enter(this.#index)
    try {
      const returned: unknown = this.handlers.onCondition?.(bar, view, name)
      if (returned !== undefined) refusePromise(returned)
    } catch (error) {
      this.#threw(error)
    }
    activity.leave(before)
  }

  #exitsFor(bar: Bar, view: TokenView): void {
    this.guard(() => this.#followExits(bar, view))
  }

  #followExits(bar: Bar, view: TokenView): void {
    const { held } = view
    if (held === undefined || held.tokens === 0) return
    const rules: unknown = this.handlers.exitsFor?.(held, bar, view)
    if (rules === undefined) return
    refusePromise(rules)
    this.#bot.followExits(held, rules)
  }

  /** Asks the strategy whether a conditional order may place its buy. Returns the reason if it may not. */
  vetoOf(trigger: BuyTrigger): string | undefined {
    const { confirmBuy } = this.handlers
    if (confirmBuy === undefined) return undefined
    const view = this.viewOf(this.state.mints.intern(trigger.mint))
    let reason: string | undefined
    this.guard(() => {
      const answer: unknown = this.handlers.confirmBuy?.(trigger, view)
      if (answer === true) return
      refusePromise(answer)
      reason = readText(answer)
      if (reason === undefined)
        throw new TypeError('confirmBuy must return true, or the reason why the buy is rejected')
    })
    return reason
  }

  /** Runs `onTimer`, or ends the strategy if its timers fire too often. */
  timer(name: string): void {
    const { now } = this.state
    this.#firings.add(now)
    if (this.#bot.mayFire()) this.guard(() => this.handlers.onTimer?.(name))
    else {
      const reason = `the timers of the strategy fired ${this.#firings.text(now)}, more often than allowed; they were cleared`
      this.#end({ kind: 'alarm', bot: this.name, code: 'STRATEGY_STORM', reason })
    }
  }

  /** Passes an answer of a data source to the strategy. If `data` is absent, passes the last answer again. */
  source(name: string, time: Millis, data: Json | undefined): void {
    if (data !== undefined) this.#sources.set(name, plainJson(data, name))
    const value = this.#sources.get(name)
    if (value !== undefined) this.guard(() => this.handlers.onSource?.(name, value, time))
  }

  /** Notifies the strategy of a change of an order. */
  notify(order: OrderView): void {
    const view = this.viewOf(this.state.mints.intern(order.mint))
    this.guard(() => this.handlers.onOrder?.(order, view))
  }

  /** Passes the round trip of a closed position to the strategy. */
  tripEnded(trip: RoundTripView): void {
    const view = this.viewOf(this.state.mints.intern(trip.mint))
    this.guard(() => this.handlers.onPositionClosed?.(trip, view))
  }

  /** Runs a handler. If the strategy throws, its bot only closes positions from then on; other bots continue. */
  guard(run: () => unknown): void {
    const { activity } = this.state
    const before = activity.enter(this.#index)
    try {
      const returned = run()
      if (returned !== undefined) refusePromise(returned)
    } catch (error) {
      this.#threw(error)
    }
    activity.leave(before)
  }

  /** Emits the alarm of a strategy that failed during the warm-up, because outputs were discarded until now. */
  endWarmup(): void {
    if (this.#heldAlarm !== undefined) this.#emitEnd(this.#heldAlarm)
    this.#heldAlarm = undefined
  }

  /** Called once for each midnight that has passed. Frees the views of tokens that the bot did not see on the previous
   *  day and does not hold, because the number of tokens over time is unlimited. */
  forgetTokens(): void {
    const before = this.#yesterday
    this.#yesterday = this.#table.take(this.#index)
    const freed: string[] = []
    for (const [token, view] of before.entries()) {
      if (view === undefined || this.#yesterday[token] !== undefined) continue
      if (view.held !== undefined) this.#table.set(this.#index, token, view)
      else {
        view.forget()
        this.#inOrder?.delete(view)
        freed.push(view.mint)
      }
    }
    this.durable.freeAll(freed)
  }

  viewsInOrder(): ReadonlySet<TokenView> {
    if (this.#inOrder === undefined) {
      const all = [...new Set([...this.#yesterday, ...this.#table.of(this.#index)])].filter(
        (view) => view !== undefined,
      )
      this.#inOrder = new Set(all.sort((one, other) => one.seenAt - other.seenAt || (one.mint < other.mint ? -1 : 1)))
    }
    return this.#inOrder
  }

  durableOf(mint: string): Json {
    return this.durable.valueOf(mint)
  }

  saveDurable(mint: string, value: Json): void {
    this.#bot.saveDurable(mint, value)
  }

  /** Returns the view of a token that the bot has seen since the day began. */
  #seen(token: number): TokenView | undefined {
    return this.#views[token * this.#bots + this.#index]
  }

  holds(token: number): boolean {
    return this.#seen(token) !== undefined || this.#yesterday[token] !== undefined
  }

  viewOf(token: number): TokenView {
    const known = this.#seen(token) ?? this.#yesterday[token]
    if (known === undefined) {
      const view = this.#newView(token, this.state.now)
      this.#table.set(this.#index, token, view)
      return this.#hold(view)
    }
    // An earlier process has already seen the rows of the warm-up, so they do not mark the token as seen on this day.
    if (this.state.warming) return known
    if (this.#seen(token) === undefined) this.#table.set(this.#index, token, known)
    if (!this.durable.isEmpty) this.durable.seen(known.mint)
    return known
  }

  #newView(token: number, seenAt: Millis): TokenView {
    let state: unknown
    this.guard(() => {
      state = this.#strategy.token?.(this.#frozenParams())
    })
    const view = new TokenView(this, token, state, seenAt)
    this.#inOrder?.add(view)
    return view
  }

  /** Creates the views of tokens with durable state after a restart, so that these tokens are freed at the same time as
   *  without a restart. */
  #restoreViews(): void {
    const { mints, now } = this.state
    for (const { mint, seenAt, day } of this.durable.records()) {
      const isHeld = this.#positionIn(mint) !== undefined
      if (!isHeld && day < dayOf(now) - 1) {
        this.durable.free(mint)
        continue
      }
      const token = mints.intern(mint)
      const view = this.#hold(this.#newView(token, seenAt))
      if (isHeld || day >= dayOf(now)) this.#table.set(this.#index, token, view)
      else setByToken(this.#yesterday, token, view)
    }
  }

  /** Updates the position in the view of a token. Returns the view. */
  refresh(mint: string): TokenView {
    return this.#hold(this.viewOf(this.state.mints.intern(mint)))
  }

  #positionIn(mint: string): Position | undefined {
    const position = this.state.book.positions.get({ account: this.settings.account.id, mint })
    return position?.bot === this.name ? position : undefined
  }

  #hold(view: TokenView): TokenView {
    const position = this.#positionIn(view.mint)
    if (position === undefined) view.held = undefined
    else if (view.held?.shows(position) !== true) view.held = new HeldView(this.#liquidation, position)
    return view
  }

  #frozenParams(): Json {
    this.#params ??= plainJson(this.settings.params, 'params')
    return this.#params
  }

  watchToken(token: number, on: boolean): void {
    this.#router.watch(this, token, on)
  }

  seenAt(mint: string): Millis {
    return this.viewOf(this.state.mints.intern(mint)).seenAt
  }

  get name(): string {
    return this.settings.name
  }

  /** Ends the strategy because it threw. A SluiceError does not come from the strategy (for example, the tape may be
   *  corrupt), so it is thrown again and ends the process. */
  #threw(error: unknown): void {
    if (error instanceof SluiceError) throw error
    const { reason, stack } = readThrown(error)
    const thrownAt = this.state.thrownAt?.(stack)
    const alarm = { kind: 'alarm', bot: this.name, code: 'STRATEGY_THREW', reason } as const
    this.#end(thrownAt === undefined ? alarm : { ...alarm, thrownAt })
  }

  /** Ends the strategy: its bot only closes positions from now on. */
  #end(alarm: Alarm): void {
    this.handlers = {}
    this.bars?.release()
    this.money.status = 'exits-only'
    if (this.state.warming) this.#heldAlarm = alarm
    else this.#emitEnd(alarm)
  }

  #emitEnd(alarm: Alarm): void {
    this.state.timers.clearAll(this.name)
    this.state.emitBot(this.money)
    this.state.emit(alarm)
  }
}

/** Throws if a handler returned a promise. The code after an `await` would have no place in the stream of inputs, and a
 *  rejection would end the process. */
function refusePromise(returned: unknown): void {
  if (typeof returned !== 'object' || returned === null || !('then' in returned)) return
  const { then } = returned
  if (typeof then !== 'function') return
  then.call(returned, undefined, () => {})
  throw new TypeError('a handler returned a promise; handlers must be synchronous')
}

const FIRING_WINDOW_MS = 10_000

/** Counts how often the timers of a bot have fired recently, for the text of an alarm. */
class FiringRate {
  #since: Millis = 0
  #count = 0
  #before = { since: 0, count: 0 }

  add(now: Millis): void {
    if (now - this.#since >= FIRING_WINDOW_MS) {
      const isNext = now - this.#since < 2 * FIRING_WINDOW_MS
      this.#before = isNext ? { since: this.#since, count: this.#count } : { since: now, count: 0 }
      this.#since = now
      this.#count = 0
    }
    this.#count++
  }

  /** Returns a text such as `2,004 times within 1.3 s`. */
  text(now: Millis): string {
    const { since, count } = this.#before
    const seconds = Math.max(0.1, (now - (count > 0 ? since : this.#since)) / 1000)
    const [whole, ...thousands] = String(this.#count + count).split(/(?=(?:\d{3})+$)/)
    return `${[whole, ...thousands].join(',')} times within ${seconds.toFixed(1)} s`
  }
}
