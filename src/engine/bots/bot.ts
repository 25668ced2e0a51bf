import type { ErrorCode, Refusal } from '../../base/errors.ts'
import { type Json, plainJson, sizeOf } from '../../base/json.ts'
import { type Random, seededRandom } from '../../base/random.ts'
import { isPublicKey } from '../../solana/base58.ts'
import { readText } from '../buy-and-sell-options.ts'
import type { EngineState } from '../engine-state.ts'
import { readExits } from '../exits/exit-request.ts'
import { type ExitRules, sameExits } from '../exits/exit-settings.ts'
import type {
  Answer,
  Bot,
  BracketOptions,
  BuyOptions,
  DcaOptions,
  LimitBuyOptions,
  LimitSellOptions,
  Placed,
  PositionView,
  SellOptions,
  StrategyLog,
  Token,
  TokenQuery,
} from '../strategy.ts'
import { readTimer, timerRefusal } from '../timers.ts'
import { Allowance } from './allowance.ts'
import type { BotContext, BotHost } from './bot-context.ts'
import { BotReadings, mintOf } from './bot-readings.ts'
import { BotSpeech } from './bot-speech.ts'
import { ConditionalFactory } from './conditional-factory.ts'
import { readTokenQuery, selectTokens } from './token-query.ts'

/** Maximum number of mints that a bot watches. */
const MOST_WATCHED = 5_000
/** If a token gets the same refusal code again within this time (ms), the refusal is not recorded again. */
export const SAME_REFUSAL_MS = 1000
const LONGEST_MINT = 64
const WARMING = { ok: false, code: 'WARMING', reason: 'the strategy is warming up; orders are ignored' } as const

/** The handle that a strategy receives as `bot`. A request that can fail because of the market is refused with a
 *  reason. A request that can fail only because of a bug in the strategy throws an error, and the bot then only closes
 *  positions. */
export class BotHandle extends BotReadings implements Bot<unknown> {
  readonly #state: EngineState
  readonly #context: BotContext
  readonly #host: BotHost
  readonly #random: Random
  readonly #conditionalFactory: ConditionalFactory
  readonly log: StrategyLog
  readonly #speech: BotSpeech
  readonly #allowance = new Allowance()
  /** Codes of refusals that have raised an alarm. */
  readonly #alarmed = new Set<ErrorCode>()
  /** Names of the timers that the strategy's `start` has set. */
  readonly #declared = new Set<string>()

  constructor(context: BotContext, host: BotHost) {
    super(context, host)
    this.#context = context
    this.#state = context.state
    this.#host = host
    this.#random = seededRandom(host.settings.seed)
    this.#conditionalFactory = new ConditionalFactory(context, host)
    this.#speech = new BotSpeech(context.state, host.settings.name, () => this.#assertHandling())
    this.log = this.#speech.log
  }

  get state(): Json {
    return this.#host.money.state
  }

