import { SluiceError } from '../base/errors.ts'
import { printable } from '../base/text.ts'
import type { Lamports, Millis } from '../base/units.ts'
import { botSettings } from '../config/accounts.ts'
import type { Config } from '../config/config.ts'
import { codeHash } from '../config/hashes.ts'
import type { Position } from '../engine/accounting/position.ts'
import { alarmText } from '../engine/bots/thrown-value.ts'
import { isStrategyEnd, type StartInput } from '../engine/messages.ts'
import { NO_MONEY, type RecoveredMoney } from '../engine/recovered-money.ts'
import type { BotSettings, Plan } from '../engine/settings.ts'
import { NO_PAST } from '../journal/reader/recovery.ts'
import type { FeedNews, Market, SourceNews } from '../journal/tape/market-tape.ts'
import { Mints } from '../market/mints.ts'
import { shareOf } from '../orders/budget-status.ts'
import { Limiter } from '../orders/plan-limiter.ts'
import type { Journal } from '../orders/ports.ts'
import { worthFact } from '../runtime/liquidation-value.ts'
import { PaperWorld } from '../runtime/paper-world.ts'
import { Segment } from '../runtime/segment.ts'
import { NOT_WARM, startInput, warmupSeconds } from '../runtime/start-input.ts'
import { dateTimeOf } from '../runtime/time-text.ts'
import type { PaperExecutor } from '../simulation/paper-executor.ts'
import { SimulatedClock } from '../simulation/simulated-clock.ts'
import { type TapeItem, TapeSource } from '../simulation/tape-source.ts'
import { termsOf } from '../venues/terms.ts'
import type { BotResult } from './bot-result.ts'
import { type KeyCoverage, refuseLacks, tapeCoverage, WatchedMints } from './coverage.ts'
import { Equity, EquitySampler } from './equity.ts'
import { type Backtest, type BacktestOptions, NO_WALLET, type OneWallet } from './outcome.ts'
import { type ReplayedStart, type TakenOver, takenOver } from './replay/recorded-start.ts'
import { BacktestResults } from './results.ts'
import { SourceData } from './source-data.ts'
import { Pauses, withWatched } from './tape-pauses.ts'

export type { Backtest, BacktestOptions, BotOutcome } from './outcome.ts'

/** The tape counts as incomplete if more than this share of the mints that bots watched or held is missing on it. */
const MOST_ABSENT = 0.02
const BOOT = 'simulated'

/** Runs the bots of a configuration over a tape, on simulated time, in one synchronous loop. The engine, runner,
 *  gateway and limiter are those of a live run; the executor is that of a paper run. Throws SluiceError: exit 2 if the
 *  tape does not cover the bots' keys, exit 1 if a strategy throws or the journal is corrupt. */
export function runBacktest(config: Config, market: Market, options: BacktestOptions): Backtest {
  // The replay of a recorded run receives the same inputs as the run, so its coverage is not checked.
  const { coverage, lacks } =
    options.replayed === undefined ? tapeCoverage(config, market, options.partial) : { coverage: [], lacks: [] }
  const run = new Run(config, market, options)
  run.play()
  if (!options.partial) refuseLacks(run.lacks)
  return run.report(coverage, [...lacks, ...run.lacks])
}

/** Gives the bots named in `some` one common wallet. Its balance is `lamports`; if this is null, the paper balance of
 *  the first of these bots. */
function inOneWallet(bots: readonly BotSettings[], { bots: some, lamports }: OneWallet = NO_WALLET): BotSettings[] {
  const first = bots.find(({ name }) => some.includes(name))
  return bots.map((bot) =>
    first === undefined || !some.includes(bot.name)
      ? bot
      : { ...bot, account: first.account, paperLamports: lamports ?? first.paperLamports },
  )
}

