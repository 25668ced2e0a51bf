import type { ErrorCode, Refusal } from '../../base/errors.ts'
import { type Json, plainJson, sizeOf } from '../../base/json.ts'
import { type Random, seededRandom } from '../../base/random.ts'
import type { Millis } from '../../base/units.ts'
import { isPublicKey } from '../../solana/base58.ts'
import { stepTokensDue } from '../accounting/position.ts'
import type { EngineState } from '../engine-state.ts'
import { readExits } from '../exits/exit-request.ts'
import type { ExitRules } from '../exits/exit-rules.ts'
import { readText, readTimer, timerRefusal } from '../requests.ts'
import type {
  Answer,
  Bot,
  BracketOptions,
  BuyOptions,
  DcaOptions,
  LimitBuyOptions,
  LimitSellOptions,
  Placed,
  SellOptions,
  Token,
} from '../strategy.ts'
import type { BotContext, BotHost } from './bot-context.ts'
import { BotReadings, mintOf } from './bot-readings.ts'
import { ConditionalFactory } from './conditional-factory.ts'

/** Mints that a bot may watch at a time. */
const MOST_WATCHED = 5_000
/** A refusal with the same code as the last of its token is not said again within this time. */
export const SAME_REFUSAL_MS = 1000
const LONGEST_MINT = 64
const WARMING = { ok: false, code: 'WARMING', reason: 'the bot is being shown the past' } as const

/** What a strategy gets as `bot`: everything it may ask for, answered at once. What could be a market's doing is
 *  refused with its reason; what can only be a mistake in the strategy throws, and so ends its entries. */
export class BotHandle extends BotReadings implements Bot<unknown> {
  readonly #state: EngineState
  readonly #context: BotContext
  readonly #host: BotHost
  readonly #random: Random
  readonly #conditionalFactory: ConditionalFactory
  readonly #allowance = new Allowance()
  /** Refusals that an alarm has told of. */
  readonly #told = new Set<ErrorCode>()
  /** Timers that its `start` asked for. */
  readonly #declared = new Set<string>()

