import type { Clock, Machine } from '../../src/base/machine.ts'
import { examine } from '../../src/chain/verifier/checks-before-signing.ts'
import { botSettings, walletCalled } from '../../src/config/accounts.ts'
import type { Config } from '../../src/config/config.ts'
import type { Input } from '../../src/engine/messages.ts'
import type { Recovered } from '../../src/journal/reader/recovery.ts'
import { watchDisk } from '../../src/live/disk-alerts.ts'
import { vetted } from '../../src/live/executor-routes.ts'
import { LiveChain } from '../../src/live/live-chain.ts'
import { Trading } from '../../src/live/trading.ts'
import { RowKind } from '../../src/market/block.ts'
import { LiveBlock } from '../../src/market/live-block.ts'
import { Mints } from '../../src/market/mints.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import type { Executor, Journal, JournalRecord, Outcome } from '../../src/orders/ports.ts'
import type { Route } from '../../src/orders/working-order.ts'
import { Segment } from '../../src/runtime/segment.ts'
import { recoveredStart } from '../../src/runtime/start-input.ts'
import { SystemClock } from '../../src/runtime/system-clock.ts'
import { ViewModel } from '../../src/runtime/view/view-model.ts'
import { draws } from '../../src/sandbox/draws.ts'
import { DEFAULT_VENUE } from '../../src/venues/registry.ts'
import type { SimulatedBuilder } from './builder.ts'
import type { SimulatedChain } from './chain.ts'
import { type DiskParts, SimulatedDisk } from './disk.ts'
import { SECOND, WALLET, walletIn } from './ledger.ts'
import { SimulatedLoop } from './loop.ts'
import { Mirror } from './mirror.ts'
import type { Mutant } from './mutants.ts'
import type { Caller, SimulatedService } from './service.ts'
import { POLICY, type SimulatedSigner } from './signer.ts'

const ROWS_A_BLOCK = 256
const NOTHING = (): void => {}

/** The machine on which the processes run. */
export interface Host {
  readonly time: Clock
  /** The offset of the wall clock from the true time, ms. */
  wallOffset(): number
  /** Time of the machine's boot, and the name of this boot. */
  readonly bootedAt: number
  readonly boot: string
}

export interface ProcessParts {
  readonly host: Host
  readonly config: Config
  readonly chain: SimulatedChain
  readonly service: SimulatedService
  /** The parts for local signing; undefined if the service signs the orders. */
  readonly local: { readonly builder: SimulatedBuilder; readonly signer: SimulatedSigner } | undefined
  readonly disk: Omit<DiskParts, 'clock' | 'monotonicMs' | 'stuck'>
  /** Called if a write failed because the disk is full and the reserve is used up. */
  readonly stuck: (process: Process) => void
  /** Whether the API key was already used, as the lock file of the key records. */
  readonly key: { isUsed: boolean }
  readonly seed: number
  /** Called if the request limiter had no free request for an entry in time. */
  readonly gaveUp: (orderId: string) => void
  /** Plan that the service names; undefined if it names none. */
  readonly planName: () => string | undefined
  readonly mutant: Mutant | undefined
  /** Called before a request leaves the process. */
  readonly sends: (attempt: Attempt, process: Process) => void
  /** Called before signed transaction bytes (base64) leave the process. */
  readonly leaves: (bytes: string, process: Process) => void
  /** Called with each attempt that the process writes. */
  readonly attempted: (attempt: Attempt) => void
  readonly note: (what: string) => void
}

/**
 * One live process, from the recovery of the journal to its end. Its parts are connected in the same way as in
 * live/start-bots.ts.
 */
export class Process implements Caller {
  readonly disk: SimulatedDisk
  readonly mirror: Mirror
  readonly #parts: ProcessParts
  readonly #chain: LiveChain
  readonly #trading: Trading
  readonly #segment: Segment
  readonly #mints = new Mints()
  readonly #clock: Clock
  readonly #loop: SimulatedLoop
  sending: Attempt | undefined
  #block: LiveBlock
  #staleFrom: number | undefined
  #isAlive = true

