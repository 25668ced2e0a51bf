import { setImmediate } from 'node:timers/promises'
import type { Config } from '../../src/config/config.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import { loadNative, type Native } from '../../src/sandbox/chain/svm.ts'
import { type Draws, draws } from '../../src/sandbox/draws.ts'
import type { CurveTrade } from '../../src/sandbox/market/market.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { encodeBase58 } from '../../src/solana/base58.ts'
import { BLOCKHASH_BLOCKS } from '../../src/solana/constants.ts'
import { decodeTransaction } from '../../src/solana/transaction.ts'
import { conditionalFigures } from '../support/conditional-books.ts'
import { audit, misattributed, roundingComplaints } from './books.ts'
import { SimulatedBuilder } from './builder.ts'
import { SimulatedChain } from './chain.ts'
import { Checks } from './checks.ts'
import { configOf } from './configuration.ts'
import type { Journal } from './disk.ts'
import { SECOND, walletIn, walletsOf } from './ledger.ts'
import { MINTS, WanderingMarket } from './market.ts'
import { type Mutant, sabotage } from './mutants.ts'
import { Plans } from './plans.ts'
import { type Host, Process, type ProcessParts } from './process.ts'
import { type Kind, type Orders, type Scenario, scenarioOf, type Times } from './scenario.ts'
import { SimulatedService } from './service.ts'
import { Settling } from './settling.ts'
import { SimulatedSigner } from './signer.ts'
import type { Leash } from './strategy.ts'
import { Trace } from './trace.ts'
import { Truth } from './truth.ts'

const START = 1_780_000_000_000
const TICK_MS = 1_000
/** Commands that the operator may give at any time. */
const COMMANDS = ['halt', 'flatten', 'resume'] as const
/** Commands that the operator may give while the disk is short. */
const COMMANDS_ON_SHORT_DISK = ['resume', 'resume', 'flatten'] as const
const ROW_MS = 200
/** Interval between prints after the strategies have stopped buying, ms. */
const QUIET_ROW_MS = 2_000
/**
 * Maximum time from the end of the faults until every order is decided. It covers the wait for a late execution, the
 * time to the last valid block, and 1,500 blocks with contradictory evidence.
 */
const LONGEST_CALM_MS = 3_600_000
/** Time for which a run continues after every order was decided, ms. */
const AFTERWARDS_MS = 40_000
/**
 * Time for which a run in which the service or a node lies continues after every order was decided, ms. It is longer
 * than `AFTERWARDS_MS`, because an exit that cannot be sold is retried only every 192 s.
 */
const LATE_AFTERWARDS_MS = 150_000

export interface Result {
  readonly scenario: Scenario
  readonly hash: string
  /** Broken invariants. */
  readonly complaints: readonly string[]
  readonly tail: readonly string[]
  readonly figures: Readonly<Record<Figure, number>>
  /** For each lost request that did not execute: the time from its end to the proof that it did not execute, ms. */
  readonly settledMs: readonly number[]
}

export type Figure =
  | 'virtualSeconds'
  | 'orders'
  | 'requests'
  | 'executions'
  | 'ofSecondWallet'
  | 'lies'
  | 'misattributed'
  | 'crashes'
  | 'forks'
  | 'conditionals'
  | 'triggered'
  | 'cancelled'
  | 'standing'
  | 'restored'
  | 'commands'
  | 'stalls'
  | 'firings'
  | 'sellsOnShortDisk'
  | 'buysAfterShortDisk'
  | 'steps'

export interface Options {
  /** Default: cloud. */
  readonly executor?: 'cloud' | 'local' | undefined
  /** Default: any. */
  readonly orders?: Orders | undefined
  readonly mutant?: Mutant
  /** If given, replaces the block times and clocks of the seed. */
  readonly times?: Times | undefined
  readonly show?: (line: string) => void
}