  constructor(context: BotContext, host: BotHost) {
    super(context, host)
    this.#context = context
    this.#state = context.state
    this.#host = host
    this.#random = seededRandom(host.settings.seed)
    this.#conditionalFactory = new ConditionalFactory(context, host)
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
    this.#ask()
    const { orders, positions } = this.#state.book
    if (!this.#state.warming && this.#whole(() => this.#context.conditionals.cancel(this.#host, orderId))) return true
    const open = orders.get(orderId)
    if (this.#state.warming || open === undefined || open.order.bot !== this.name || open.state !== 'accepted')
      return false
    const isDue = positions
      .ofMint(open.order.mint)
      .some((position) => position.exiting !== '' || stepTokensDue(position) > 0n)
    if (open.order.side === 'sell' && isDue) return false
    this.#state.emit({ kind: 'cancel', orderId, code: 'CANCELLED' })
    return true
  }

  setExits(token: Token | string, exits: ExitRules): Answer {
    this.#ask(COST.setExits)
    const mint = mintOf(token)
    if (this.#state.warming) return WARMING
    const rules = readExits(exits)
    if (typeof rules === 'string') return this.#refuse(mint, 'REQUEST_INVALID', rules)
    if (
      this.position(mint) !== undefined &&
      this.#whole(() => this.#context.exits.change(this.#host.settings, mint, rules))
    )
      return { ok: true }
    return this.#refuse(mint, 'NO_POSITION', `${this.name} holds nothing of it`)
  }

  every(name: string, seconds: number): Answer {
    return this.#setTimer(name, seconds, true)
  }

  after(name: string, seconds: number): Answer {
    return this.#setTimer(name, seconds, false)
  }

  clear(name: string): void {
    this.#ask()
    if (!this.#state.warming) this.#state.timers.clear(this.name, name)
  }

  watch(mint: string): boolean {
    this.#askToWatch()
    if (!isPublicKey(mint)) return false
    if (this.#host.keys.has(mint)) return true
    if (this.#host.keys.size >= MOST_WATCHED) {
      this.#alarmOnce('WATCHES_FULL', `${mint} is not watched: the bot watches ${MOST_WATCHED} mints already`)
      return false
    }
    this.#host.keys.add(mint)
    this.#state.wants.add(mint)
    this.#host.watchToken(this.#state.mints.intern(mint), true)
    return true
  }

  unwatch(mint: string): void {
    this.#askToWatch()
    if (!isPublicKey(mint) || !this.#host.keys.delete(mint)) return
    this.#state.wants.drop(mint)
    this.#host.watchToken(this.#state.mints.intern(mint), false)
  }

  note(mint: string, why: string): void {
    const about = readText(mint, LONGEST_MINT)
    const reason = readText(why)
    this.#ask(1 + (reason?.length ?? 0) / CHARACTERS_A_REQUEST)
    if (about === undefined || reason === undefined) throw new TypeError('bot.note takes a mint and a text')
    this.#state.emit({ kind: 'note', bot: this.name, mint: about, code: '', reason })
  }

  /** A timer of its strategy fires. False: it has fired too often for that. */
  mayFire(): boolean {
    return this.#allowance.takeIfLeft(this.#state.now, COST.firing)
  }

  /** Ends the timers that an earlier `start` of the strategy set and this one did not. */
  endUndeclared(): void {
    this.#state.timers.clearAll(this.name, ({ name, declared }) => declared === true && !this.#declared.has(name))
  }

  /** A strategy sets its timers in `start`; after a restart the one that runs goes on. */
  #setTimer(name: string, seconds: number, repeats: boolean): Answer {
    this.#ask()
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

  /** A strategy that does not look at the answer goes on without what it asked for, so a person is told; once, since it
   *  may ask again with every row. */
  #alarmOnce(code: ErrorCode, reason: string): void {
    if (this.#told.has(code)) return
    this.#told.add(code)
    this.#state.emit({ kind: 'alarm', bot: this.name, code, reason: `${reason}; more refusals are not told` })
  }

  #place(token: Token | string, place: (mint: string) => Placed, cost = 1): Placed {
    this.#ask(cost)
    if (this.#state.warming || this.#host.starting) return WARMING
    const mint = mintOf(token)
    if (!this.isMint(mint)) return this.#refuse(mint, 'MINT_INVALID', 'not a base58 key of 32 bytes')
    const placed = this.#whole(() => place(mint))
    if (!placed.ok) return this.#refuse(mint, placed.code, placed.reason)
    this.#host.refresh(mint)
    return placed
  }

  #refuse(mint: string, code: ErrorCode, reason: string): { ok: false } & Refusal {
    const view = this.isMint(mint) ? this.#host.viewOf(this.#state.mints.intern(mint)) : undefined
    const now = this.#state.now
    if (view?.refused?.code !== code || now - view.refused.at >= SAME_REFUSAL_MS) {
      const about = readText(mint, LONGEST_MINT) ?? ''
      this.#state.emit({ kind: 'refused', bot: this.name, mint: about, code, reason })
      if (view !== undefined) view.refused = { code, at: now }
    }
    return { ok: false, code, reason }
  }

  /** A stack that ends in the middle of an order leaves half of it in the books: no engine goes on with that. */
  #whole<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      if (error instanceof RangeError && error.message.includes('call stack')) this.#state.tornBy = this.#context.index
      throw error
    }
  }

  #ask(cost = 1): void {
    this.#assertHandling()
    if (!this.#state.warming) this.#allowance.take(this.#state.now, cost)
  }

  #askToWatch(): void {
    this.#ask(1 + this.#host.keys.size / MINTS_A_REQUEST)
  }

  /** What is asked for later, from a promise or a timer of the strategy's own, has no place in the stream: it could not
   *  be repeated. */
  #assertHandling(): void {
    if (this.#state.activity.running !== this.#context.index)
      throw new Error(`${this.name} uses its bot outside of a handler; a handler ends before it returns`)
  }
}

const AT_ONCE = 10000
const PER_SECOND = 500

/** What counts as more than one request, by what it writes to the journal and takes from the other bots. */
export const COST = {
  /** A timer that fires: a row of the journal, and a handler that runs. */
  firing: 5,
  /** A position with its exits is written whole. */
  setExits: 5,
  /** A conditional order is written whole. */
  conditional: 4,
} as const

/** So many characters of a state or a note count as one request more. */
const CHARACTERS_A_REQUEST = 100
/** So many mints that a bot watches make the next `watch` count as one request more: the list goes to the feed
 *  whole. */
const MINTS_A_REQUEST = 100

/** How much a bot may ask for: each request crosses into the journal and may cost every other bot time. 10,000 at once,
 *  and 500 a second on end. By the engine's time, so that a replay agrees. */
export class Allowance {
  #left = AT_ONCE
  #at: Millis = 0

  /** Throws RangeError where there is none left. */
  take(now: Millis, cost = 1): void {
    if (!this.takeIfLeft(now, cost))
      throw new RangeError(
        `a bot may ask for ${AT_ONCE} things at once and ${PER_SECOND} a second; this one asks for more`,
      )
  }

  /** False, and nothing is taken, where there is not enough left. */
  takeIfLeft(now: Millis, cost: number): boolean {
    if (now > this.#at) {
      this.#left = Math.min(AT_ONCE, this.#left + ((now - this.#at) * PER_SECOND) / 1000)
      this.#at = now
    }
    if (this.#left < cost) return false
    this.#left -= cost
    return true
  }
}
