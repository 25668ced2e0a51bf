import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { Millis } from '../base/units.ts'
import { LONE_BOT, type LoneBotOptions, loneBot } from '../config/bots.ts'
import type { Config } from '../config/config.ts'
import { findingsText, nondeterminism } from '../config/determinism/check.ts'
import { checkSource } from '../config/source-check.ts'
import { fileOf } from '../config/strategy-origin.ts'
import { didYouMean } from '../config/yaml/wording.ts'
import type { FillModel } from '../engine/accounting/fill-assumptions.ts'
import { readPlan } from '../engine/bars/bar-plan.ts'
import { alarmText } from '../engine/bots/thrown-value.ts'
import { DEFAULT_EXIT_WINDOW } from '../engine/exits/exit-settings.ts'
import type { Indicators } from '../engine/indicators/indicator.ts'
import type { Alarm, Command } from '../engine/messages.ts'
import type { FillView, Strategy } from '../engine/strategy.ts'
import type { JournalReader } from '../journal/reader/reader.ts'
import type { Bar } from '../market/bar.ts'
import { type BarWidth, meantWidth, type Width } from '../market/bar-width.ts'
import { Mints } from '../market/mints.ts'
import { runSteps } from '../sandbox/market/event-rows.ts'
import type { MarketEvent } from '../sandbox/market/market.ts'
import { SeededMarket } from '../sandbox/market/seeded-market.ts'
import { difference, printsOf, type TestBar, wholeBar } from './prints-of-bar.ts'
import type { Property } from './properties.ts'
import { RigJournal } from './rig-journal.ts'
import { RunLog, type TestLine, type TestOrder, type TestPosition, type TestRemark, testPosition } from './run-log.ts'
import { SimulatedProcess } from './simulated-process.ts'
import { MINT, PrintCounts, type TestNewToken, type TestPriceUpdate, TestRows, type TestTrade } from './test-rows.ts'

/** Options of a test: the options of a bot in the YAML, and two settings of the simulated executor. */
export interface StrategyTestOptions extends LoneBotOptions {
  /** Time from decision to landing, seconds; at least 0.001, default 1. */
  readonly latencySeconds?: number
  /** Percentage of orders that never land; default 0. `paper.seed` selects them. */
  readonly lostPercent?: number
}

/** 2026-01-01, 00:00 UTC. */
const START: Millis = 1_767_225_600_000
/** Number of equal prints after which every price has a new level, regardless of earlier prints. The price of exits is
 *  the mean of the middle half of a sorted window, so three quarters of the window must have the new level. */
const SETTLING_PRINTS = DEFAULT_EXIT_WINDOW - (DEFAULT_EXIT_WINDOW >> 2)
const SETTLING_SECONDS = 0.016

/** A random market. */
export interface RandomMarket {
  /** Seed of the launches and traders, an integer. The same seed gives the same market. @unitless */
  readonly seed: number
  /** Length of the market, seconds; default 120. */
  readonly seconds?: number
  /** Mean number of launches per second; default 0.3. */
  readonly launchesPerSecond?: number
}

/** A restart of the bot's process. */
export interface TestRestart {
  /** Seconds between the end of the process and the start of the next one; default 5. */
  readonly downSeconds?: number
  /** Whether the process ends immediately, as after `kill -9`, without a call of `onStop`; default: the process shuts
   *  down cleanly. */
  readonly isKilled?: boolean
  /** An edited strategy for the next process; default: the same strategy. */
  readonly strategy?: Strategy
}

/** One bot on a market that the test controls, with the engine, gateway, limiter and simulated executor of a paper run.
 *  The clock advances only when the test does. Every method throws the error that the strategy threw. */
export class StrategyRig {
  readonly #log = new RunLog()
  readonly #journal = new RigJournal(this.#log)
  readonly #prints = new PrintCounts()
  readonly #options: LoneBotOptions
  readonly #adjust: (model: FillModel) => FillModel
  #strategy: Strategy
  #config!: Config
  #process: SimulatedProcess
  #testRows!: TestRows
  #threw: Alarm | undefined
  #rows = 0
  readonly #properties: { readonly property: Property; readonly name: string }[] = []

