import type { Millis } from '../../base/units.ts'
import { ByMint } from '../../engine/accounting/by-mint.ts'
import type { Mark } from '../../engine/accounting/position.ts'
import type { Input, Output, StartInput, StoppedBot } from '../../engine/messages.ts'
import type { BotSettings } from '../../engine/settings.ts'
import { Gateway } from '../../orders/gateway.ts'
import type { Log } from '../../runtime/log.ts'
import { type AnySegment, type SegmentParts, takeUp } from '../../runtime/segment.ts'
import { type Death, EngineThread } from './engine-thread.ts'
import type { MemoryLimits } from './memory-guard.ts'
import { ThreadedRunner } from './threaded-runner.ts'
import { Watchdog } from './watchdog.ts'

/** Of all strategies together. */
const MEMORY: MemoryLimits = { heapMb: 384, buffersMb: 256 }
/** So many threads stand ready: one that is lost right after another has one too. Each is made once the engine had time
 *  to settle. */
const SPARES = 2
const SPARE_AFTER_MS = 1_000
const LONGEST_REASON = 300

export interface IsolatedParts extends Omit<SegmentParts, 'strategies' | 'mints'> {
  /** Shown every input once the engine has answered it, in its place between the rows. */
  readonly heard: (input: Input) => void
  /** Where the tape lies. */
  readonly journalPath: string
  readonly memory?: MemoryLimits | undefined
  /** Reads the journal and says what a start begins with that takes it over. */
  readonly startAgain: () => StartInput
  readonly decided: (us: number) => void
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  /** No engine can help any more. */
  readonly failed: (reason: string) => void
}

/** As a `Segment`, with the engine in a thread of its own, which may be lost at any time: gateway, executors and
 *  journal go on meanwhile, and the next engine takes over what the journal holds, as a restart does. The bot that was
 *  the cause only closes what it holds. */
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
  #hadBegun = false
  /** The next engines find out whose the memory is. */
  #inspects = false
  #isOver = false
  #lostAt: number | undefined
  #warmed = Promise.withResolvers<number>()

  constructor(parts: IsolatedParts) {
    const { machine, journal, past, route, want, poll, alarm, observe, heard, decided } = parts
    const { clock, monotonicMs } = machine
    this.#parts = parts
    const post: ThreadedRunner['post'] = (input) => this.runner.post(input)
    this.gateway = new Gateway({ clock, monotonicMs, journal, route, post, nextReport: past.nextReport })
    this.runner = new ThreadedRunner({
      ...{ clock, journal, gateway: this.gateway, want, poll, alarm, observe, heard, decided },
      ...{ firstSeq: past.nextSeq, lastTime: past.lastTime },
    })
  }

  /** Money from rows, then the strategies are shown the past, by the thread itself; how many rows that were. */
  begin(start: StartInput): Promise<number> {
    this.#stopped = new StoppedBots(start.bots)
    this.#bots = start.bots.map(({ name }) => name)
    this.#run(start)
    return this.#warmed.promise
  }

  /** Open orders of these bots are taken up, exits first. */
  resume(start: StartInput): void {
    takeUp(this.gateway, this.#parts.past, start)
  }

  /** Positions whose high-water mark rose since the last call. */
  takeMarks(): readonly Mark[] {
    return this.#marks.take()
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
      log: (bot, text) => this.#parts.log.info({ bot: this.#bots[bot] }, text),
      died: (death) => this.#died(thread, death),
    }
    this.#unwatch = new Watchdog(thread.cells, (bot, ms) =>
      this.#died(thread, { bot, reason: `a handler did not come back within ${ms} ms` }),
    ).start()
    thread.inspects = this.#inspects
    this.runner.begin(thread, { ...start, isolated: true })
  }

  #began(warmed: number): void {
    this.#warmed.resolve(warmed)
    if (this.#lostAt !== undefined) {
      const tookMs = Math.round(performance.now() - this.#lostAt)
      this.#parts.log.warn({ tookMs, rows: warmed }, 'the engine is back')
    }
    this.#lostAt = undefined
    this.#makeSpares()
  }

  /** One after the other. */
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
    clearTimeout(this.#spareTimer) // not while the next one begins
    this.#lostAt ??= performance.now()
    this.#unwatch()
    void thread.end()
    this.runner.lost()
    const reason = death.reason.slice(0, LONGEST_REASON)
    // Whose the memory is shows only where it is counted, by the next engine.
    const isToInspect = death.isFull === true && !this.#inspects
    this.#inspects ||= isToInspect
    const bots = isToInspect ? [] : this.#stopped.died({ ...death, reason }, this.#hadBegun, machine.clock.now())
    if (bots === undefined) {
      this.#parts.failed(`the engine failed again with no strategy in it: ${reason}`)
      return
    }
    const whose = bots.length === 0 ? 'nobody is stopped for it yet' : 'these bots only close what they hold'
    log.error({ bots, reason }, `the engine is lost and starts again from the journal; ${whose}`)
    journal.commit(() => this.#recover())
  }

  #recover(): void {
    if (this.#isOver) return
    try {
      this.#run({ ...this.#parts.startAgain(), stopped: this.#stopped.list() })
    } catch (error) {
      this.#parts.failed(`the engine cannot start again: ${(error as Error).message}`)
    }
  }
}