  constructor(parts: ProcessParts) {
    const { config, service, chain, note, mutant } = parts
    this.#parts = parts
    const reader = parts.disk.journal.reader()
    const found = reader.recover()
    const past = asSeen(found, mutant)
    if (!past.clean) reader.checkIntegrity()
    this.#loop = new SimulatedLoop(parts.host.time, draws(parts.seed, `loop of segment ${past.lastSegment}`))
    const machine = this.#machine(past.lastTime)
    this.#clock = machine.clock
    this.disk = new SimulatedDisk({ ...parts.disk, ...machine, stuck: () => parts.stuck(this) })
    const model = new ViewModel()
    this.mirror = new Mirror(past, note, parts.attempted)
    const journal = model.watch(this.mirror.watch(this.#guarded(this.disk)))
    const log = { info: NOTHING, warn: NOTHING, error: NOTHING }
    const access = {
      baseUrl: 'https://service.invalid/api',
      apiKey: () => 'key',
      venue: DEFAULT_VENUE,
      host: 'service.invalid',
    }
    const { genesisHash } = chain.ledger
    const wallets = config.wallets.map(({ name }, index) => ({ name, publicKey: index === 0 ? WALLET : SECOND }))
    const common = { config, service: { ...access, rpc: [] }, wallets, machine, journal, model, past, log }
    this.#chain = new LiveChain(
      { ...common, live: true, post: (input) => this.#isTold(input) && this.#segment.runner.post(input) },
      chain.reach(
        () => this.#isAlive,
        (bytes) => parts.leaves(bytes, this),
      ),
      genesisHash,
    )
    const { local } = parts
    const http = (local?.builder ?? service).port(this)
    const signer = local && {
      signer: local.signer.port(() => this.#isAlive),
      policy: POLICY,
      policyHash: 'simulated',
      examine,
    }
    const isFresh = !parts.key.isUsed || mutant === 'limiterForgets'
    const began = (): void => {
      parts.key.isUsed = true
    }
    const keyUse = { isFresh, began, release: NOTHING }
    this.#trading = new Trading({
      ...common,
      keyUse,
      http,
      signing: new Map(signer && [['', signer]]),
      chain: this.#chain,
    })
    if (mutant === 'each429CutsAgain') cutAgain(this.#trading)
    this.planNamed()
    const { settings } = botSettings(config, {
      ...{
        service: access.host,
        cluster: genesisHash,
        publicKeyOf: (name) => walletCalled(wallets, name).publicKey,
        allow: 'live',
      },
    })
    for (const { account } of settings) model.liveAccounts.add(account.id)
    const routes = new Map(
      [...this.#trading.routes].map(([account, own]) => {
        const watched = this.#watched((local === undefined ? own.cloud : own.local) as Route)
        return [account, vetted(watched, config, this.#chain, machine.clock)]
      }),
    )
    this.#segment = new Segment({
      ...{ machine, journal, mints: this.#mints, past, want: NOTHING },
      route: ({ account }) => routes.get(account) as Route,
      strategies: new Map(config.bots.map(({ strategy }) => [strategy.name, strategy.strategy])),
      observe: (block, from, to) => this.#trading.observe(block, from, to),
      alarm: ({ code, reason }) => {
        note(`alarm: ${code} ${reason}`)
        if (mutant === 'strangerDoesNotStop') this.#resume()
      },
    })
    this.#chain.attach(this.#segment.gateway)
    const start = recoveredStart({
      ...{ config, bots: settings, plan: this.#trading.plan, code: 'code', past, reader },
      proof: this.#chain.proof,
    })
    model.restore(start.money)
    note(`process: starts as segment ${start.segment} with ${past.attempts.length} attempts`)
    this.#segment.begin(start, reader.blocks(this.#mints, start.warm))
    watchDisk({ model: this.disk, machine, segment: this.#segment, log }, ({ text }) => note(`disk: ${text}`))
    this.#segment.resume(start)
    this.#chain.start()
    this.#segment.runner.post({ kind: 'feed', status: 'live', confirmed: ['trades'] })
    this.#block = new LiveBlock(this.#mints.list, ROWS_A_BLOCK)
  }

  isAlive(): boolean {
    return this.#isAlive
  }

  /** Sends a row of the market to the process, unless its feed is silent. */
  row(mint: string, price: number, sol: number, isBuy: boolean, signature: string, trader: string): void {
    if (!this.isFeedLive) return
    const now = this.#clock.now()
    const numbers = { price, amount: sol, size: sol / price, marketCap: price * 1e9, extra: 5, extra2: 0.0005 }
    if (this.#block.length === ROWS_A_BLOCK) this.#block = new LiveBlock(this.#mints.list, ROWS_A_BLOCK)
    const kind = isBuy ? RowKind.buy : RowKind.sell
    this.#block.append(now, now, kind, this.#mints.intern(mint), numbers, signature, trader)
    const { length } = this.#block
    for (let at = length - 1; at < length; ) at = this.#segment.runner.rows(this.#block, at, length)
  }

  /** Gives an operator's command to the process. `wallet`: the only wallet to which the command applies. */
  command(
    command: { name: 'halt' | 'flatten' | 'resume' } | { name: 'accept'; signature: string },
    wallet?: string,
  ): void {
    const { runner, gateway } = this.#segment
    const account = [...this.#trading.routes.keys()].find((one) => walletIn(one) === wallet)
    const isOfOne = account !== undefined && command.name !== 'accept'
    runner.post({ kind: 'command', command: isOfOne ? { ...command, account } : command })
    if (this.#parts.mutant !== 'resumeEndsDiskLow' || command.name !== 'resume') return
    gateway.diskLow(false)
    runner.post({ kind: 'gate', account: '', open: true, code: 'DISK_LOW' })
  }

  /** Makes a live feed stale, and a stale feed live. */
  turnFeed(): void {
    const { runner } = this.#segment
    const now = this.#clock.now()
    const from = this.#staleFrom
    this.#staleFrom = from === undefined ? now : undefined
    if (from !== undefined) runner.post({ kind: 'gap', from, to: now, keys: ['trades'] })
    runner.post({ kind: 'feed', status: from === undefined ? 'stale' : 'live', confirmed: ['trades'] })
  }

  get isFeedLive(): boolean {
    return this.#staleFrom === undefined
  }

  /** Blocks the event loop of the process. */
  stall(ms: number): void {
    this.#loop.stall(ms)
  }

  /** Called when the service tells the process its plan, which it does at each connection. */
  planNamed(): void {
    const { planName, mutant } = this.#parts
    const name = planName()
    if (name === undefined) return
    const isKnown = ['standard', 'premium'].includes(name.trim().toLowerCase())
    this.#trading.planNamed(mutant === 'unknownTierIsStandard' && !isKnown ? 'standard' : name)
  }

  keyAccepted(): void {
    this.#segment.gateway.keyAccepted(this.#trading.limiter)
  }

  /** Ends the process immediately, as kill -9 does. After that, the process has no effects. */
  die(): void {
    if (!this.#isAlive) return
    this.#isAlive = false
    this.disk.die()
    this.#parts.service.cut(this)
    this.#chain.stop()
  }

  async stop(): Promise<void> {
    this.#segment.runner.stop()
    this.#chain.stop()
    this.#isAlive = false
    await this.disk.close()
  }

  #isTold(input: Input): boolean {
    return input.kind !== 'foreign' || this.#parts.mutant !== 'strangerUntold'
  }

  /** For a mutant (a deliberate error): allows entries again although an alarm has stopped them. */
  #resume(): void {
    const signatures = [...this.mirror.foreign]
    this.#clock.after(0, () => {
      for (const signature of signatures) this.command({ name: 'accept', signature })
      this.command({ name: 'resume' })
    })
  }

  #machine(lastTime: number): Machine {
    const { time, boot, bootedAt, wallOffset } = this.#parts.host
    const monotonicMs = (): number => time.now() - bootedAt
    const wall = new SystemClock(lastTime, () => time.now() + wallOffset(), monotonicMs)
    const after: Clock['after'] = (ms, run) => this.#loop.after(ms, () => this.#isAlive && run())
    return { clock: { now: () => wall.now(), after }, monotonicMs, boot }
  }

  /** Returns a journal that ignores all records once the process has ended. */
  #guarded(disk: SimulatedDisk): Journal {
    return {
      rows: (...row) => this.#isAlive && disk.rows(...row),
      input: (...input) => this.#isAlive && disk.input(...input),
      output: (...output) => this.#isAlive && disk.output(...output),
      write: (record) => {
        if (!this.#isAlive || this.#isLeftOut(record)) return
        if (record.kind === 'report' && record.report.code === 'LIMIT_WAIT') this.#parts.gaveUp(record.report.orderId)
        disk.write(this.#parts.mutant === 'fillOfOtherWallet' ? inOtherWallet(record) : record)
      },
      commit: (then) => this.#isAlive && disk.commit(then),
    }
  }

  #isLeftOut(record: JournalRecord): boolean {
    const isSigned = record.kind === 'attempt' && (record.attempt.state === 'signed' || record.attempt.state === 'sent')
    return isSigned && this.#parts.mutant === 'signedNotWritten'
  }

  #watched(route: Route): Route {
    const { mutant, sends } = this.#parts
    const execute: Executor['execute'] = (attempt, done) => {
      if (!this.#isAlive) return
      this.sending = attempt
      if (route.kind === 'cloud') sends(attempt, this)
      if (this.#isAlive) route.executor.execute(attempt, mutant === 'refusedFeeEnds' ? endingAtFee(done) : done)
      this.sending = undefined
    }
    const resume: Executor['resume'] = (attempt, done) => {
      if (mutant === 'resumeSendsAgain' && attempt.state === 'armed') execute(attempt, done)
      else route.executor.resume(attempt, done)
    }
    return { ...route, executor: { execute, resume } }
  }
}

/** For a mutant (a deliberate error): each 429 halves the request rate, and the rate does not recover. */
function cutAgain({ limiter }: Trading): void {
  const throttled = limiter.throttled.bind(limiter)
  limiter.throttled = (slot, retryAfterMs) => {
    throttled(slot, retryAfterMs)
    limiter.setRequestsPerMinute(Math.max(1, Math.floor(limiter.status().perMinute / 2)))
  }
}

/** For a mutant (a deliberate error): gives a refusal for a fee another code, which is not retried. */
function endingAtFee(done: (outcome: Outcome) => void): (outcome: Outcome) => void {
  return (outcome) => {
    const isFee = outcome.kind === 'refused' && outcome.code === 'PRIORITY_FEE'
    done(isFee ? { ...outcome, code: 'FEE_OVER' } : outcome)
  }
}

/** For a mutant (a deliberate error): books a fill in the account of the other wallet. */
function inOtherWallet(record: JournalRecord): JournalRecord {
  if (record.kind !== 'fill') return record
  const own = walletIn(record.fill.account)
  const account = record.fill.account.replace(own, own === WALLET ? SECOND : WALLET)
  return { ...record, fill: { ...record.fill, account } }
}

/** Returns the recovered state. A mutant (a deliberate error) changes it. */
function asSeen(found: Recovered, mutant: Mutant | undefined): Recovered {
  if (mutant === 'reportsNotRedelivered') return { ...found, untaken: [] }
  if (mutant === 'limiterForgets') return { ...found, slots: [] }
  if (mutant !== 'signedCountsAsUnsent') return found
  const unsent = (attempt: Attempt): Attempt =>
    attempt.state === 'signed' || attempt.state === 'sent' ? { ...attempt, state: 'unsent', signature: '' } : attempt
  return { ...found, attempts: found.attempts.map(unsent) }
}
