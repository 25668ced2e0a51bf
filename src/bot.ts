import { Alarms } from './alarms.ts'
import { botSettings } from './config/accounts.ts'
import { codeHash } from './config/code-hash.ts'
import type { Config } from './config/config.ts'
import { ExitCode, SluiceError } from './core/errors.ts'
import type { Command } from './core/messages.ts'
import { Mints } from './core/mints.ts'
import { isUndecided } from './core/order.ts'
import { printable } from './core/printable.ts'
import type { BotSettings } from './core/settings.ts'
import { startJournalThread } from './journal/journal-thread.ts'
import { type JournalReader, openReader } from './journal/reader.ts'
import { lockKey, lockWallet } from './key-lock.ts'
import type { Onlooker } from './onlooker.ts'
import { Operator } from './operator.ts'
import { startInput } from './restore.ts'
import type { ControlCommand } from './runtime/control-command.ts'
import { serveControl } from './runtime/control-server.ts'
import { createLog, type Log } from './runtime/log.ts'
import { bootId, monotonicMs, SystemClock } from './runtime/system-clock.ts'
import { Segment } from './segment.ts'
import { openService } from './service-access.ts'
import { Tally } from './tally.ts'
import { buildWorld, type LiveWorld } from './world.ts'

const FIREHOSES = ['trades', 'newTokens', 'priceUpdates']
const MARKS_EVERY_MS = 250
/** How long an orderly end waits for answers that are on their way. */
const LAST_ANSWERS_MS = 2_000

export interface BotsOptions {
  /** `live`: bots with `mode: live` trade; a sandbox's always do. */
  readonly allow: 'live' | 'paper'
  /** Of the sandbox's market. */
  readonly speed?: number
  /** Take the whole feed, though no bot asks for it. */
  readonly record?: boolean
  /** Takes finished lines of the log; default stderr. */
  readonly writeLog?: (line: string) => void
  readonly logFormat: 'json' | 'text'
  /** Learns what the document leaves open. */
  readonly onlooker?: Onlooker
}

/** Why it ended by itself. */
export interface Ending {
  readonly exitCode: ExitCode
  readonly message: string
}

/** Bots that run, until `stop` or until they end by themselves. */
export interface RunningBots {
  readonly bots: readonly BotSettings[]
  readonly tally: Tally
  readonly world: LiveWorld
  readonly log: Log
  readonly startedAt: number
  /** Only when it ends by itself: the journal failed, the key is refused at the start, the sandbox is gone. */
  readonly ended: Promise<Ending>
  handle(command: ControlCommand): object | Promise<object>
  stop(): Promise<void>
}

