import { ExitCode, SluiceError } from '../../base/errors.ts'
import { counted } from '../../base/text.ts'
import type { Config } from '../../config/config.ts'
import { type Counters, openReader } from '../../journal/reader/reader.ts'
import { type BotsOptions, type Ending, type RunningBots, startBots } from '../../live/start-bots.ts'
import { netText } from '../../runtime/view/bot-results.ts'
import type { DeskOfRun } from '../desk/desk-of-run.ts'
import { signedShortSol } from '../terminal.ts'
import { liveTable, Screen, stopName } from './status-table.ts'

const PLAIN_EVERY_MS = 5_000

export interface WatchOptions extends Pick<BotsOptions, 'allow' | 'record' | 'isolate' | 'logLevel'> {
  /** Speed of the sandbox's market; undefined for real time. */
  readonly speed?: number | undefined
  readonly title: string
  /** Seconds after which the bots are stopped; undefined for no end. */
  readonly seconds?: number | undefined
  /** Whether stdout receives only JSON. */
  readonly json?: boolean | undefined
  /** Whether the page in the browser is served. */
  readonly desk?: boolean
}

/** Runs bots until Ctrl-C, until they end by themselves, or until the given time has passed. Shows a live table on a
 *  terminal and plain lines elsewhere. Returns the journal's counters and the exit code. */
export async function runBots(
  config: Config,
  options: WatchOptions,
): Promise<{ counters: Counters; exitCode: number }> {
  if (options.speed !== undefined && config.service.kind !== 'sandbox')
    throw new SluiceError('--speed needs `service: sandbox`: the speed of a real market cannot be set', ExitCode.usage)
  const desk = options.desk === true ? await deskOf(config) : undefined
  const onTerminal = process.stdout.isTTY === true && process.env.TERM !== 'dumb' && options.json !== true
  let running: RunningBots | undefined
  const rate = new Rate()
  const screen = new Screen((columns) =>
    running === undefined
      ? ['starting']
      : withDesk(desk, columns, liveTable(running.view(), rate.of(running.model.rows), columns)),
  )
  const interrupted = untilInterrupted()
  try {
    running = await startBots(config, {
      ...{ title: options.title, allow: options.allow },
      record: options.record === true,
      isolate: options.isolate === true,
      logFormat: process.stderr.isTTY === true || onTerminal ? 'text' : 'json',
      ...(options.logLevel !== undefined && { logLevel: options.logLevel }),
      ...(options.speed !== undefined && { speed: options.speed }),
      ...(onTerminal && { writeLog: screen.log }),
      deskLink: desk?.link,
    })
    if (config.metrics !== undefined && desk === undefined)
      running.log.warn('there are no metrics, because --no-desk is given and the desk serves them')
    const opened = desk?.open(running)
    if (!onTerminal && process.stdout.isTTY === true && options.json !== true)
      void opened?.then(() => console.log(desk?.line(Number.POSITIVE_INFINITY)))
    if (onTerminal) screen.start()
    const plain =
      onTerminal || options.json === true
        ? undefined
        : setInterval(() => console.log(plainLine(running as RunningBots)), PLAIN_EVERY_MS)
    const cause = await Promise.race([running.ended, interrupted.promise, after(options.seconds)])
    clearInterval(plain)
    await desk?.close()
    await running.stop()
    // Reads only now why the run ended: the journal may have failed during the stop, at its last commit, and then
    // `running.ended` takes precedence.
    const ending = await Promise.race([running.ended, cause])
    screen.stop()
    if (ending.message !== '') console.error(`sluice: ${ending.message}`)
    return { counters: countersOf(config.journal.path), exitCode: ending.exitCode }
  } finally {
    screen.stop()
    interrupted.release()
    await desk?.close()
  }
}

/** Loads the modules of the desk, which a run without a desk does not need. Throws a SluiceError if the configuration
 *  of the desk is unsafe. */
async function deskOf(config: Config): Promise<DeskOfRun> {
  const { DeskOfRun } = await import('../desk/desk-of-run.ts')
  return new DeskOfRun(config)
}

/** Adds the line with the desk's address below the title. */
function withDesk(desk: DeskOfRun | undefined, columns: number, [title = '', ...lines]: string[]): string[] {
  return desk === undefined ? [title, ...lines] : [title, desk.line(columns), ...lines]
}

function plainLine(running: RunningBots): string {
  const { feed, stops, bots, rows, orders, fills, positions } = running.view()
  const held = positions.filter(({ tokens }) => tokens > 0).length
  const counts = [
    counted(rows, 'row'),
    counted(orders, 'order'),
    counted(fills, 'fill'),
    counted(held, 'position'),
  ].join(', ')
  const net = bots.length === 0 ? [] : [`net ${netText(bots, signedShortSol)} since this start`]
  return [`feed ${feed}`, ...stops.map((stop) => stopName(stop, bots)), counts, ...net].join(', ')
}

function countersOf(path: string): Counters {
  const reader = openReader(path)
  try {
    return reader.counters()
  } finally {
    reader.close()
  }
}

/** Waits for Ctrl-C or SIGTERM. The first signal resolves the promise, for a clean shutdown. The second signal ends the
 *  process immediately. */
export function untilInterrupted(): { promise: Promise<Ending>; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<Ending>()
  let interrupts = 0
  const interrupt = (): void => {
    if (++interrupts > 1) process.exit(ExitCode.interrupted)
    resolve({ exitCode: ExitCode.done, message: '' })
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  return {
    promise,
    release: () => {
      process.off('SIGINT', interrupt)
      process.off('SIGTERM', interrupt)
    },
  }
}

async function after(seconds: number | undefined): Promise<Ending> {
  await new Promise((resolve) => {
    // With unref, this timer does not keep the process alive if the process ends earlier for another reason.
    if (seconds !== undefined) setTimeout(resolve, seconds * 1000).unref()
  })
  return { exitCode: ExitCode.done, message: '' }
}

/** Measures the rows per second over about one second. */
class Rate {
  #rows = 0
  #at = 0
  #rate = 0

  of(rows: number): number {
    const now = performance.now()
    if (now - this.#at < 900) return this.#rate
    if (this.#at > 0) this.#rate = (rows - this.#rows) / ((now - this.#at) / 1000)
    this.#rows = rows
    this.#at = now
    return this.#rate
  }
}