/** Simulates the run of a seed from its start to its end. */
export async function simulate(seed: number, journal: Journal, options: Options = {}): Promise<Result> {
  const native = options.executor === 'local' ? await loadNative() : undefined
  if (options.executor === 'local' && native === undefined) throw new Error('litesvm is not installed')
  const drawn = scenarioOf(seed, options.orders)
  // The simulated signer has only one key, so a run with local signing has one wallet.
  const wallets = native === undefined ? drawn.wallets : 1
  const world = new World({ ...drawn, wallets, times: options.times ?? drawn.times }, journal, options, native)
  const repair = sabotage(options.mutant)
  const threw = (error: unknown): void => world.complain(`threw: ${error instanceof Error ? error.stack : error}`)
  process.on('unhandledRejection', threw)
  try {
    await world.run()
  } catch (error) {
    threw(error)
  } finally {
    process.off('unhandledRejection', threw)
    repair()
  }
  return world.result()
}

class World implements Host {
  readonly time = new SimulatedClock(START)
  readonly trace: Trace
  bootedAt = START - 1_000_000
  boot = 'boot 1'
  readonly #scenario: Scenario
  readonly #options: Options
  readonly #journal: Journal
  readonly #draws
  readonly #operatorDraws: Draws
  readonly #stallDraws: Draws
  readonly #diskDraws: Draws
  readonly #walletDraws: Draws
  readonly #feedDraws
  readonly #market: WanderingMarket
  readonly #chain: SimulatedChain
  readonly #truth: Truth
  readonly #service: SimulatedService
  readonly #local: ProcessParts['local']
  readonly #checks: Checks
  readonly #settling: Settling
  readonly #kind: Kind
  readonly #leash: Leash
  readonly #config: Config
  readonly #complaints: string[] = []
  #process: Process | undefined
  #quietSince = START
  #calmAt = Number.POSITIVE_INFINITY
  #offsetMs = 0
  readonly #key = { isUsed: false }
  readonly #plans: Plans
  #starts = 0
  #crashes = 0
  /** Number of conditional orders that processes restored at their starts. */
  #restored = 0
  #commands = 0
  #stalls = 0
  /** Number of strategy timers that fired in processes that have ended. */
  #firings = 0
  #sellsOnShortDisk = 0
  #buysAfterShortDisk = 0
  /** Whether the program that fills the disk has removed its files. */
  #hasRoomAgain = false
  #steps = 0
  #hasAnswered = false
  /** Number of effects (writes and sends) after which the test ends the process. */
  #effectsLeft = Number.POSITIVE_INFINITY

