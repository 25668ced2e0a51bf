import '../runtime/failpoint.ts'
import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Machine } from '../base/machine.ts'
import { printable } from '../base/text.ts'
import { HOUR, type Millis, ZERO } from '../base/units.ts'
import { botSettings, walletCalled } from '../config/accounts.ts'
import type { Config } from '../config/config.ts'
import { overriddenNote } from '../config/effective-exits.ts'
import { codeHash } from '../config/hashes.ts'
import { isUnsellable, type Position } from '../engine/accounting/position.ts'
import { FIREHOSES } from '../engine/bots/subscription-router.ts'
import type { Command, Input } from '../engine/messages.ts'
import type { BotSettings } from '../engine/settings.ts'
import { Mints } from '../market/mints.ts'
import type { Journal } from '../orders/ports.ts'
import { liquidationOf } from '../runtime/liquidation-value.ts'
import { createLog, type Level, type Log } from '../runtime/log.ts'
import { Notices } from '../runtime/notices.ts'
import type { AnySegment } from '../runtime/segment.ts'
import { recoveredStart, unattended } from '../runtime/start-input.ts'
import { bootId, monotonicMs, SystemClock } from '../runtime/system-clock.ts'
import type { WorthOf } from '../runtime/view/bot-results.ts'
import { readNetResults, readParts, readView } from '../runtime/view/read-view.ts'
import { ResultRecord } from '../runtime/view/result-record.ts'
import type { LogLine, ProcessStatus, View } from '../runtime/view/view.ts'
import { type PastOfModel, ViewModel } from '../runtime/view/view-model.ts'
import { type LiveView, ViewUpdates } from '../runtime/view/view-updates.ts'
import { raiseAlarms } from './alerts.ts'
import { ArchiveTimer } from './archive-timer.ts'
import { type ControlCommand, haltPath, type RemoteCommand } from './control/command.ts'
import { type DeskLink, Operator, type OperatorParts } from './control/operator.ts'
import { type Preview, previewOf } from './control/preview.ts'
import { serveControl } from './control/server.ts'
import { watchDisk } from './disk-alerts.ts'
import { startHeartbeat } from './heartbeat.ts'
import { hostEngine, type Isolation, type StartOf } from './isolation/engine-host.ts'
import { openSigning, type Signing, withoutLocal } from './local-trading.ts'
import { ProcessProbe } from './process-probe.ts'
import { openRecoveredJournal, type RecoveredJournal } from './recovered-journal.ts'
import { lockKey, lockWallet, openService, type ServiceAccess } from './service-access.ts'
import { sourcesOf } from './source-addresses.ts'
import { OwnJournal } from './telegram/own-journal.ts'
import type { Probe } from './trading.ts'
import { buildWorld, type LiveWorld } from './world.ts'

const MARKS_EVERY_MS = 250
/** Longest times for which an orderly stop waits for the last decisions, and in all. After the decisions, it waits for
 *  the answers to requests that were sent. Docker kills a process 10 s after it has asked the process to stop. */
const LAST_DECISIONS_MS = 2_000
const LONGEST_STOP_MS = 8_000

export interface BotsOptions extends Isolation {
  /** Title of the run, which people read. */
  readonly title?: string
  /** Whether bots with `mode: live` may trade real money. On a sandbox they always trade, because its money is not
   *  real. */
  readonly allow: 'live' | 'paper'
  /** Speed of the sandbox's market, as a multiple of real time. */
  readonly speed?: number
  /** Whether to subscribe to the whole feed, even if no bot asks for it. */
  readonly record?: boolean
  /** Receives each line of the log; stderr by default. */
  readonly writeLog?: (line: string) => void
  readonly logFormat: 'json' | 'text'
  /** Lowest level of the lines that are logged; default `info`. */
  readonly logLevel?: Level
  /** Observes orders and answers to learn facts that the service's document leaves open. */
  readonly probe?: Probe
  /** Creates a login link of the desk. Absent if there is no desk. */
  readonly deskLink?: DeskLink | undefined
}