class Run {
  readonly #config: Config
  readonly #market: Market
  readonly #options: BacktestOptions
  readonly #mints = new Mints()
  readonly #clock: SimulatedClock
  readonly #plan: Plan
  readonly #bots: readonly BotSettings[]
  readonly #results: BacktestResults
  readonly #paper: PaperWorld
  readonly #watched = new WatchedMints()
  readonly #sources: SourceData
  readonly #segment: Segment
  readonly #threw = new Map<string, string>()
  #splitLamports: readonly number[] = []
  readonly #foreignLamports = new Map<string, number>()
  readonly #takenOver: TakenOver | undefined
  readonly #equity: readonly Equity[]
  readonly #sampler: EquitySampler | undefined
  #rows = 0
  #gaps = 0
  #gapMs = 0

  constructor(config: Config, market: Market, options: BacktestOptions) {
    const { service } = config
    this.#config = config
    this.#market = market
    this.#sources = new SourceData(config.bots, market)
    this.#options = options
    this.#clock = new SimulatedClock(market.stretches[0]?.from ?? 0)
    this.#plan = termsOf(service).plans.first(service.plan)
    const host = service.kind === 'remote' ? service.host : service.kind
    const { settings } = botSettings(config, { service: host, cluster: '', publicKeyOf: () => '', allow: 'backtest' })
    const { replayed } = options
    this.#bots = replayed?.inOwnAccounts ? replayed.start.bots : inOneWallet(settings, options.oneWallet)
    this.#takenOver = replayed && takenOver(replayed, this.#bots)
    this.#paper = new PaperWorld(config, this.#clock, this.#mints, options.model, options.measured)
    const names = this.#bots.map(({ name }) => name)
    const filled = (bot: string): void => this.#sampler?.filled(bot)
    this.#results = new BacktestResults(names, { logged: options.logged === true, journal: options.journal, filled })
    this.#equity = this.#bots.map(() => new Equity(market.stretches[0]?.from ?? 0, market.stretches.at(-1)?.to ?? 0))
    this.#sampler = options.logged === true ? this.#newSampler() : undefined
    this.#segment = this.#newSegment()
  }