  constructor(scenario: Scenario, journal: Journal, options: Options, native: Native | undefined) {
    const { seed, mints } = scenario
    this.#scenario = scenario
    this.#options = options
    this.#journal = journal
    this.#draws = draws(seed, 'world')
    this.#feedDraws = draws(seed, 'feed')
    this.#operatorDraws = draws(seed, 'commands')
    this.#stallDraws = draws(seed, 'the stalls')
    this.#diskDraws = draws(seed, 'commands on a short disk')
    this.#walletDraws = draws(seed, 'wallets of commands')
    this.trace = new Trace(START, options.show)
    const note = (what: string): void => this.trace.add(this.time.now(), what)
    const { complain } = this
    const answered = (): void => {
      this.#hasAnswered = true
    }
    const isCalm = (): boolean => this.time.now() >= this.#calmAt
    const common = { clock: this.time, scenario, note, answered, mutant: options.mutant }
    this.#market = new WanderingMarket(draws(seed, 'market'), mints, (trade) => this.#print(trade))
    this.#chain = new SimulatedChain({
      ...common,
      draws: draws(seed, 'chain'),
      market: this.#market,
      native,
    })
    const { ledger } = this.#chain
    this.#truth = new Truth(ledger)
    this.#chain.truth = this.#truth
    const now = (): number => this.time.now()
    this.#plans = new Plans({
      ...{ scenario, draws: draws(seed, 'named plans'), now, note, complain },
      isDurable: (attemptId) => journal.hasAttempt(attemptId),
    })
    if (scenario.plans?.failsFirst === true) this.#failStart()
    const acceptKey = (): void => this.#process?.keyAccepted()
    this.#service = new SimulatedService({
      ...common,
      ...{
        draws: draws(seed, 'service'),
        companyDraws: draws(seed, 'company acts'),
        ledger,
        market: this.#market,
        truth: this.#truth,
        isCalm,
        complain,
        plans: this.#plans,
      },
      acceptKey,
      accompanied: (signature) => this.#chain.company.set(signature, undefined),
    })
    this.#local = native && {
      builder: new SimulatedBuilder({
        ...{ ...common, draws: draws(seed, 'builder'), ledger, market: this.#market, isCalm, acceptKey },
        arrives: () => this.#service.arrives(),
      }),
      signer: new SimulatedSigner({ ...common, draws: draws(seed, 'signer') }),
    }
    const waits = scenario.conditionals.areAsked
    this.#leash = { isCalm: () => this.time.now() >= START + scenario.tradingMs, waits, bots: [] }
    this.#config = configOf(scenario, this.#leash, options.executor ?? 'cloud')
    // With local signing, a dishonest service can only return wrong transactions, which the verifier refuses. The rules
    // for an honest service must therefore hold.
    this.#kind = native !== undefined && scenario.kind === 'service' ? 'honest' : scenario.kind
    const isExact = scenario.company > 0 && scenario.rpc.ill + scenario.service.lands + scenario.network.lost === 0
    this.#checks = new Checks({
      ...{ kind: this.#kind, journal, truth: this.#truth, leash: this.#leash, wallets: walletsOf(scenario), complain },
      company: () => (isExact && !scenario.chain.forks ? [...this.#chain.company.values()] : []),
      now: () => this.time.now(),
    })
    this.#settling = new Settling(this.#truth, this.#kind === 'honest' ? complain : () => {})
    ledger.onBlock(() => this.#checks.settle())
  }

  wallOffset = (): number => this.#offsetMs + this.#scenario.times.aheadMs

  async run(): Promise<void> {
    const { faultyMs } = this.#scenario
    const kind = this.#kind
    this.#journal.empty(this.#scenario.diskRoom !== undefined)
    this.#scheduleDisk()
    this.#start()
    this.#rows()
    this.#tick()
    await this.#until(START + faultyMs, () => false)
    this.#calm()
    const quietMs = kind === 'honest' ? AFTERWARDS_MS : LATE_AFTERWARDS_MS
    const isOver = await this.#until(this.time.now() + LONGEST_CALM_MS, () => this.#isQuietFor(quietMs))
    if (!isOver) this.complain('an order or an attempt is still undecided at the end')
    await this.#process?.stop()
    const wallets = walletsOf(this.#scenario)
    for (const complaint of audit(this.#journal.db, this.#chain, this.#truth, { kind, wallets }))
      this.complain(complaint)
    if (this.#local === undefined) return
    const { builder } = this.#local
    const isForked = (id: string): boolean => this.#chain.forkedAt.some((at) => builder.wasCheckedAt(id, at))
    for (const complaint of roundingComplaints(this.#journal.db, this.#scenario, isForked)) this.complain(complaint)
  }

  result(): Result {
    const { posts } = this.#truth
    return {
      settledMs: this.#settling.took,
      scenario: this.#scenario,
      hash: this.trace.digest(),
      complaints: this.#complaints,
      tail: this.trace.tail,
      figures: {
        virtualSeconds: Math.round((this.time.now() - START) / 1_000),
        orders: new Set(posts.map(({ orderId }) => orderId)).size,
        requests: this.#service.arrived,
        executions: this.#truth.successes(posts).length,
        ofSecondWallet: this.#truth.successes(posts).filter(({ post }) => walletIn(post.account) === SECOND).length,
        lies: this.#service.lies + (this.#local?.builder.lies ?? 0),
        misattributed: misattributed(this.#journal.db, this.#truth),
        crashes: this.#crashes,
        forks: this.#chain.forkedAt.length,
        ...conditionalFigures(this.#journal.db),
        restored: this.#restored,
        commands: this.#commands,
        stalls: this.#stalls,
        firings: this.#firings + (this.#process?.mirror.timers.firings ?? 0),
        sellsOnShortDisk: this.#sellsOnShortDisk,
        buysAfterShortDisk: this.#buysAfterShortDisk,
        steps: this.#steps,
      },
    }
  }

  /** Advances the run until the time `end`, or until the condition is true. Returns whether the condition is true. */
  async #until(end: number, isTrue: () => boolean): Promise<boolean> {
    while (this.time.nextAt() <= end && this.#complaints.length === 0) {
      this.time.advanceTo(this.time.nextAt())
      // Lets promises continue after an answer. With local signing, promises also depend on timers, so this happens
      // after every step.
      if (this.#hasAnswered || this.#local !== undefined) {
        this.#hasAnswered = false
        await setImmediate()
      }
      this.#steps++
      this.#checks.step(this.#process)
      if (isTrue()) return true
    }
    if (this.#complaints.length === 0) this.time.advanceTo(end)
    return false
  }

  readonly complain = (what: string): void => {
    this.trace.add(this.time.now(), `WRONG: ${what}`)
    if (!this.#complaints.includes(what)) this.#complaints.push(what)
  }

  /** Returns whether every order has been decided for at least this time. */
  #isQuietFor(ms: number): boolean {
    const now = this.time.now()
    if (!this.#isDecided()) this.#quietSince = now
    return now - this.#quietSince >= ms
  }

  #isDecided(): boolean {
    const process = this.#process
    const wallets = walletsOf(this.#scenario)
    if (process === undefined || !process.mirror.isOpenFor(wallets.length) || !process.mirror.isIdle) return false
    if (process.disk.isShort || process.mirror.isDiskLow) return false
    const { audited } = process.mirror
    if (wallets.some((wallet) => audited.get(wallet) !== this.#chain.lamportsOf(wallet))) return false
    // Positions that an exit will sell must be sold first. In runs with a dishonest service or a second process, this
    // is not checked, because too few tokens may be left to sell.
    const isOurs = this.#kind === 'honest' && this.#chain.company.size === 0
    if (isOurs && process.mirror.standing.passing.length > 0) return false
    return !this.#truth.posts.some((post) => this.#truth.isAlive(post))
  }

  #calm(): void {
    this.trace.add(this.time.now(), 'faults end')
    this.#calmAt = this.time.now()
    this.#settling.calmSince = this.#calmAt
    this.#effectsLeft = Number.POSITIVE_INFINITY
    this.#offsetMs = 0
    this.#chain.heal()
    this.#local?.signer.heal()
    if (this.#process === undefined) this.#start()
    if (this.#process?.isFeedLive === false) this.#process.turnFeed()
    this.#process?.keyAccepted()
    this.#checks.released()
    this.#process?.command({ name: 'resume' })
  }

  get #isCalm(): boolean {
    return this.time.now() >= this.#calmAt
  }

  #start(): void {
    const { mutant } = this.#options
    const { disk, diskRoom } = this.#scenario
    this.#leash.bots.length = 0
    this.#starts++
    this.#settling.startedAt = this.time.now()
    this.#plans.started()
    const effect = (): 'goes' | 'fails' => {
      if (--this.#effectsLeft > 0 && !(!this.#isCalm && this.#draws.chance(disk.fails))) return 'goes'
      this.#crash()
      return 'fails'
    }
    this.#process = new Process({
      ...{ host: this, config: this.#config, chain: this.#chain, service: this.#service, local: this.#local, mutant },
      key: this.#key,
      seed: this.#scenario.seed,
      gaveUp: (orderId) => {
        if (this.#local === undefined) this.#plans.gaveUp(orderId, this.bootedAt)
      },
      planName: () => {
        if (this.#scenario.plans === undefined) return undefined
        this.#plans.named()
        return this.#plans.name
      },
      disk: {
        ...{ journal: this.#journal, before: effect, after: effect, mutant, isFilled: diskRoom !== undefined },
        latencyMs: () =>
          this.#draws.chance(disk.slow) && !this.#isCalm ? this.#draws.integer(3_000) : 1 + this.#draws.integer(4),
      },
      sends: (attempt, process) => {
        if (--this.#effectsLeft <= 0) {
          this.#crash()
          return
        }
        this.#checks.leaves(attempt, process)
        this.#checks.sends(attempt)
        this.#countOnDisk(attempt, process)
      },
      leaves: (bytes, process) => this.#leaves(bytes, process),
      stuck: (process) => this.#checks.stuck(process),
      attempted: (attempt) => {
        this.#settling.take(attempt, this.time.now())
        this.#plans.attempted(attempt)
      },
      note: (what) => this.trace.add(this.time.now(), what),
    })
    // `#process` is undefined if the process ended during its start.
    this.#restored += this.#process?.mirror.standing.restored ?? 0
  }

  /** Called when a process sends signed bytes, for the first time or again. */
  #leaves(text: string, process: Process): void {
    const decoded = decodeTransaction(Buffer.from(text, 'base64'))
    const signature = decoded.ok ? encodeBase58(decoded.transaction.signatures[0] as Uint8Array) : ''
    const attempt = process.mirror.signed.get(signature)
    if (attempt !== undefined) this.#checks.leaves(attempt, process)
    if (this.#truth.executions.has(signature)) return
    // During its start, a process sends the signed bytes of the earlier process again. `#process` is not set yet, so
    // the process cannot be ended here.
    if (this.#process !== undefined && --this.#effectsLeft <= 0) {
      this.#crash()
      return
    }
    const last = decoded.ok ? this.#local?.builder.lastHeightOf(decoded.transaction.message.blockhash) : undefined
    if (attempt === undefined || last === undefined) {
      this.complain(`${signature} is sent, but no record contains it`)
      return
    }
    this.#checks.sends(attempt, signature)
    this.#countOnDisk(attempt, process)
    this.trace.add(this.time.now(), `network: ${attempt.id} goes as ${signature.slice(0, 8)}`)
    const post = this.#truth.sent(attempt, this.time.now())
    this.#truth.executed(post, signature, last - BLOCKHASH_BLOCKS)
  }

  /** Ends the first start before its request limiter exists. A real start ends in this way if no RPC can be reached. */
  #failStart(): void {
    if (this.#options.mutant === 'failedStartUsesKey') this.#key.isUsed = true
    this.trace.add(this.time.now(), 'process: a first start fails')
  }

  /** Ends the process immediately, as kill -9 or a failure of the machine does. A new process starts later. */
  #crash(): void {
    const process = this.#process
    if (process === undefined) return
    const { integer, chance, pick } = this.#draws
    this.trace.add(this.time.now(), 'process: crashes')
    this.#crashes++
    this.#firings += process.mirror.timers.firings
    this.#process = undefined
    this.#effectsLeft = Number.POSITIVE_INFINITY
    process.die()
    this.time.after(integer(pick([100, 5_000, 60_000])), () => {
      if (this.#process !== undefined) return
      if (chance(0.2)) {
        this.boot = `boot ${this.#starts + 1}`
        this.bootedAt = this.time.now() - 20_000
      }
      if (!this.#isCalm && chance(0.3)) this.#effectsLeft = 1 + integer(12)
      this.#start()
    })
  }

  #tick(): void {
    this.time.after(TICK_MS, () => this.#tick())
    const { mirror } = this.#process ?? {}
    for (const signature of mirror?.foreign ?? []) {
      if (!this.#isCalm && this.#draws.chance(0.8)) continue
      mirror?.foreign.delete(signature)
      this.#checks.released()
      this.#process?.command({ name: 'accept', signature })
    }
    if (this.#isCalm) return
    this.#chain.tick()
    this.#local?.signer.tick()
    if (this.#plans.tick() === 'reconnect') this.#process?.planNamed()
    const { crashes, clock, conditionals, operator, stalls } = this.#scenario
    if (this.#stallDraws.chance(stalls)) this.#stall(1 + this.#stallDraws.integer(this.#stallDraws.pick([200, 5_000])))
    if (this.#process?.disk.isShort === true && this.#diskDraws.chance(this.#scenario.diskRoom?.operator ?? 0))
      this.#command(this.#diskDraws.pick(COMMANDS_ON_SHORT_DISK))
    if (this.#operatorDraws.chance(operator)) this.#command(this.#operatorDraws.pick(COMMANDS))
    if (this.#feedDraws.chance(this.#process?.isFeedLive === false ? 0.2 : conditionals.stale))
      this.#process?.turnFeed()
    if (this.#draws.chance(crashes)) this.#effectsLeft = 1 + this.#draws.integer(20)
    if (this.#draws.chance(crashes / 3)) this.#crash()
    if (!this.#draws.chance(clock.steps)) return
    this.#offsetMs = this.#draws.chance(0.3) ? 0 : this.#draws.integer(40_000) - 20_000
    this.trace.add(this.time.now(), `clock: the wall clock is ${this.#offsetMs} ms off`)
  }

  /** Lets another program fill the disk in steps, and later remove its files. */
  #scheduleDisk(): void {
    const { steps, endsMs } = this.#scenario.diskRoom ?? { steps: [], endsMs: 0 }
    const { disk } = this.#journal
    for (const { atMs, freeMib } of steps)
      this.time.after(atMs, () => {
        this.trace.add(this.time.now(), `disk: another program leaves ${freeMib} MiB`)
        disk.fillTo(freeMib * 2 ** 20)
      })
    if (steps.length === 0) return
    this.time.after(endsMs, () => {
      this.trace.add(this.time.now(), 'disk: the other program removes its files')
      disk.empty()
      this.#hasRoomAgain = true
    })
  }

  #countOnDisk({ side }: Attempt, { disk }: Process): void {
    if (side === 'sell' && disk.isShort) this.#sellsOnShortDisk++
    if (side === 'buy' && this.#hasRoomAgain) this.#buysAfterShortDisk++
  }

  #stall(ms: number): void {
    if (this.#process === undefined) return
    this.#stalls++
    this.trace.add(this.time.now(), `process: its event loop is blocked for ${ms} ms`)
    this.#process.stall(ms)
  }

  #command(name: (typeof COMMANDS)[number]): void {
    if (this.#process === undefined) return
    this.#commands++
    const wallets = walletsOf(this.#scenario)
    const wallet = wallets.length > 1 && this.#walletDraws.chance(0.5) ? this.#walletDraws.pick(wallets) : undefined
    this.trace.add(this.time.now(), `operator: ${name}${wallet === undefined ? '' : ` ${wallet}`}`)
    if (name === 'resume') this.#checks.released()
    this.#process.command({ name }, wallet)
  }

  #rows(): void {
    this.time.after(this.#leash.isCalm() ? QUIET_ROW_MS : ROW_MS, () => this.#rows())
    const mint = MINTS[this.#draws.integer(this.#scenario.mints)] as string
    const price = this.#market.wander(mint)
    this.#process?.row(mint, price, this.#draws.between(0.1, 2), this.#draws.chance(0.5), '', '')
  }

  /** Shows our own trade on the feed after a delay; some trades are never shown. */
  #print({ mint, sol, tokens, side, signature, trader }: CurveTrade): void {
    if (this.#draws.chance(0.3)) return
    const price = Number(sol) / 1e9 / (Number(tokens) / 1e6)
    const show = (): void => this.#process?.row(mint, price, Number(sol) / 1e9, side === 'buy', signature, trader)
    this.time.after(100 + this.#draws.integer(2_000), show)
  }
}
