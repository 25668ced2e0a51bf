import type { Millis } from '../../base/units.ts'
import { ByMint, type Owner } from '../../engine/accounting/by-mint.ts'
import type { Mark } from '../../engine/accounting/position.ts'
import type { OwnedReading, PositionReading } from '../../engine/exits/exit-levels.ts'
import type { Input, Output, StartInput, StoppedBot } from '../../engine/messages.ts'
import type { BotSettings } from '../../engine/settings.ts'
import { Gateway } from '../../orders/gateway.ts'
import type { Log } from '../../runtime/log.ts'
import { type AnySegment, type SegmentParts, takeUp } from '../../runtime/segment.ts'
import { type Death, EngineThread } from './engine-thread.ts'
import type { MemoryLimits } from './memory-guard.ts'
import { ThreadedRunner } from './threaded-runner.ts'
import { Watchdog } from './watchdog.ts'

/** Memory limits that apply to all strategies together. */
const MEMORY: MemoryLimits = { heapMb: 384, buffersMb: 256 }
/** Number of spare threads. With two spares, a thread is ready even if two engines are lost shortly after each other.
 *  The spares are created once the engine has run for a second, so that they do not delay its start. */
const SPARES = 2
const SPARE_AFTER_MS = 1_000
const LONGEST_REASON = 300

export interface IsolatedParts extends Omit<SegmentParts, 'strategies' | 'mints'> {
  /** Called with every input after the engine has answered it. The calls have the order in which the engine received
   *  the inputs. */
  readonly heard: (input: Input) => void
  /** Path of the journal, which also contains the recorded market rows (the tape). */
  readonly journalPath: string
  readonly memory?: MemoryLimits | undefined
  /** Reads the journal and returns the input that starts an engine from the recovered state. */
  readonly startAgain: () => StartInput
  readonly decided: (us: number) => void
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  /** Called with the reason when the engine was lost and no new one can be started. */
  readonly failed: (reason: string) => void
}

/** A `Segment` whose engine runs in its own thread and may be lost at any time. Gateway, executors and journal continue
 *  without the engine, and the next engine recovers from the journal as after a restart. The bot that caused the loss
 *  may then only close positions. */
export class IsolatedSegment implements AnySegment {
  readonly gateway: Gateway
  readonly runner: ThreadedRunner
  readonly #parts: IsolatedParts
  #stopped = new StoppedBots([])
  #bots: readonly string[] = []
  #thread: EngineThread | undefined
  readonly #spares: EngineThread[] = []
  #spareTimer: NodeJS.Timeout | undefined
  #unwatch: () => void = () => {}
  readonly #marks = new HighMarks()
  /** Prices and values of the positions, as the engine reported them last. */
  #readings = new ByMint<OwnedReading>()
  #hadBegun = false
  /** Whether the next engines measure the memory of each bot. */
  #inspects = false
  #isOver = false
  #lostAt: number | undefined
  #warmed = Promise.withResolvers<number>()

  constructor(parts: IsolatedParts) {
    const { machine, journal, past, route, want, poll, alarm, said, observe, heard, decided } = parts
    const { clock, monotonicMs } = machine
    this.#parts = parts
    const post: ThreadedRunner['post'] = (input) => this.runner.post(input)
    this.gateway = new Gateway({ clock, monotonicMs, journal, route, post, nextReport: past.nextReport })
    this.runner = new ThreadedRunner({
      ...{ clock, journal, gateway: this.gateway, want, poll, alarm, said, observe, heard, decided },
      ...{ firstSeq: past.nextSeq, lastTime: past.lastTime },
    })
  }

  /** Starts the first engine with the recovered state. The engine's thread itself reads the market rows that warm the
   *  strategies up. Returns the number of these rows. */
  begin(start: StartInput): Promise<number> {
    this.#stopped = new StoppedBots(start.bots)
    this.#bots = start.bots.map(({ name }) => name)
    this.#run(start)
    return this.#warmed.promise
  }

  /** Resumes the open orders of the bots in `start`, exits first. */
  resume(start: StartInput): void {
    takeUp(this.gateway, this.#parts.past, start)
  }

  /** Returns the positions whose high-water mark (highest price) has risen since the last call. */
  takeMarks(): readonly Mark[] {
    return this.#marks.take()
  }

  readingOf(owner: Owner): PositionReading | undefined {
    return this.#readings.get(owner)
  }

  get isIdle(): boolean {
    return this.runner.isIdle
  }

  get lagMs(): number {
    return this.runner.lagMs
  }

  get rowsHandled(): number {
    return this.runner.rowsHandled
  }

  async close(): Promise<void> {
    this.#isOver = true
    this.#unwatch()
    clearTimeout(this.#spareTimer)
    this.runner.stop()
    await Promise.all([this.#thread, ...this.#spares].map((thread) => thread?.end()))
  }

  #run(start: StartInput): void {
    const thread = this.#spares.shift() ?? this.#newThread()
    this.#thread = thread
    this.#hadBegun = false
    thread.on = {
      begun: (outputs, warmed) => {
        this.#hadBegun = true
        this.#stopped.heard(outputs)
        this.#marks.heard(outputs)
        this.runner.begun(thread, outputs)
        this.#began(warmed)
      },
      did: (next, outputs) => {
        this.#stopped.heard(outputs)
        this.#marks.heard(outputs)
        this.runner.did(next, outputs)
      },
      marks: (marks) => this.#marks.add(marks),
      readings: (readings) => {
        this.#readings = new ByMint()
        for (const reading of readings) this.#readings.set(reading, reading)
      },
      log: (bot, text) => this.#parts.log.info({ bot: this.#bots[bot] }, text),
      died: (death) => this.#died(thread, death),
    }
    this.#unwatch = new Watchdog(thread.cells, (bot, ms) =>
      this.#died(thread, { bot, reason: `a handler did not return within ${ms} ms` }),
    ).start()
    thread.inspects = this.#inspects
    this.runner.begin(thread, { ...start, isolated: true })
  }

  #began(warmed: number): void {
    this.#warmed.resolve(warmed)
    if (this.#lostAt !== undefined) {
      const tookMs = Math.round(performance.now() - this.#lostAt)
      this.#parts.log.warn({ tookMs, rows: warmed }, 'the engine runs again')
    }
    this.#lostAt = undefined
    this.#makeSpares()
  }

  /** Creates the spare threads, one at a time. */
  #makeSpares(): void {
    clearTimeout(this.#spareTimer)
    if (this.#spares.length === SPARES) return
    this.#spareTimer = setTimeout(() => {
      this.#spares.push(this.#newThread())
      this.#makeSpares()
    }, SPARE_AFTER_MS).unref()
  }

  #newThread(): EngineThread {
    const { journalPath, memory = MEMORY } = this.#parts
    return new EngineThread(new URL('./engine-worker.ts', import.meta.url), journalPath, memory)
  }