/** Bots that run until `stop` is called or until they end by themselves. */
export interface RunningBots {
  readonly bots: readonly BotSettings[]
  readonly model: ViewModel
  readonly world: LiveWorld
  readonly log: Log
  readonly startedAt: number
  /** Resolves if the bots end by themselves, because the journal failed, the service refused the API key at the start,
   *  or the sandbox ended; never resolves otherwise. */
  readonly ended: Promise<Ending>
  /** The state of the bots now. */
  view(): View
  /** The state of the bots, with its changes. */
  readonly updates: LiveView
  /** Carries out a command of an operator. `by`: source of the command; default `terminal`. */
  handle(command: ControlCommand, by?: string): object | Promise<object>
  /** Describes the effect of a command of the desk. Throws a SluiceError if the command would be refused. */
  preview(command: RemoteCommand): Preview
  stop(): Promise<void>
}

/** Starts bots: opens the journal, recovers its state, connects to the service, and starts the engine. Logs one line
 *  for each step. */
export async function startBots(config: Config, options: BotsOptions): Promise<RunningBots> {
  sourcesOf(config) // refuses a source without an address before the journal is opened
  const start = new Start(config, options)
  try {
    return await start.run()
  } catch (error) {
    await start.closers.closeAll()
    throw error instanceof SluiceError ? new SluiceError(start.shown(error.message), error.exitCode) : error
  }
}

/** Resources that every step of a start needs. */
interface StartContext {
  readonly past: RecoveredJournal
  readonly service: ServiceAccess
  readonly machine: Machine
  readonly mints: Mints
  readonly model: ViewModel
  /** The journal, in a wrapper that shows each write to the ViewModel and to the probe. */
  readonly journal: Journal
}

class Start {
  readonly closers = new CloseStack()
  #config: Config
  readonly #options: BotsOptions
  readonly #log: Log
  readonly #notices = new Notices()
  readonly #ending = Promise.withResolvers<Ending>()
  #redact = (text: string): string => text