  /** Throws SluiceError if the strategy or the options are invalid. */
  constructor(strategy: Strategy, { latencySeconds = 1, lostPercent = 0, ...options }: StrategyTestOptions) {
    const latency = msOf(latencySeconds)
    if (latency === 0) throw new RangeError('latencySeconds: expected at least 0.001')
    if (!(lostPercent >= 0 && lostPercent <= 100)) throw new RangeError('lostPercent: expected 0 to 100')
    const latencyMs = { p50: latency, p95: latency }
    this.#adjust = (model) => ({ ...model, latencyMs, landingFailurePercent: lostPercent })
    this.#options = options
    this.#strategy = strategy
    this.#process = this.#start(START)
    this.#process.sink.post({ kind: 'feed', status: 'live', confirmed: strategy.keys })
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

  /** Texts that the strategy recorded with `bot.note`. */
  get notes(): readonly TestRemark[] {
    return this.#log.notes
  }

  /** Lines of `bot.log`, oldest first. */
  get logs(): readonly TestLine[] {
    return this.#log.logs
  }

  /** Texts of `bot.message`, oldest first. */
  get messages(): readonly string[] {
    return this.#log.messages
  }

  /** All decisions, one line of JSON each, for example for a snapshot test. */
  get decisions(): readonly string[] {
    return this.#log.decisions
  }

  /** The last value of `bot.state`. */
  get state(): Json {
    return this.#log.state
  }

  /** Returns the last value of `token.durable`; null if there is none, or if the token was freed. */
  durable(mint: string = MINT): Json {
    return this.#log.durables.get(mint) ?? null
  }

  /** Current subscription keys: those of the strategy, of its watches and of its positions. */
  get keys(): readonly string[] {
    return this.#process.wanted
  }

  /** Time of the simulated clock, ms since the Unix epoch. */
  get now(): Millis {
    return this.#process.clock.now()
  }

  /** Returns the last position in a mint; undefined if there has not been any. */
  position(mint: string = MINT): TestPosition | undefined {
    const position = this.#log.positions.get(mint)
    return position && testPosition(position)
  }

  /** Returns the positions that are not closed. */
  positions(): readonly TestPosition[] {
    return [...this.#log.open.values()].map(testPosition)
  }

  /** Number of market rows so far. */
  get rows(): number {
    return this.#rows
  }

  /** Requires that a property is true from now on. The property is checked after every row, every call and every second
   *  of `advance`. A call during which it is false throws. The error contains `name`. */
  always(property: Property, name: string = property.name): void {
    this.#properties.push({ property, name })
    this.#check()
  }

  /** Adds a print. A single print does not make a price, because `token.price` is the median of the last five prints,
   *  and exists from the third print on. */
  trade(trade: TestTrade): void {
    this.#row(trade, (rows, time) => rows.trade(time, trade))
  }

  /** Adds 61 prints, 0.016 s apart, so that `token.price` equals `price`, SOL a token, and exits use it. */
  settle(price: number, trade: Omit<TestTrade, 'price'> = {}): void {
    for (let print = 0; print < SETTLING_PRINTS; print++)
      this.trade({ afterSeconds: SETTLING_SECONDS, ...trade, price })
  }

  /** Adds one closed bar of a declared width by real prints, and returns the bar as the strategy reads it. The prints
   *  of a time bar fill the rest of the current interval, or the next interval if the token already has a print in the
   *  current one. The call returns at the end of the interval. The robust price continues from the price before the
   *  bar, so `open` can differ from it only after an interruption. Throws SluiceError for a width that the strategy
   *  does not declare, RangeError for values that no bar can have, and an error if the resulting bar differs, for
   *  example because of earlier prints. */
  bar(width: Width, { mint = MINT, seconds, ...given }: TestBar = {}): Bar {
    const declared = this.#declared(width)
    const { everyMs } = declared
    const isTimed = everyMs < Number.POSITIVE_INFINITY
    const { engine } = this.#process.segment
    const begin = Math.floor(this.now / everyMs) * everyMs
    const isBegun = isTimed && this.#prints.lastOf(mint) >= begin
    if (isBegun) this.advance((begin + everyMs - this.now) / 1000)
    const before = engine.bars(LONE_BOT, mint, width).at(-1)
    const price = engine.price(mint)
    const asked = wholeBar(declared, given, price ?? before?.close)
    const from = this.now
    const end = isTimed ? (Math.floor(from / everyMs) + 1) * everyMs : from + msOf(seconds ?? asked.buys + asked.sells)
    for (const { after, ...print } of printsOf(declared, asked, end - from, price))
      this.#rowAt(from + after, (rows) => rows.trade(from + after, { ...print, mint }))
    this.advance((end - this.now) / 1000)
    const bar = engine.bars(LONE_BOT, mint, width).at(-1)
    const problem = bar === undefined || bar === before ? 'it did not close' : difference(asked, bar)
    if (bar === undefined || problem !== undefined)
      throw new Error(`the ${width} bar differs from the requested one: ${problem}`)
    return bar
  }

  #declared(width: string): BarWidth {
    const widths = readPlan(this.#strategy, this.#config.bots[0]?.params).plan.bars.map((planned) => planned.width)
    const found = widths.find(({ name }) => name === width)
    if (found !== undefined) return found
    const names = widths.map(({ name }) => name)
    const known = names.length === 0 ? 'no bars' : names.map((name) => `'${name}'`).join(', ')
    throw new SluiceError(
      `bar '${width}': the strategy declares ${known}${didYouMean(meantWidth(width) ?? width, names)}`,
      ExitCode.usage,
    )
  }

  /** Announces a new token. */
  newToken(token: TestNewToken = {}): void {
    this.#row(token, (rows, time) => rows.newToken(time, token))
  }

  /** Adds a price update of the service. */
  priceUpdate(update: TestPriceUpdate): void {
    this.#row(update, (rows, time) => rows.priceUpdate(time, update))
  }

  /** Plays a random market, beginning now: tokens that are launched, rise, are dumped, recover and go silent, with
   *  snipers, rug pulls and prints at wrong prices. The market is that of the sandbox. An error names the seed. */
  randomMarket({ seed, seconds = 120, launchesPerSecond = 0.3 }: RandomMarket): void {
    const from = this.now
    let at = from
    const emit = (event: MarketEvent): void => this.#rowAt(at, (rows) => rows.event(at, event))
    try {
      const market = new SeededMarket({ seed, launchesPerSecond, emit })
      runSteps(market, seconds * 1000, (step) => {
        at = from + Math.ceil(step)
      })
      this.advance(seconds - (this.now - from) / 1000)
    } catch (error) {
      const { message } = error as Error
      ;(error as Error).message =
        `seed ${seed}, after ${((this.now - from) / 1000).toFixed(1)} s and ${this.rows} rows: ${message}`
      throw error
    }
  }

  /** Advances the clock by this many seconds, at least 0, without rows, so that orders land and timers fire. */
  advance(seconds: number): void {
    const until = this.now + msOf(seconds)
    // Properties are checked each second.
    while (this.#properties.length > 0 && until - this.now > 1000) {
      this.#advanceTo(this.now + 1000)
      this.#check()
    }
    this.#advanceTo(until)
    this.#check()
  }

  /** Interrupts the feed for this many seconds, at least 0. */
  gap(seconds: number): void {
    const { sink, wanted } = this.#process
    const from = this.now
    sink.post({ kind: 'feed', status: 'down', confirmed: [] })
    this.#advanceTo(from + msOf(seconds))
    sink.post({ kind: 'gap', from, to: this.now, keys: wanted })
    sink.post({ kind: 'feed', status: 'live', confirmed: wanted })
    this.#check()
  }

  /** Sends an operator's command, for example `{ name: 'halt' }`, `{ name: 'signal', signal: 'x', data: {} }` or `{
   *  name: 'stop' }`. */
  command(command: Command): void {
    this.#process.sink.post({ kind: 'command', command })
    this.#check()
  }

  /** Passes an answer of a declared source to the bot. Throws SluiceError if the strategy does not declare the source,
   *  or if `data` does not fit its schema. */
  source(name: string, data: unknown): void {
    const declared = this.#strategy.sources?.[name]
    const names = Object.keys(this.#strategy.sources ?? {}).join(', ') || 'none'
    if (declared === undefined)
      throw new SluiceError(`the strategy declares no source ${name}; it declares ${names}`, ExitCode.usage)
    const checked = checkSource(declared.schema, data)
    if (!checked.ok) throw new SluiceError(`source ${name}: ${checked.problem}`, ExitCode.usage)
    this.#process.sink.post({ kind: 'source', bot: LONE_BOT, name, data: checked.data })
    this.#check()
  }

  /** Restarts the bot's process, as when a paper run is restarted. Money and durable state come from the journal's
   *  rows. The strategy starts again and receives its warm-up. Open orders, exits and timers continue. */
  restart({ downSeconds = 5, isKilled = false, strategy = this.#strategy }: TestRestart = {}): void {
    const ended = this.#process
    const startsAt = this.now + msOf(downSeconds)
    if (!isKilled) this.command({ name: 'stop' })
    for (const mark of ended.segment.takeMarks()) this.#journal.write({ kind: 'mark', mark })
    ended.segment.close()
    this.#strategy = strategy
    this.#process = this.#journal.reopened(!isKilled, (reader) => this.#start(startsAt, reader))
    this.#advanceTo(startsAt) // overdue timers fire before the feed is live, as in a run
    const { sink, wanted } = this.#process
    sink.post({ kind: 'gap', from: startsAt, to: startsAt, keys: wanted })
    sink.post({ kind: 'feed', status: 'live', confirmed: wanted })
    this.#check()
  }

  /** Writes the journal of the test to a new file, for example for `sluice why` or `sluice fills`. */
  saveJournal(path: string): void {
    this.#journal.save(path, true)
  }

  #row({ afterSeconds = 1 }: { readonly afterSeconds?: number }, write: (rows: TestRows, time: Millis) => void): void {
    const time = this.now + msOf(afterSeconds)
    this.#rowAt(time, (rows) => write(rows, time))
  }

  #rowAt(time: Millis, write: (rows: TestRows) => void): void {
    this.#advanceTo(time)
    const { sink } = this.#process
    const rows = this.#testRows
    write(rows)
    this.#rows++
    sink.rows(rows.block, rows.block.length - 1, rows.block.length)
    this.#check()
  }

  #advanceTo(time: Millis): void {
    this.#process.clock.advanceTo(time)
  }

  /** Throws the error that the strategy threw, or an error about a property that is false. Called after the engine has
   *  returned, because an error must not pass through the engine. */
  #check(): void {
    const threw = this.#threw
    this.#threw = undefined
    if (threw !== undefined) throw strategyError(threw)
    for (const { property, name } of this.#properties) {
      const holds = property({ bot: this })
      if (holds !== true) throw new Error(holds || `the property ${name || 'without a name'} is false`)
    }
  }

