import { resolve } from 'node:path/posix'
import type { Millis } from '../../base/units.ts'
import { codeFrame } from './code-frame.ts'
import type { DevSource } from './dev-source.ts'
import { GrowingTape } from './growing-tape.ts'
import { SourceWatch } from './source-watch.ts'
import { VersionHost } from './version-host.ts'
import { type Comparison, compareReports, type VersionReport } from './version-report.ts'

const TICK_MS = 100
const REPORT_EVERY_MS = 500
/** Maximum number of market rows on which two versions are compared. */
const MOST_ROWS = 200_000

/** The running version of the strategy, with its results. */
export interface ShownVersion {
  readonly number: number
  /** Time from the save to the first event that the new code handled, ms; undefined for the first version. */
  readonly firstEventMs: number | undefined
  readonly report: VersionReport
}

/** A version that could not be loaded or run, so that the previous one continues. */
export interface FailedVersion {
  readonly number: number
  readonly message: string
  /** Lines of code around the place of the error. */
  readonly frame: readonly string[]
}

export interface DevState {
  readonly title: string
  /** Present time of the played market. */
  readonly head: Millis
  readonly stretchFrom: Millis
  readonly version: ShownVersion | undefined
  readonly comparison: Comparison | undefined
  readonly failed: FailedVersion | undefined
}

export type DevChange = 'began' | 'failed' | 'compared' | 'report'

export interface DevOptions {
  readonly file: string
  readonly source: DevSource
  readonly isSandbox: boolean
  /** Market seconds per second; Infinity: as fast as possible. */
  readonly speed: number
  /** When a new version of the strategy starts, it replays the last `windowSeconds` seconds of the market. */
  readonly windowSeconds: number
  readonly changed: (change: DevChange, state: DevState) => void
}

interface RunningVersion {
  readonly number: number
  readonly host: VersionHost
}

/**
 * Runs the newest version of a strategy on a tape that grows. After each save, the new version replays the last part of
 * the tape. Its decisions are compared with those of the previous version over the same rows. The new version then
 * replaces the previous one.
 */
export class DevSession {
  readonly #options: DevOptions
  readonly #tape = new GrowingTape()
  readonly #watch: SourceWatch
  readonly #startedAt = performance.now()
  #spare: VersionHost | undefined = new VersionHost()
  #isStopped = false
  #current: RunningVersion | undefined
  /** The last state of the current version that was shown. */
  #shown: ShownVersion | undefined
  #candidate: VersionHost | undefined
  #stretch = { part: 0, from: 0 }
  #numbers = 0
  #savedAt: number | undefined
  #isLoading = false
  #reportedAt = 0
  #tick: NodeJS.Timeout | undefined
  #head: Millis
  #state: DevState