  constructor(config: Config, options: BotsOptions) {
    this.#config = config
    this.#options = options
    this.#log = createLog({
      level: options.logLevel ?? 'info',
      format: options.logFormat,
      redact: (text) => this.#redact(text),
      ...(options.writeLog && { write: options.writeLog }),
      noticed: this.#notices.addLine,
    })
  }

  /** Removes secrets from a message. Escapes the message, because it may contain text of a third party. */
  shown(message: string): string {
    return printable(this.#redact(message))
  }

  async run(): Promise<RunningBots> {
    const context = await this.#openContext()
    const signing = await this.#openSigning(context)
    const world = await this.#openWorld(context, signing, (input) => segment.runner.post(input))
    const settings = this.#botSettings(context, world)
    const startOf = this.#startOf(context, world, settings)
    const segment: AnySegment = this.#openSegment(context, world, startOf)
    const worthAtStart = await this.#begin(context, world, segment, startOf)
    const stopFeed = this.#listen(world, segment)
    const startedAt = context.machine.clock.now()
    const { model } = context
    const watched = { bots: settings, model, world, startedAt }
    const parts = {
      ...{ ...watched, title: this.#options.title ?? '', journalPath: this.#config.journal.path },
      readingOf: (position: Position) => segment.readingOf(position),
      process: this.#probe(context, world),
      notices: this.#notices,
    }
    const { clock } = context.machine
    const view = (): View => readView(parts, clock.now())
    const updates = new ViewUpdates({
      ...{ clock, read: (n: number) => readParts(parts, clock.now(), n) },
      ...{ onLog: (run: (line: LogLine) => void) => model.onLog(run), committing: model.committing },
      onMessage: (run) => model.onMessage(run),
      failed: (error) => this.#log.error({ error: (error as Error).stack }, 'the view of the desk cannot be read'),
    })
    const operated: OperatorParts = {
      ...{ post: (input) => segment.runner.post(input), model, view },
      haltPath: haltPath(this.#config.journal.path),
      bots: settings,
      chain: world.chain,
      priceOf: (mint) => world.priceOf(mint),
      now: () => context.machine.clock.now(),
      deskLink: this.#options.deskLink,
    }
    const operator = new Operator(operated)
    const handle = (command: ControlCommand, by?: string, update?: number): object | Promise<object> => {
      if (command.command !== 'status') this.#log.info({ by }, `operator: ${command.command}`)
      return operator.carryOut(command, by, update)
    }
    const preview = (command: RemoteCommand): Preview => previewOf(command, operated)
    const record = new ResultRecord({
      ...{ clock, read: (time: number) => readNetResults(parts, time, worthAtStart) },
      write: (result) => context.journal.write({ kind: 'netResult', result }),
      failed: (error) => this.#log.error({ error: (error as Error).stack }, 'the results of the bots cannot be read'),
    })
    this.closers.add(() => record.close())
    await this.#serve(segment, context, handle)
    this.#archiveDaily(context, world)
    const own = new OwnJournal(this.#config.journal.path)
    this.closers.add(() => own.close())
    world.serveTelegram({
      ...{ view, handle, preview, own },
      isRecorded: (update) => own.hasUpdate(update, clock.now()),
    })
    this.#log.info({ bots: settings.map(({ name, account }) => `${name} (${account.mode})`) }, 'running')
    const overridden = overriddenNote(this.#config.bots)
    if (overridden !== undefined) this.#log.info(overridden)
    for (const { code, bots, text } of model.stops.of(settings, watched.startedAt))
      this.#log.warn({ bots }, `${code}: ${text}`)
    return {
      ...{ ...watched, view, updates, log: this.#log, ended: this.#ending.promise, handle },
      preview,
      stop: () => this.#stop(context, segment, stopFeed),
    }
  }

  /** Opens the journal and the service, and determines the accounts. */
  async #openContext(): Promise<StartContext> {
    const config = this.#config
    const failed = ({ message }: Error): void => this.#end(ExitCode.failed, `the journal cannot be written: ${message}`)
    const past = await openRecoveredJournal(config, this.#log, failed, this.closers.add)
    const service = await openService(config, this.#wantsLive, this.#options.speed)
    this.closers.add(() => service.close())
    this.#redact = service.redact
    service.onExit(() => this.#end(ExitCode.failed, 'the sandbox ended'))
    if (!service.builds) this.#config = withoutLocal(config, this.#log)
    const clock = new SystemClock(past.recovered.lastTime)
    this.closers.add(() => clock.stop())
    const model = new ViewModel({ redact: (text) => this.#redact(text), now: () => clock.now() })
    past.onSpace((report) => model.takeSpace(report))
    past.onUsage((usage) => {
      model.disk = usage
    })
    const watched = model.watch(past.journal)
    const journal = this.#options.probe?.watch(watched) ?? watched
    const machine = { clock, monotonicMs, boot: bootId() }
    return { past, service, machine, mints: new Mints(), model, journal }
  }

  /** Opens the signers. They must be ready before the connections that may need a signature are opened. */
  async #openSigning({ service, machine }: StartContext): Promise<ReadonlyMap<string, Signing>> {
    if (!this.#wantsLive) return new Map()
    return openSigning(this.#config, {
      ...{ service, clock: machine.clock, log: this.#log },
      opened: (signer) => this.closers.add(() => signer.close()),
    })
  }

  async #openWorld(
    context: StartContext,
    signing: ReadonlyMap<string, Signing>,
    post: (input: Input) => void,
  ): Promise<LiveWorld> {
    const keyUse = lockKey(this.#config, context.service)
    this.closers.add(() => keyUse.release())
    const world = await buildWorld({
      ...context,
      ...{ config: this.#config, log: this.#log, notices: this.#notices, post },
      past: context.past.recovered,
      probe: this.#options.probe,
      live: this.#wantsLive,
      wallets: tradedWallets(this.#config, context.service),
      signing,
      keyUse,
      end: (exitCode, message) => this.#end(exitCode, message),
    })
    this.closers.add(() => world.close())
    for (const { code, text } of world.limiter.status().holds) this.#log.warn({ code }, text)
    return world
  }

  /** Returns the settings of every bot, with its account. Locks each wallet with which a bot trades real money. */
  #botSettings({ service, model }: StartContext, world: LiveWorld): readonly BotSettings[] {
    const { settings, notices } = botSettings(this.#config, {
      service: service.host,
      cluster: world.chain?.genesis ?? '',
      publicKeyOf: (wallet) => walletCalled(service.wallets, wallet).publicKey,
      allow: this.#options.allow,
    })
    for (const notice of notices) this.#log.warn(notice)
    const live = settings.filter(({ account }) => account.mode === 'live')
    for (const { account } of live) model.liveAccounts.add(account.id)
    if (this.#config.service.kind === 'remote')
      for (const name of new Set(live.map(({ wallet = '' }) => wallet))) {
        const lock = lockWallet(walletCalled(service.wallets, name))
        this.closers.add(() => lock.release())
      }
    return settings
  }

  #openSegment(context: StartContext, world: LiveWorld, startOf: StartOf): AnySegment {
    const segment = hostEngine({
      ...context,
      ...{ config: this.#config, isolation: this.#options, world, log: this.#log, startOf },
      failed: (reason) => this.#end(ExitCode.failed, reason),
    })
    this.closers.add(() => segment.close())
    world.attach(segment.gateway)
    raiseAlarms({ ...context, chain: world.chain }, (alert) => world.alert(alert))
    return segment
  }

  /** Returns a function that builds the input that starts an engine (`StartInput`) from recovered state. */
  #startOf({ past }: StartContext, world: LiveWorld, settings: readonly BotSettings[]): StartOf {
    const config = this.#config
    const code = codeHash(config.bots.map(({ strategy }) => strategy))
    const same = { config, bots: settings, code, reader: past.reader }
    return (recovered) => recoveredStart({ ...same, plan: world.plan(), past: recovered, proof: world.chain?.proof })
  }

  /** Restores positions and orders from the journal, warms up the strategies, and resumes open orders, exits first.
   *  Returns the values that the positions had before this start. */
  async #begin(
    { past, machine, mints, model }: StartContext,
    world: LiveWorld,
    segment: AnySegment,
    startOf: StartOf,
  ): Promise<WorthOf> {
    const start = startOf(past.recovered)
    const { positions, orders } = start.money
    for (const left of unattended(past.recovered.money, start.bots)) this.#log.warn(left)
    const worthOf = worthBefore(past, positions.length)
    const worths = new Map(positions.map((one) => [`${one.account}/${one.mint}`, worthOf(one)]))
    model.restore(start.money, { ...pastOf(past, positions, machine.clock.now()), worthOf })
    world.restore(start.bots, start.money, (own) => past.reader.blocks(own, past.reader.warmupRange(HOUR / 1000)))
    // `segment.begin` never resolves if no engine can start or if the journal has failed, so this code also waits for
    // the end of the bots.
    const rows = await unlessEnded(this.#ending.promise, segment.begin(start, past.reader.warmup(mints, start.warm)))
    watchDisk({ model, machine, segment, log: this.#log }, (alert) => world.alert(alert))
    this.#log.info({ rows, positions: positions.length, orders: orders.length }, 'recovered')
    segment.resume(start)
    if (start.bots.some(({ account }) => account.mode === 'live')) world.chain?.start()
    return ({ account, mint }) => worths.get(`${account}/${mint}`)
  }

  /** Starts the flow of market rows and inputs to the engine. Returns a function that stops it. */
  #listen(world: LiveWorld, segment: AnySegment): () => Promise<void> {
    const { runner } = segment
    if (this.#options.record === true) world.feed.want(FIREHOSES)
    const stopFeed = world.listen(this.#options.isolate ? runner : world.timed(runner), segment)
    this.closers.add(stopFeed)
    return stopFeed
  }

  /** Starts the heartbeat and the measurements of this process. Returns a function that returns the last measurements.
   *  */
  #probe({ machine: { clock } }: StartContext, world: LiveWorld): () => ProcessStatus {
    const { heartbeat: config } = this.#config
    const beats = config && startHeartbeat(config, clock, this.#log)
    const probe = new ProcessProbe({ clock, world, heartbeat: beats?.heartbeat })
    this.closers.add(() => {
      probe.stop()
      return beats?.stop()
    })
    return () => probe.status
  }

  async #serve(segment: AnySegment, { journal }: StartContext, handle: RunningBots['handle']): Promise<void> {
    const marks = setInterval(() => {
      for (const mark of segment.takeMarks()) journal.write({ kind: 'mark', mark })
    }, MARKS_EVERY_MS)
    this.closers.add(() => clearInterval(marks))
    const { path } = this.#config.journal
    this.closers.add(await serveControl({ journalPath: path, handle, warn: (message) => this.#log.warn(message) }))
  }

  #archiveDaily({ machine: { clock } }: StartContext, world: LiveWorld): void {
    const { path, archive } = this.#config.journal
    if (!archive) return
    const alert = (text: string): void => world.alert({ kind: 'disk', bot: '', text, time: clock.now() })
    const daily = new ArchiveTimer({ journal: path, clock, log: this.#log, alert })
    this.closers.add(() => daily.close())
  }

  /** Stops decisions, sends the orders that are decided and durable, and waits for the answers. */
  async #stop({ journal, model }: StartContext, segment: AnySegment, stopFeed: () => unknown): Promise<void> {
    const start = performance.now()
    postTo(segment)({ name: 'stop' })
    await this.closers.take(stopFeed)
    await until(() => segment.isIdle, start + LAST_DECISIONS_MS)
    let isDurable = false
    journal.commit(() => {
      isDurable = true
    })
    await until(() => isDurable && segment.gateway.outgoing.isAnswered, start + LONGEST_STOP_MS)
    model.mute()
    await this.closers.closeAll()
  }

  get #wantsLive(): boolean {
    return this.#config.service.kind === 'sandbox' || this.#options.allow === 'live'
  }

  #end(exitCode: ExitCode, message: string): void {
    this.#ending.resolve({ exitCode, message: this.shown(message) })
  }
}

/** Returns the wallets of the bots with `mode: live`, and the wallet without a name, if there is one. Other wallets are
 *  never read. */
function tradedWallets({ bots }: Config, { wallets }: ServiceAccess): ServiceAccess['wallets'] {
  const names = new Set(bots.filter(({ mode }) => mode === 'live').map(({ wallet = '' }) => wallet))
  return wallets.filter(({ name }) => name === '' || names.has(name))
}

/** Returns the part of the recovered state that the view of the bots (`ViewModel`) shows. */
function pastOf(past: RecoveredJournal, positions: readonly Position[], now: Millis): PastOfModel {
  const { reader, recovered } = past
  const { attempts, watches } = recovered
  return { results: reader.pastResults(now), buys: reader.buysOf(positions), attempts, watches }
}

/** Returns a function that computes the liquidation value of a position from the last prices that were recorded before
 *  this start. Without positions, the recorded market is not read. */
function worthBefore({ reader }: RecoveredJournal, positions: number): WorthOf {
  const worth = positions === 0 ? () => undefined : liquidationOf(reader)
  return (position) => (isUnsellable(position) ? ZERO : worth(position))
}

function postTo({ runner }: AnySegment): (command: Command) => void {
  return (command) => runner.post({ kind: 'command', command })
}

/** Waits until the condition holds, or until the deadline (time of `performance.now()`). */
async function until(is: () => boolean, deadline: number): Promise<void> {
  while (!is() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Closes resources in reverse order of opening. */
class CloseStack {
  #steps: (() => unknown)[] = []

  readonly add = (close: () => unknown): void => {
    this.#steps.push(close)
  }

  /** Closes this resource now, and removes it from the stack. */
  async take(close: () => unknown): Promise<void> {
    this.#steps = this.#steps.filter((step) => step !== close)
    await close()
  }

  async closeAll(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) await step()
  }
}

/** Exit code and reason of bots that ended by themselves. */
export interface Ending {
  readonly exitCode: ExitCode
  readonly message: string
}

/** Waits for `coming`. Rejects with the reason if the bots end before it resolves. */
function unlessEnded<T>(ending: Promise<Ending>, coming: T | Promise<T>): Promise<T> {
  const ended = ending.then(({ message, exitCode }) => {
    throw new SluiceError(message, exitCode)
  })
  return Promise.race([coming, ended])
}