  #died(thread: EngineThread, death: Death): void {
    if (thread !== this.#thread || this.#isOver) return
    const { log, journal, machine } = this.#parts
    this.#thread = undefined
    clearTimeout(this.#spareTimer) // no spare is created while the next engine begins
    this.#lostAt ??= performance.now()
    this.#unwatch()
    void thread.end()
    this.runner.lost()
    const reason = death.reason.slice(0, LONGEST_REASON)
    // Only an engine that measures the memory of each bot can identify the cause, so the next engine measures it.
    const isToInspect = death.isFull === true && !this.#inspects
    this.#inspects ||= isToInspect
    const bots = isToInspect ? [] : this.#stopped.died({ ...death, reason }, this.#hadBegun, machine.clock.now())
    if (bots === undefined) {
      this.#parts.failed(`the engine failed again although no strategy was running: ${reason}`)
      return
    }
    const whose = bots.length === 0 ? 'all bots continue' : 'these bots only close positions from now on'
    log.error({ bots, reason }, `the engine was lost and restarts from the journal; ${whose}`)
    journal.commit(() => this.#recover())
  }

  #recover(): void {
    if (this.#isOver) return
    try {
      this.#run({ ...this.#parts.startAgain(), stopped: this.#stopped.list() })
    } catch (error) {
      this.#parts.failed(`the engine cannot restart: ${(error as Error).message}`)
    }
  }
}

/** Time for which a loss without a known cause is remembered. */
const REMEMBERED_MS = 600000

/** Decides which bots may not continue after an engine was lost. */
export class StoppedBots {
  readonly #bots: readonly Pick<BotSettings, 'name' | 'strategy'>[]
  readonly #stopped = new Map<string, StoppedBot>()
  #unexplained: Millis[] = []

  constructor(bots: readonly Pick<BotSettings, 'name' | 'strategy'>[]) {
    this.#bots = bots
  }

  list(): readonly StoppedBot[] {
    return [...this.#stopped.values()]
  }

  /** Reads the outputs of an engine, so that a bot whose strategy threw remains stopped in the next engine. */
  heard(outputs: readonly Output[]): void {
    for (const output of outputs)
      if (output.kind === 'bot' && output.money.status === 'exits-only') {
        const { bot } = output.money
        const reason = this.#stopped.get(bot)?.reason ?? 'its strategy threw an error'
        this.#stopped.set(bot, { bot, reason, told: true })
      }
  }

  /** Handles the loss of an engine. `hadBegun` is false if the strategies were still being loaded or started. Returns
   *  the names of the bots that are stopped because of the loss; undefined if a new engine would fail in the same way.
   *  After the first loss without a known cause, all bots continue; after a second one within ten minutes, no bot
   *  continues. */
  died({ bot, reason }: Death, hadBegun: boolean, now: Millis): readonly string[] | undefined {
    const culprit = this.#bots[bot]
    if (culprit !== undefined && !this.#stopped.has(culprit.name)) {
      const isOne = ({ name, strategy }: { name: string; strategy: string }): boolean =>
        name === culprit.name || (!hadBegun && strategy === culprit.strategy)
      return this.#stop(isOne, reason)
    }
    this.#unexplained = [...this.#unexplained.filter((time) => now - time < REMEMBERED_MS), now]
    if (this.#unexplained.length === 1) return []
    const names = this.#stop(() => true, `${reason}; the cause is unknown`)
    return names.length === 0 ? undefined : names
  }

  #stop(which: (bot: Pick<BotSettings, 'name' | 'strategy'>) => boolean, reason: string): string[] {
    const names = this.#bots.filter((bot) => which(bot) && !this.#stopped.has(bot.name)).map(({ name }) => name)
    for (const bot of names) this.#stopped.set(bot, { bot, reason, told: false })
    return names
  }
}

/** Collects the high-water marks (highest prices) of open positions from an engine in another thread. Keeps for each
 *  position only the last mark, until it is written to the journal. When a position closes, its mark is dropped.
 *  Otherwise it could be written later and would apply to the next position in the same mint. */
export class HighMarks {
  #byPosition = new ByMint<Mark>()

  add(marks: readonly Mark[]): void {
    for (const mark of marks) this.#byPosition.set(mark, mark)
  }

  /** Reads the engine's outputs since the last call. */
  heard(outputs: readonly Output[]): void {
    for (const output of outputs)
      if (output.kind === 'position' && output.position.state === 'closed') this.#byPosition.delete(output.position)
  }

  /** Returns all high-water marks and removes them. */
  take(): Mark[] {
    const marks = [...this.#byPosition.values()]
    this.#byPosition = new ByMint()
    return marks
  }
}