  constructor(options: DevOptions) {
    const { source, file } = options
    this.#options = options
    this.#head = source.startsAt
    this.#state = {
      ...{ title: source.title, head: source.startsAt, stretchFrom: source.startsAt },
      ...{ version: undefined, comparison: undefined, failed: undefined },
    }
    this.#watch = new SourceWatch(() => this.#saved())
    this.#watch.set([resolve(file)])
  }

  async start(): Promise<void> {
    this.#advance()
    this.#stretch = { part: 0, from: this.#options.source.startsAt }
    this.#tick = setInterval(() => this.#step(), TICK_MS)
    await this.#load()
  }

  stop(): void {
    this.#isStopped = true
    clearInterval(this.#tick)
    this.#watch.close()
    for (const host of [this.#spare, this.#candidate, this.#current?.host]) host?.end()
    this.#options.source.close()
  }

  #saved(): void {
    this.#savedAt ??= performance.now()
    if (!this.#isLoading) void this.#load()
  }

  /**
   * Loads the files as a new version. Files that are saved during the loading form the next version, however many saves
   * there are.
   */
  async #load(): Promise<void> {
    this.#isLoading = true
    const savedAt = this.#savedAt
    this.#savedAt = undefined
    const host = this.#spare ?? new VersionHost()
    this.#spare = undefined
    const number = ++this.#numbers
    try {
      await this.#replace(number, host, savedAt)
    } catch (error) {
      this.#fail(number, host, (error as Error).message)
    }
    this.#candidate = undefined
    // The thread for the next version starts only after this version was shown. The start of a thread would delay this
    // version.
    if (!this.#isStopped) this.#spare = new VersionHost()
    this.#isLoading = false
    if (this.#savedAt !== undefined && !this.#isStopped) void this.#load()
  }

  async #replace(number: number, host: VersionHost, savedAt: number | undefined): Promise<void> {
    const { file, isSandbox } = this.#options
    const { sources, problem } = await host.load(file, isSandbox)
    this.#watch.set([...new Set([resolve(file), ...sources])])
    if (problem !== '') throw new Error(problem)
    const before = this.#current
    const isMoved = this.#moveStretch()
    const { part, from } = this.#stretch
    const beganBefore = isMoved ? before?.host.run(this.#tape, part, from, this.#head) : undefined
    const began = host.run(this.#tape, part, from, this.#head)
    // The reports of the new and the old version are requested at the same time, so they cover the same rows.
    const reports = [host.report(), before?.host.report()] as const
    this.#candidate = host
    await began
    const firstEventMs = savedAt === undefined ? undefined : performance.now() - savedAt
    this.#show('began', { version: { number, firstEventMs, report: NO_REPORT } })
    await beganBefore
    const [now, old] = await Promise.all(reports)
    if (now.ended !== '') throw new Error(now.ended)
    before?.host.end()
    this.#current = { number, host }
    const comparison = old && compareReports(old, now)
    this.#shown = { number, firstEventMs, report: now }
    this.#show('compared', { version: this.#shown, comparison, failed: undefined })
  }

  #fail(number: number, host: VersionHost, message: string): void {
    host.end()
    if (this.#isStopped) return
    const version = this.#current === undefined ? undefined : this.#shown
    this.#show('failed', { version, failed: { number, message, frame: codeFrame(message) } })
  }

  /** If the replayed part of the tape has become too long, drops its beginning and returns true. */
  #moveStretch(): boolean {
    if (!this.#isTooLong(this.#stretch.from)) return false
    const part = this.#tape.partAt(this.#head - this.#options.windowSeconds * 1000)
    this.#stretch = { part, from: this.#tape.startOf(part) ?? this.#head }
    this.#tape.dropBefore(part)
    return true
  }

  #step(): void {
    this.#advance()
    this.#current?.host.follow(this.#tape, this.#head)
    this.#candidate?.follow(this.#tape, this.#head)
    const now = performance.now()
    if (this.#isLoading || now - this.#reportedAt < REPORT_EVERY_MS) return
    this.#reportedAt = now
    void this.#reportCurrent()
  }

  async #reportCurrent(): Promise<void> {
    const current = this.#current
    if (current === undefined) return
    this.#isLoading = true
    try {
      const report = await current.host.report()
      const version = { ...(this.#shown as ShownVersion), report }
      const { ended } = report
      const wasEnded = this.#shown?.report.ended !== ''
      this.#shown = version
      if (ended === '' || wasEnded) this.#show('report', { version })
      else
        this.#show('failed', { version, failed: { number: current.number, message: ended, frame: codeFrame(ended) } })
    } catch (error) {
      this.#current = undefined
      this.#fail(current.number, current.host, (error as Error).message)
    }
    this.#isLoading = false
    if (this.#savedAt !== undefined && !this.#isStopped) void this.#load()
  }

  #advance(): void {
    const { source, speed, windowSeconds, isSandbox } = this.#options
    const past = isSandbox ? windowSeconds * 1000 : 0
    const elapsed = Math.floor(Math.max(1, performance.now() - this.#startedAt) * speed)
    this.#head = source.advance(this.#tape, source.startsAt + past + elapsed, MOST_ROWS)
    const { startsAt = this.#head } = this.#tape
    if (this.#isTooLong(startsAt)) this.#tape.dropBefore(this.#tape.partAt(this.#head - windowSeconds * 1000))
  }

  #isTooLong(from: Millis): boolean {
    const { speed, windowSeconds } = this.#options
    return speed !== Number.POSITIVE_INFINITY && this.#head - from > 2 * windowSeconds * 1000
  }

  #show(change: DevChange, changes: Partial<DevState>): void {
    this.#state = { ...this.#state, ...changes, head: this.#head, stretchFrom: this.#stretch.from }
    this.#options.changed(change, this.#state)
  }
}

const NO_REPORT: VersionReport = {
  ...{ rows: 0, orders: 0, fills: 0, refused: 0, positions: 0, netSol: 0, events: [], ended: '' },
}
