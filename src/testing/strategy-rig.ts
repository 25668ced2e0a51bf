import type { Json } from '../base/json.ts'
import { lamportsToSol, type Millis, wholeTokens } from '../base/units.ts'
import { botSettings } from '../config/accounts.ts'
import { type LoneBotOptions, loneBot } from '../config/bots.ts'
import type { Config } from '../config/config.ts'
import { alarmText } from '../engine/bots/thrown-value.ts'
import { DEFAULT_EXIT_WINDOW } from '../engine/exits/exit-settings.ts'
import { type Alarm, type Command, isStrategyEnd, type StartInput } from '../engine/messages.ts'
import { NO_MONEY } from '../engine/recovered-money.ts'
import type { FillView, Strategy } from '../engine/strategy.ts'
import { NO_PAST } from '../journal/reader/recovery.ts'
import { Mints } from '../market/mints.ts'
import { Limiter } from '../orders/limiter.ts'
import { PaperWorld } from '../runtime/paper-world.ts'
import { Segment } from '../runtime/segment.ts'
import { NOT_WARM, startInput } from '../runtime/start-input.ts'
import { SimulatedClock } from '../simulation/simulated-clock.ts'
import { venueOf } from '../venues/registry.ts'
import type { TestOrder, TestRemark } from './run-log.ts'
import { RunLog } from './run-log.ts'
import { MINT, type TestNewToken, type TestPriceUpdate, TestRows, type TestTrade } from './test-rows.ts'

/** Options of a test: those of a bot in the YAML, and two of the simulated executor. */
export interface StrategyTestOptions extends LoneBotOptions {
  /** Time from decision to landing, seconds; at least 0.001, default 1. */
  readonly latencySeconds?: number
  /** Percentage of orders that never land; default 0. `paper.seed` selects them. */
  readonly lostPercent?: number
}

/** The bot's position in a mint. */
export interface TestPosition {
  /** Mint of the token, base58. */
  readonly mint: string
  /** `closed` once the last token is sold. */
  readonly state: 'opening' | 'open' | 'closing' | 'closed'
  /** Whole tokens held. */
  readonly tokens: number
  /** Cost of the tokens held, SOL. It includes the fees of venue and service. */
  readonly costSol: number
  /** Average price paid, SOL a token. */
  readonly averagePrice: number
  /** Profit of the sales so far, SOL, before network fees and rent. */
  readonly realizedSol: number
}

/** 2026-01-01, 00:00 UTC. */
const START: Millis = 1_767_225_600_000
const BOOT = 'simulated'
/** Number of prints that move every price, regardless of earlier prints. They fill the middle half of the window of
 *  exits, and all of it above or below that half. */
const SETTLING_PRINTS = DEFAULT_EXIT_WINDOW - (DEFAULT_EXIT_WINDOW >> 2)
const SETTLING_SECONDS = 0.016

/** One bot on a market that the test controls, with the engine, gateway, limiter and simulated executor of a paper run.
 *  The clock advances only when the test does. Every method throws the error that the strategy threw. */
export class StrategyRig {
  readonly #clock = new SimulatedClock(START)
  readonly #mints = new Mints()
  readonly #rows = new TestRows(this.#mints)
  readonly #log = new RunLog()
  readonly #segment: Segment
  readonly #keys: readonly string[]
  #wanted: readonly string[] = []
  #threw: Alarm | undefined

  /** Throws SluiceError if the strategy or the options are invalid. */
  constructor(strategy: Strategy, { latencySeconds = 1, lostPercent = 0, ...options }: StrategyTestOptions) {
    const config = loneBot(strategy, options)
    const latency = msOf(latencySeconds)
    if (latency === 0) throw new RangeError('latencySeconds: expected at least 0.001')
    if (!(lostPercent >= 0 && lostPercent <= 100)) throw new RangeError('lostPercent: expected 0 to 100')
    const latencyMs = { p50: latency, p95: latency }
    const paper = new PaperWorld(config, this.#clock, this.#mints, (model) => {
      // A test's market consists of the prints that its author wrote, often of buys alone, so no token counts as
      // unsellable.
      const honeypot = { ...model.honeypot, buys: Number.MAX_SAFE_INTEGER }
      return { ...model, latencyMs, landingFailurePercent: lostPercent, honeypot }
    })
    this.#keys = strategy.keys
    this.#segment = this.#newSegment(strategy, paper)
    const start = startOf(config)
    paper.restore(start.bots, start.money, (key) => this.#limiter(key, start))
    this.#segment.begin(start, [])
    this.#segment.runner.post({ kind: 'feed', status: 'live', confirmed: this.#keys })
    this.#check()
  }

  /** All orders, including those of exits, oldest first. */
  get orders(): readonly TestOrder[] {
    return this.#log.orders
  }

  /** Executions of the bot's orders. */
  get fills(): readonly FillView[] {
    return this.#log.fills
  }

  /** Refused requests, oldest first. The same refusal within one second is recorded once. */
  get refusals(): readonly TestRemark[] {
    return this.#log.refusals
  }

  /** Notes of the strategy. */
  get notes(): readonly TestRemark[] {
    return this.#log.notes
  }

  /** All decisions, one line of JSON each. They suit a snapshot test. */
  get decisions(): readonly string[] {
    return this.#log.decisions
  }

  /** The last value of `bot.state`. */
  get state(): Json {
    return this.#log.state
  }

  /** Current subscription keys: those of the strategy, of its watches and of its positions. */
  get keys(): readonly string[] {
    return this.#wanted
  }

  /** Time of the simulated clock, ms since the Unix epoch. */
  get now(): Millis {
    return this.#clock.now()
  }