  play(): void {
    const { runner } = this.#segment
    const start = this.#startInput()
    this.#restore(start.money)
    this.#segment.begin(start, this.#market.warmup?.(this.#mints, warmupSeconds(this.#config)) ?? [])
    this.#sampler?.start(this.#market.stretches.at(-1)?.to ?? 0)
    const { note } = this.#options
    if (note !== undefined) this.#clock.after(note.at - this.#clock.now(), () => this.#note(note.foreign))
    const { replayed } = this.#options
    const tape = new TapeSource(replayed === undefined ? this.#items() : this.#recordedItems(replayed), this.#clock)
    tape.start(this.#paper.withInputs(runner))
    this.#rows = tape.run()
    this.#watched.end(this.#clock.now())
    this.#sampler?.end()
    if (this.#options.journal !== undefined) this.#recordEnd(this.#options.journal)
  }

  /** Records the results of the last day and the values of the positions, because they cannot be computed from a
   *  journal without a tape. */
  #recordEnd(journal: Journal): void {
    this.#results.end()
    for (const [account, bots] of Map.groupBy(this.#bots, (bot) => bot.account.id)) {
      const names = new Set(bots.map(({ name }) => name))
      const held = this.#results.bots.flatMap(({ name, positions }) => (names.has(name) ? [...positions.values()] : []))
      const values = new Map(held.map((position) => [position.mint, this.#worthOf(position) as Lamports]))
      journal.write({ kind: 'learned', learned: worthFact(account, this.#clock.now(), values) })
    }
  }

  /** Restores the money and the request limits of a recorded start. Bots that share a budget use the budget of the
   *  first of them. */
  #restore(money: RecoveredMoney): void {
    const { oneBudget = [] } = this.#options
    const shared = oneBudget.length === 0 ? undefined : this.#limiter('shared')
    const untold = this.#takenOver?.fills ?? []
    const isReplay = this.#options.replayed !== undefined
    for (const bot of this.#bots) {
      const limiterOf = (key: string): Limiter => (oneBudget.includes(bot.name) && shared) || this.#limiter(key)
      this.#paper.restore([bot], money, limiterOf, untold, isReplay)
    }
    this.#results.restore(money)
  }

  /** Descriptions of data that was found missing during the run. */
  get lacks(): string[] {
    const { wanted, absent } = this.#watched
    if (absent.size <= wanted.size * MOST_ABSENT) return []
    return [`${absent.size} of ${wanted.size} tokens that the bots watched or held were not recorded at that time`]
  }

  report(coverage: readonly KeyCoverage[], lacks: readonly string[]): Backtest {
    const { stretches } = this.#market
    const bots = this.#results.bots.map((result, index) => ({
      result,
      startLamports: this.#startOf(index),
      valueLamports: this.#valueOf(result),
      splitLamports: this.#splitLamports[index],
      foreignLamports: this.#foreignLamports.get(result.name) ?? 0,
      threw: this.#threw.get(result.name) ?? '',
      model: this.#paper.modelOf(result.name),
      depth: this.#paper.depthOf((this.#bots[index] as BotSettings).account.id),
      equity: this.#equity[index] as Equity,
    }))
    return {
      rows: this.#rows,
      from: stretches[0]?.from ?? 0,
      to: stretches.at(-1)?.to ?? 0,
      segments: stretches.length,
      gaps: this.#gaps,
      gapMs: this.#gapMs,
      mints: this.#watched,
      plan: this.#plan,
      ...{ coverage, lacks, bots, decisions: this.#results.decisions, alarms: this.#results.alarms },
    }
  }

  #startOf(index: number): number {
    return (this.#bots[index] as BotSettings).paperLamports
  }

  /** Stores the interim results, for `splitRow` or `note`. Does not change the run. */
  #note(foreign: readonly Position[]): void {
    this.#splitLamports = this.#results.bots.map((result) => result.walletLamports + this.#valueOf(result))
    for (const { name, account } of this.#bots) {
      const own = foreign.filter(({ bot }) => bot === name)
      const value = own.reduce((sum, one) => sum + this.#worthOf({ ...one, account: account.id }), 0)
      this.#foreignLamports.set(name, value)
    }
  }

  #valueOf({ positions }: BotResult): number {
    let sum = 0
    for (const position of positions.values()) sum += this.#worthOf(position)
    return sum
  }

  /** Value of a position: the amount that the pool would pay for it, at the price that the position's exits would
   *  use. */
  #worthOf(position: Position): number {
    return this.#paper.valueOf(position, this.#segment.engine.exitPriceOf(position))
  }

  #newSampler(): EquitySampler {
    const bots = this.#results.bots.map((result, index) => {
      return { result, startLamports: this.#startOf(index), equity: this.#equity[index] as Equity }
    })
    return new EquitySampler(bots, this.#clock, (position) => this.#worthOf(position))
  }

  #newSegment(): Segment {
    const clock = this.#clock
    const { replayed, said } = this.#options
    return new Segment({
      said,
      machine: { clock, monotonicMs: () => clock.now(), boot: BOOT },
      journal: this.#results,
      mints: this.#mints,
      strategies: new Map(this.#config.bots.map(({ strategy }) => [strategy.name, strategy.strategy])),
      past: NO_PAST,
      route: ({ account }) => {
        const route = this.#paper.route(account)
        if (route === undefined) throw new Error(`no executor for account ${account}`)
        return route
      },
      want: (keys) => this.#watched.want(clock.now(), keys),
      hold: replayed?.hold,
      orderPath:
        replayed?.orders &&
        ((inner, post) =>
          replayed.orders?.({ inner, post, executorOf: (account) => this.#executorOf(account) }) ?? inner),
      observe: (block, from, to) => {
        this.#paper.market.observe(block, from, to)
        clock.advanceTo(block.time[to - 1] as number)
      },
      alarm: (alarm) => {
        const { bot, code } = alarm
        if (!isStrategyEnd(code)) return
        const reason = printable(alarmText(alarm))
        if (this.#options.tolerant === true) {
          this.#threw.set(bot, reason)
          return
        }
        throw new SluiceError(
          `${bot}: its strategy ${code === 'STRATEGY_THREW' ? 'threw' : 'was ended'} at ${dateTimeOf(clock.now())} UTC, so it has no result: ${reason}`,
        )
      },
    })
  }

  #executorOf(account: string): PaperExecutor {
    const executor = this.#paper.executorOf(account)
    if (executor === undefined) throw new Error(`no executor for account ${account}`)
    return executor
  }

  #startInput(): StartInput {
    const config = this.#config
    const { replayed } = this.#options
    if (replayed?.inOwnAccounts) return replayed.start
    const { money = NO_MONEY, stopped } = this.#takenOver ?? {}
    return startInput(config, {
      ...{ segment: 1, bots: this.#bots, plan: this.#plan, money, warm: NOT_WARM },
      code: codeHash(config.bots.map(({ strategy }) => strategy)),
      ...(stopped !== undefined && { stopped }),
    })
  }

  #limiter(key: string): Limiter {
    const clock = this.#clock
    return new Limiter({
      ...{ key, clock, monotonicMs: () => clock.now(), boot: BOOT, past: 'fresh', write: () => {} },
      requestsPerMinute: shareOf(this.#plan.requestsPerMinute, this.#config.service.share),
    })
  }

  /** Yields the tape as inputs of the runner. The time between two segments (starts of the recording process) becomes a
   *  gap. */
  *#items(): Generator<TapeItem, void, undefined> {
    const pauses = new Pauses()
    let rows = 0
    for (const item of this.#sources.items(this.#market.items(this.#mints))) {
      const pause = pauses.take(item)
      if (item.kind === 'rows') {
        yield* this.#rowsOf(item, rows)
        rows += item.to - item.from
        this.#options.progress?.(rows)
      } else if (item.kind === 'news') yield* this.#news(item.time, item.news)
      else if (pause !== undefined) yield* this.#news(pause.time, pause.news)
    }
    yield* this.#end()
  }

  /** Yields the rows of a recorded run and, between them, the recorded inputs that the replay receives. At the position
   *  of each recorded input, `moments` also runs the functions that the replay has scheduled for this position. */
  *#recordedItems({ items, told, moments }: ReplayedStart): Generator<TapeItem, void, undefined> {
    for (const item of items(this.#mints)) {
      if (item.kind === 'rows') yield item
      if (item.kind !== 'input') continue
      const { seq, time, input } = item
      this.#clock.advanceTo(time)
      if (told.has(seq)) yield { kind: 'input', time, input: this.#takenOver?.heard(input) ?? input }
      moments.reach({ seq, time })
    }
    yield* this.#end()
  }

  /** Yields the stop command that ends the run. After the command the bots make no decisions, because the market data
   *  has ended; orders that are still open can reach their outcomes. */
  *#end(): Generator<TapeItem, void, undefined> {
    yield { kind: 'input', time: this.#clock.now(), input: { kind: 'command', command: { name: 'stop' } } }
    this.#segment.runner.stop()
  }

  /** Yields market rows. If the row number `splitRow` of the tape is among them, divides them after it and stores the
   *  results at that position. `before`: number of earlier rows of the tape. */
  *#rowsOf(item: Extract<TapeItem, { kind: 'rows' }>, before: number): Generator<TapeItem, void, undefined> {
    const split = item.from + (this.#options.splitRow ?? Number.POSITIVE_INFINITY) - before
    const isHere = split > item.from && split <= item.to
    if (isHere) {
      yield { ...item, to: split }
      this.#note([])
    }
    if (!isHere) yield item
    else if (split < item.to) yield { ...item, from: split }
  }

  #news(time: Millis, news: FeedNews | SourceNews): TapeItem[] {
    // The clock advances first, because earlier orders and timers can still change which tokens the bots watch.
    this.#clock.advanceTo(time)
    if (news.kind === 'source')
      return this.#sources.inputsOf(news).map((input) => ({ kind: 'input', time, input }) as const)
    if (news.kind === 'feed') {
      this.#watched.record(time, news.status === 'live' ? news.confirmed : undefined)
      return [{ kind: 'input', time, input: news }]
    }
    this.#gaps++
    this.#gapMs += news.to - news.from
    return [{ kind: 'input', time, input: withWatched(news, this.#watched.now) }]
  }
}