  set state(state: Json) {
    this.#assertHandling()
    const saved = plainJson(state, 'bot.state')
    if (this.#state.warming) return
    this.#allowance.take(this.#state.now, 1 + sizeOf(saved) / CHARACTERS_A_REQUEST)
    this.#host.money.state = saved
    this.#state.emitBot(this.#host.money)
  }

  /** Saves `token.durable`. */
  saveDurable(mint: string, value: Json): void {
    this.#assertHandling()
    const saved = plainJson(value, 'token.durable')
    if (this.#state.warming) return
    this.#allowance.take(this.#state.now, 1 + sizeOf(saved) / CHARACTERS_A_REQUEST)
    const { seenAt } = this.#host.viewOf(this.#state.mints.intern(mint))
    this.#host.durable.save(mint, seenAt, saved)
  }

  tokens(query: TokenQuery = {}): Token[] {
    const checked = readTokenQuery(query)
    this.#charge()
    for (const { mint } of this.positions()) this.#host.viewOf(this.#state.mints.intern(mint))
    const views = this.#host.viewsInOrder()
    this.#charge(views.size / TOKENS_A_REQUEST)
    return selectTokens(views, checked)
  }

  random(): number {
    this.#assertHandling()
    return this.#random.next()
  }

  buy(token: Token | string, options: BuyOptions): Placed {
    return this.#place(token, (mint) => this.#context.factory.buy(this.#host, mint, options))
  }

  limitBuy(token: Token | string, options: LimitBuyOptions): Placed {
    return this.#place(token, (mint) => this.#conditionalFactory.limitBuy(mint, options), COST.conditional)
  }

  limitSell(token: Token | string, options: LimitSellOptions): Placed {
    return this.#place(token, (mint) => this.#conditionalFactory.sell(mint, options, 'above'), COST.conditional)
  }

  stopSell(token: Token | string, options: LimitSellOptions): Placed {
    return this.#place(token, (mint) => this.#conditionalFactory.sell(mint, options, 'below'), COST.conditional)
  }

  dca(token: Token | string, options: DcaOptions): Placed {
    return this.#place(token, (mint) => this.#conditionalFactory.dca(mint, options), COST.conditional)
  }

  bracket(token: Token | string, options: BracketOptions): Placed {
    return this.#place(token, (mint) => this.#conditionalFactory.bracket(mint, options), COST.conditional)
  }

  sell(token: Token | string, options: SellOptions): Placed {
    return this.#place(token, (mint) => this.#context.factory.sell(this.#host, mint, options))
  }

  cancel(orderId: string): boolean {
    this.#charge()
    const { book } = this.#state
    if (!this.#state.warming && this.#guardBooks(() => this.#context.conditionals.cancel(this.#host, orderId)))
      return true
    const open = book.orders.get(orderId)
    if (this.#state.warming || open === undefined || open.order.bot !== this.name || !book.mayCancel(open)) return false
    this.#state.emit({ kind: 'cancel', orderId, code: 'CANCELLED' })
    return true
  }

  setExits(token: Token | string, exits: ExitRules): Answer {
    return this.#changeExits(mintOf(token), exits, 'begin again')
  }

  #changeExits(mint: string, exits: unknown, steps: 'begin again' | 'go on'): Answer {
    this.#charge(COST.setExits)
    if (this.#state.warming) return WARMING
    const rules = readExits(exits)
    if (typeof rules === 'string') return this.#refuse(mint, 'REQUEST_INVALID', rules)
    if (
      this.position(mint) !== undefined &&
      this.#guardBooks(() => this.#context.exits.change(this.#host.settings, mint, rules, steps))
    )
      return { ok: true }
    return this.#refuse(mint, 'NO_POSITION', `${this.name} holds no tokens of this mint`)
  }

  /** Applies the result of `exitsFor`, which may be any value. Does nothing if the position already has these exits.
   *  Unchanged take-profit steps continue instead of restarting, because a strategy may move its stop at each bar, and
   *  a step that has sold its share must not sell again. */
  followExits(position: PositionView, rules: unknown): void {
    const read = readExits(rules)
    if (typeof read !== 'string' && sameExits(read, position.exits)) return
    this.#changeExits(position.mint, rules, 'go on')
  }

  every(name: string, seconds: number): Answer {
    return this.#setTimer(name, seconds, true)
  }

  after(name: string, seconds: number): Answer {
    return this.#setTimer(name, seconds, false)
  }

  clear(name: string): void {
    this.#charge()
    if (!this.#state.warming) this.#state.timers.clear(this.name, name)
  }

  watch(mint: string): boolean {
    this.#chargeWatch()
    if (!isPublicKey(mint)) return false
    if (this.#host.keys.has(mint)) return true
    if (this.#host.keys.size >= MOST_WATCHED) {
      this.#alarmOnce('WATCHES_FULL', `${mint} is not watched: the bot already watches ${MOST_WATCHED} mints`)
      return false
    }
    this.#host.keys.add(mint)
    this.#state.wants.add(mint)
    this.#host.watchToken(this.#state.mints.intern(mint), true)
    return true
  }

  unwatch(mint: string): void {
    this.#chargeWatch()
    if (!isPublicKey(mint) || !this.#host.keys.delete(mint)) return
    this.#state.wants.drop(mint)
    this.#host.watchToken(this.#state.mints.intern(mint), false)
  }

  note(mint: string, why: string): void {
    const text = readText(mint, LONGEST_MINT)
    const reason = readText(why)
    this.#charge(1 + (reason?.length ?? 0) / CHARACTERS_A_REQUEST)
    if (text === undefined || reason === undefined)
      throw new TypeError('bot.note requires a mint and a reason, both strings')
    this.#state.emit({ kind: 'note', bot: this.name, mint: text, code: '', reason })
  }

  message(text: string): boolean {
    return this.#speech.message(text)
  }

  /** Charges the bot's allowance for a timer that fires. Returns false if the bot's timers fire too often. */
  mayFire(): boolean {
    return this.#allowance.takeIfLeft(this.#state.now, COST.firing)
  }

  /** Clears the timers that `start` set in an earlier process and did not set again in this process. */
  clearUndeclared(): void {
    this.#state.timers.clearAll(this.name, ({ name, declared }) => declared === true && !this.#declared.has(name))
  }

  /** Sets a timer. If `start` sets a timer again after a restart, the running timer continues. */
  #setTimer(name: string, seconds: number, repeats: boolean): Answer {
    this.#charge()
    const ms = readTimer(name, seconds)
    const { timers, warming, now } = this.#state
    if (warming) return WARMING
    const { starting, settings } = this.#host
    const running = timers.find(this.name, name)
    const refusal = timerRefusal(name, ms, running === undefined ? timers.countOf(this.name) : 0)
    if (refusal !== undefined) {
      this.#alarmOnce(refusal.code, refusal.reason)
      return { ok: false, ...refusal }
    }
    if (starting) this.#declared.add(name)
    const everyMs = repeats ? ms : 0
    const goesOn = starting && running !== undefined && (!repeats || running.everyMs === everyMs)
    if (!goesOn) {
      const who = { bot: this.name, strategy: settings.strategy, ...(starting && { declared: true }) }
      timers.set({ ...who, name, at: now + ms, everyMs })
    }
    return { ok: true }
  }

  /** Raises an alarm about a refused timer or subscription, because a strategy may ignore the result of its request.
   *  Each code raises only one alarm, because the strategy may repeat the request at every row. */
  #alarmOnce(code: ErrorCode, reason: string): void {
    if (this.#alarmed.has(code)) return
    this.#alarmed.add(code)
    this.#state.emit({ kind: 'alarm', bot: this.name, code, reason: `${reason}; further refusals raise no alarm` })
  }

  #place(token: Token | string, place: (mint: string) => Placed, cost = 1): Placed {
    this.#charge(cost)
    if (this.#state.warming || this.#host.starting) return WARMING
    const mint = mintOf(token)
    if (!this.isMint(mint)) return this.#refuse(mint, 'MINT_INVALID', 'the mint is not a base58 public key of 32 bytes')
    const placed = this.#guardBooks(() => place(mint))
    if (!placed.ok) return this.#refuse(mint, placed.code, placed.reason)
    this.#host.refresh(mint)
    return placed
  }

  #refuse(mint: string, code: ErrorCode, reason: string): { ok: false } & Refusal {
    const view = this.isMint(mint) ? this.#host.viewOf(this.#state.mints.intern(mint)) : undefined
    const now = this.#state.now
    if (view?.refused?.code !== code || now - view.refused.at >= SAME_REFUSAL_MS) {
      const text = readText(mint, LONGEST_MINT) ?? ''
      this.#state.emit({ kind: 'refused', bot: this.name, mint: text, code, reason })
      if (view !== undefined) view.refused = { code, at: now }
    }
    return { ok: false, code, reason }
  }

  /** Runs a request. If the call stack overflows, marks the books as inconsistent, because the engine cannot continue
   *  after that. */
  #guardBooks<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      if (error instanceof RangeError && error.message.includes('call stack')) this.#state.tornBy = this.#context.index
      throw error
    }
  }

  #charge(cost = 1): void {
    this.#assertHandling()
    if (!this.#state.warming) this.#allowance.take(this.#state.now, cost)
  }

  #chargeWatch(): void {
    this.#charge(1 + this.#host.keys.size / MINTS_A_REQUEST)
  }

  /** Throws if no handler is running, for example in a promise. A replay could not repeat a request from there, because
   *  it has no place in the stream of rows and inputs. */
  #assertHandling(): void {
    if (this.#state.activity.running !== this.#context.index)
      throw new Error(
        `${this.name} calls its \`bot\` outside of a handler: call it only within a handler, synchronously`,
      )
  }
}

/** A request usually uses up 1 of a bot's allowance of requests. These requests use up more, because they write more to
 *  the journal or delay other bots more. */
export const COST = {
  /** Cost of a timer that fires, because it writes a row to the journal and runs a handler. */
  firing: 5,
  /** Cost of setting exits, because the journal records the position with all its exits. */
  setExits: 5,
  /** Cost of placing a conditional order, because the journal records the whole order. */
  conditional: 4,
} as const

/** A saved state or a note costs one request for each group of this many characters. */
const CHARACTERS_A_REQUEST = 100
/** A call of `watch` costs one request, plus the number of watched mints divided by this number, because each call
 *  sends the whole list of these mints to the feed. */
const MINTS_A_REQUEST = 100

/** Number of tokens that a call of `tokens` examines for the cost of one request. */
const TOKENS_A_REQUEST = 100