  /** Returns the last position in a mint; undefined if there has not been any. */
  position(mint: string = MINT): TestPosition | undefined {
    const position = this.#log.positions.get(mint)
    if (position === undefined) return undefined
    const { state, tokens, decimals, averagePrice, costLamports, realizedLamports } = position
    const costSol = lamportsToSol(costLamports)
    const realizedSol = lamportsToSol(realizedLamports)
    return { mint, state, tokens: wholeTokens(tokens, decimals), costSol, averagePrice, realizedSol }
  }

  /** Adds a print. A single print does not make a price, because `token.price` is the median of the last five prints,
   *  from the third on. */
  trade(trade: TestTrade): void {
    this.#row(trade, (time) => this.#rows.trade(time, trade))
  }

  /** Adds 61 prints, 0.016 s apart, so that `token.price` equals `price`, SOL a token, and exits act on it. */
  settle(price: number, trade: Omit<TestTrade, 'price'> = {}): void {
    for (let print = 0; print < SETTLING_PRINTS; print++)
      this.trade({ afterSeconds: SETTLING_SECONDS, ...trade, price })
  }

  /** Announces a new token. */
  newToken(token: TestNewToken = {}): void {
    this.#row(token, (time) => this.#rows.newToken(time, token))
  }

  /** Adds a price update of the service. */
  priceUpdate(update: TestPriceUpdate): void {
    this.#row(update, (time) => this.#rows.priceUpdate(time, update))
  }

  /** Advances the clock by this many seconds, at least 0, without rows, so that orders land and timers fire. */
  advance(seconds: number): void {
    this.#advanceTo(this.now + msOf(seconds))
    this.#check()
  }

  /** Interrupts the feed for this many seconds, at least 0. */
  gap(seconds: number): void {
    const { runner } = this.#segment
    const from = this.now
    runner.post({ kind: 'feed', status: 'down', confirmed: [] })
    this.#advanceTo(from + msOf(seconds))
    runner.post({ kind: 'gap', from, to: this.now, keys: this.#wanted })
    runner.post({ kind: 'feed', status: 'live', confirmed: this.#wanted })
    this.#check()
  }

  /** Sends an operator's command, for example `{ name: 'halt' }`, `{ name: 'signal', signal: 'x', data: {} }` or `{
   *  name: 'stop' }`. */
  command(command: Command): void {
    this.#segment.runner.post({ kind: 'command', command })
    this.#check()
  }

  #row({ afterSeconds = 1 }: { readonly afterSeconds?: number }, write: (time: Millis) => void): void {
    const time = this.now + msOf(afterSeconds)
    this.#advanceTo(time)
    write(time)
    const { block } = this.#rows
    this.#segment.runner.rows(block, block.length - 1, block.length)
    this.#check()
  }

  #advanceTo(time: Millis): void {
    this.#clock.advanceTo(time)
  }

  /** Throws the error that the strategy threw. An error must not pass through the engine, so it is thrown
   *  afterwards. */
  #check(): void {
    const threw = this.#threw
    this.#threw = undefined
    if (threw !== undefined) throw strategyError(threw)
  }

  #newSegment(strategy: Strategy, paper: PaperWorld): Segment {
    const clock = this.#clock
    return new Segment({
      machine: { clock, monotonicMs: () => clock.now(), boot: BOOT },
      journal: this.#log,
      mints: this.#mints,
      strategies: new Map([[strategy.name, strategy]]),
      past: NO_PAST,
      route: ({ account }) => {
        const route = paper.route(account)
        if (route === undefined) throw new Error(`no executor for ${account}`)
        return route
      },
      want: (keys) => {
        this.#wanted = keys
      },
      observe: (block, from, to) => paper.market.observe(block, from, to),
      alarm: (alarm) => {
        if (isStrategyEnd(alarm.code)) this.#threw ??= alarm
      },
    })
  }

  #limiter(key: string, { plan }: StartInput): Limiter {
    const clock = this.#clock
    const { requestsPerMinute } = plan
    return new Limiter({
      ...{ key, clock, monotonicMs: () => clock.now(), boot: BOOT, past: 'fresh', write: () => {} },
      requestsPerMinute,
    })
  }
}

/** Starts a bot of this strategy. Options are those of a bot in the YAML, in the same units. */
export function testStrategy<P, S>(strategy: Strategy<P, S>, options: StrategyTestOptions = {}): StrategyRig {
  return new StrategyRig(strategy as unknown as Strategy, options)
}

function startOf(config: Config): StartInput {
  const { settings } = botSettings(config, { service: 'test', cluster: '', wallet: '', allow: 'paper' })
  const plan = venueOf(config.service).plans.first(config.service.plan)
  return startInput(config, { segment: 1, code: 'test', bots: settings, plan, money: NO_MONEY, warm: NOT_WARM })
}

function msOf(seconds: number): number {
  if (!(seconds >= 0 && seconds < 1e9)) throw new RangeError(`seconds must be at least 0 and below 1e9, got ${seconds}`)
  return Math.round(seconds * 1000)
}

/** Returns the error of a strategy. Its stack begins with the strategy's own frames, because test runners show the line
 *  of the first frame. */
function strategyError(alarm: Alarm): Error {
  const error = new Error(`the strategy threw: ${alarmText(alarm)}`)
  const { stack = '' } = error
  const frames = stack.indexOf('\n    at ')
  const own = (alarm.thrownAt?.stack ?? []).map((frame) => `\n    at ${frame}`).join('')
  error.stack = `${stack.slice(0, frames)}${own}${stack.slice(frames)}`
  return error
}