/** Deaths of which nobody is known to be the cause count for so long. */
const REMEMBERED_MS = 600000

/** Which bots may not go on, by what became of the engines that they were in. */
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

  /** What an engine decided: a bot whose strategy threw does not come back with the next one. */
  heard(outputs: readonly Output[]): void {
    for (const output of outputs)
      if (output.kind === 'bot' && output.money.status === 'exits-only') {
        const { bot } = output.money
        const reason = this.#stopped.get(bot)?.reason ?? 'its strategy threw an error'
        this.#stopped.set(bot, { bot, reason, told: true })
      }
  }

  /** An engine is dead. `hadBegun`: not while strategies were loaded or started. The names of those that are stopped
   *  for it, or undefined where no further engine can help. The first time that nobody is known to be the cause
   *  everybody gets another chance, the second time nobody. */
  died({ bot, reason }: Death, hadBegun: boolean, now: Millis): readonly string[] | undefined {
    const culprit = this.#bots[bot]
    if (culprit !== undefined && !this.#stopped.has(culprit.name)) {
      const isOne = ({ name, strategy }: { name: string; strategy: string }): boolean =>
        name === culprit.name || (!hadBegun && strategy === culprit.strategy)
      return this.#stop(isOne, reason)
    }
    this.#unexplained = [...this.#unexplained.filter((time) => now - time < REMEMBERED_MS), now]
    if (this.#unexplained.length === 1) return []
    const names = this.#stop(() => true, `${reason}; nobody is known to be the cause`)
    return names.length === 0 ? undefined : names
  }

  #stop(which: (bot: Pick<BotSettings, 'name' | 'strategy'>) => boolean, reason: string): string[] {
    const names = this.#bots.filter((bot) => which(bot) && !this.#stopped.has(bot.name)).map(({ name }) => name)
    for (const bot of names) this.#stopped.set(bot, { bot, reason, told: false })
    return names
  }
}

/** Highest prices of positions as an engine in another thread tells them, until they are written: the last of each. One
 *  that comes before its position is closed, and is written after, would be taken for that of the next position in the
 *  same mint. */
export class HighMarks {
  #byPosition = new ByMint<Mark>()

  add(marks: readonly Mark[]): void {
    for (const mark of marks) this.#byPosition.set(mark, mark)
  }

  /** What the engine has decided since. */
  heard(outputs: readonly Output[]): void {
    for (const output of outputs)
      if (output.kind === 'position' && output.position.state === 'closed') this.#byPosition.delete(output.position)
  }

  /** All that are there; they are not there any more. */
  take(): Mark[] {
    const marks = [...this.#byPosition.values()]
    this.#byPosition = new ByMint()
    return marks
  }
}