/** The wiring: opens the journal, takes over what it holds, reaches the service, and lets the engine run. A line of the log a step. */
export async function startBots(config: Config, options: BotsOptions): Promise<RunningBots> {
  let redact = (text: string): string => text
  const log = createLog({
    level: 'info',
    format: options.logFormat,
    redact: (text) => redact(text),
    ...(options.writeLog && { write: options.writeLog }),
  })
  const ending = Promise.withResolvers<Ending>()
  // What a stranger said may stand in it.
  const shown = (message: string): string => printable(redact(message))
  const end = (exitCode: ExitCode, message: string): void => ending.resolve({ exitCode, message: shown(message) })
  const undo: (() => unknown)[] = []
  const unwind = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const local = config.bots.find(({ executor, mode }) => executor === 'local' && mode === 'live')
    if (local !== undefined)
      throw new SluiceError(
        `${local.name} has executor: local, which needs a builder policy and is not built yet; use executor: cloud`,
        ExitCode.unsafe,
      )

    // What the process before left. Opening also migrates and locks; reading is from a connection of its own.
    const { path, keepTapeDays } = config.journal
    const space = (state: string): void => log.warn({ state }, 'the disk that holds the journal runs short')
    // It may run short before there is anybody to tell.
    let isShort = false
    let halt = (): void => {
      isShort = true
    }
    const opened = await startJournalThread(path, {
      keepTapeDays,
      onFailure: (error) => end(ExitCode.failed, `the journal cannot be written: ${error.message}`),
      onSpace: (state) => {
        if (state === 'noEntries') halt()
        if (state !== 'ample') space(state)
      },
    })
    undo.push(() => opened.close())
    const reader: JournalReader = openReader(path)
    undo.push(() => reader.close())
    log.info({ path }, 'journal: locked, and every commit reaches the disk (synchronous=FULL, read back)')
    const past = reader.recover()
    if (!past.clean) reader.checkIntegrity()
    if (!past.clean)
      log.warn('journal: the process before did not end in order; the tables that money is read from are whole')
    log.info(
      {
        path,
        segment: past.lastSegment + 1,
        ordersOpen: past.money.orders.length,
        attemptsUndecided: past.attempts.filter(({ state }) => isUndecided(state)).length,
        endedInOrder: past.clean,
      },
      'journal open',
    )

    // The service, and who we are there.
    const wantsLive = config.service.kind === 'sandbox' || options.allow === 'live'
    const service = await openService(config, wantsLive, options.speed)
    undo.push(() => service.close())
    redact = service.redact
    service.onExit(() => end(ExitCode.failed, 'the sandbox ended'))
    const clock = new SystemClock(past.lastTime)
    undo.push(() => clock.stop())
    const machine = { clock, monotonicMs, boot: bootId() }
    const mints = new Mints()
    const tally = new Tally()
    const watched = tally.watch(opened)
    const journal = options.onlooker?.watch(watched) ?? watched
    const key = lockKey(config, service)
    undo.push(() => key?.release())
    const world = await buildWorld({
      config,
      service,
      machine,
      journal,
      mints,
      tally,
      past,
      log,
      onlooker: options.onlooker,
      live: wantsLive,
      freshKey: service.fresh || key?.isFirst === true,
      post: (input) => segment.runner.post(input),
      end,
    })
    undo.push(() => world.close())
    const { settings, notices } = botSettings(config, {
      service: service.host,
      cluster: world.chain?.genesis ?? '',
      wallet: service.wallet,
      allow: options.allow,
    })
    for (const notice of notices) log.warn(notice)
    const live = settings.filter(({ account }) => account.mode === 'live')
    for (const { account } of live) tally.liveAccounts.add(account.id)
    if (live.length > 0 && config.service.kind === 'remote') {
      const wallet = lockWallet(service)
      undo.push(() => wallet.release())
    }

    // The engine and what stands around it.
    const segment: Segment = new Segment({
      ...{ machine, journal, mints, past, route: world.route, observe: world.observe },
      strategies: new Map(config.bots.map(({ strategy }) => [strategy.name, strategy.strategy])),
      want: (keys) => world.feed.want(keys),
      alarm: ({ bot, code, reason }) => log.error({ bot, code, reason }, 'alarm'),
    })
    const { engine, gateway, runner } = segment
    const post = (command: Command): void => runner.post({ kind: 'command', command })
    world.attach(gateway)
    const alarms = new Alarms((alert) => world.alert(alert))
    tally.listen = (time, output) => alarms.take(time, output)

    // Start: money from rows, strategies warmed up, open orders taken up, exits first; then the stream.
    const start = startInput(
      config,
      settings,
      world.plan(),
      codeHash(config.bots.map(({ strategy }) => strategy)),
      past,
      reader,
      world.chain?.proof,
    )
    tally.restore(start.money.positions)
    world.restore(settings, start.money)
    const warmed = segment.begin(start, reader.blocks(mints, start.warm))
    halt = () => post({ name: 'halt' })
    if (isShort) halt()
    log.info({ rows: warmed, positions: start.money.positions.length, orders: start.money.orders.length }, 'recovered')
    segment.resume(start)
    if (live.length > 0) world.chain?.start()
    if (options.record === true) world.feed.want(FIREHOSES)
    const stopFeed = world.feed.start(world.timed(runner))
    undo.push(stopFeed)
    const marks = setInterval(() => {
      for (const { account, mint, highPrice } of engine.takeMarks())
        journal.write({ kind: 'mark', account, mint, highPrice })
    }, MARKS_EVERY_MS)
    undo.push(() => clearInterval(marks))

    const operator = new Operator({
      post,
      tally,
      bots: settings,
      chain: world.chain,
      priceOf: (mint) => world.priceOf(mint),
      health: () => world.health(),
    })
    const handle = (command: ControlCommand): object | Promise<object> => operator.carryOut(command)
    undo.push(await serveControl({ journalPath: path, handle, warn: (message) => log.warn(message) }))
    undo.push(() => runner.stop())
    log.info({ bots: settings.map(({ name, account }) => `${name} (${account.mode})`) }, 'running')
    return {
      bots: settings,
      tally,
      world,
      log,
      startedAt: clock.now(),
      ended: ending.promise,
      handle,
      stop: async () => {
        runner.post({ kind: 'command', command: { name: 'stop' } })
        // Nothing new is decided. What was decided is sent once it is durable, and its answer is waited for.
        undo.splice(undo.indexOf(stopFeed), 1)
        await stopFeed()
        let isDurable = false
        journal.commit(() => {
          isDurable = true
        })
        await world.lastAnswers(LAST_ANSWERS_MS, () => isDurable)
        tally.mute()
        await unwind()
      },
    }
  } catch (error) {
    await unwind()
    throw error instanceof SluiceError ? new SluiceError(shown(error.message), error.exitCode) : error
  }
}