  #start(startsAt: Millis, reader?: JournalReader): SimulatedProcess {
    refuseNondeterminism(this.#strategy)
    const mints = new Mints()
    this.#testRows = new TestRows(mints, this.#prints)
    this.#config = loneBot({ ...this.#strategy }, this.#options)
    return new SimulatedProcess({
      config: this.#config,
      ...{ journal: this.#journal, mints, adjust: this.#adjust, startsAt },
      ...(reader !== undefined && { reader }),
      ended: (alarm) => {
        this.#threw ??= alarm
      },
      said: (line, _seq, time) => this.#log.said(line, time),
    })
  }
}

/** Starts a bot of this strategy. Options are those of a bot in the YAML, in the same units. */
export function testStrategy<P, S, I extends Indicators>(
  strategy: Strategy<P, S, I>,
  options: StrategyTestOptions = {},
): StrategyRig {
  return new StrategyRig(strategy as unknown as Strategy, options)
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

/** Refuses a strategy whose file a live process would also refuse. A strategy inside a test file is not checked,
 *  because the test itself may use asynchronous code. */
function refuseNondeterminism(strategy: Strategy): void {
  const file = fileOf(strategy)
  const { found } = file === undefined || /\.(test|spec)\./.test(file) ? { found: [] } : nondeterminism(file)
  if (found.length > 0) throw new SluiceError(findingsText(found, process.cwd()), ExitCode.usage)
}
