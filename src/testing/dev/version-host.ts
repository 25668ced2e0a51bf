import { Worker } from 'node:worker_threads'
import type { Millis } from '../../base/units.ts'
import type { GrowingTape } from './growing-tape.ts'
import type { VersionEvent, VersionReport } from './version-report.ts'
import type { FromVersion, TapeNews, ToVersion } from './version-thread.ts'

/**
 * A version that makes no progress for this time, ms, counts as hanging. A thread reports progress after each block of
 * rows.
 */
const LONGEST_SILENCE_MS = 5_000
/** Longest time for the start of a thread and for the loading of a strategy, ms. */
const LONGEST_START_MS = 30_000

export interface Loaded {
  /** Files of the version: configuration, strategies and their own modules. */
  readonly sources: readonly string[]
  /** Why the version cannot run; '' if it can. */
  readonly problem: string
}

/**
 * A thread that runs one version. It is started before its version exists, because loading Sluice's modules takes
 * longer than loading a strategy.
 */
export class VersionHost {
  readonly #worker = new Worker(new URL('./version-thread.ts', import.meta.url))
  readonly #waiting = new Set<Waiting>()
  readonly #heard: FromVersion[] = []
  #events: VersionEvent[] = []
  #nextPart = 0
  #mints = 0
  #lastBlock = 0
  #failed: Error | undefined

  constructor() {
    this.#worker.on('message', (message: FromVersion) => this.#take(message))
    this.#worker.on('error', (error) => this.#end(error instanceof Error ? error : new Error(String(error))))
    this.#worker.on('exit', () => this.#end(new Error('the thread of this version has ended')))
  }

  /** Loads a strategy or a configuration from its file. Called once. */
  async load(file: string, isSandbox: boolean): Promise<Loaded> {
    await this.#next(['ready'], LONGEST_START_MS)
    this.#say({ kind: 'load', file, isSandbox })
    const answer = await this.#next(['loaded', 'refused'], LONGEST_START_MS)
    if (answer.kind === 'refused') return { sources: answer.sources, problem: answer.message }
    return { sources: answer.kind === 'loaded' ? answer.sources : [], problem: '' }
  }

  /** Begins a run with the parts of the tape from `part` on. Resolves when the first row was handled. */
  async run(tape: GrowingTape, part: number, startsAt: Millis, until: Millis): Promise<void> {
    this.#nextPart = part
    this.#mints = 0
    this.#lastBlock = 0
    this.#events = []
    const news = this.#newsOf(tape, until)
    const feed = tape.feedBefore(part)
    const state = feed === undefined ? [] : [{ kind: 'input', time: startsAt, input: feed } as const]
    this.#say({ kind: 'run', startsAt, news: { ...news, parts: [...state, ...news.parts] } })
    await this.#next(['began'])
  }

  /** Sends the parts of the tape that the run has not received. The run then advances to `until`. */
  follow(tape: GrowingTape, until: Millis): void {
    this.#say({ kind: 'follow', news: this.#newsOf(tape, until) })
  }

  /** Returns the results of the run after all parts of the tape that `run` and `follow` have sent to the thread. */
  async report(): Promise<VersionReport> {
    this.#say({ kind: 'report' })
    const answer = await this.#next(['report'])
    if (answer.kind !== 'report') throw new Error('expected a report')
    this.#events = [...this.#events, ...answer.report.events]
    return { ...answer.report, events: this.#events }
  }

  end(): void {
    void this.#worker.terminate()
  }

  #newsOf(tape: GrowingTape, until: Millis): TapeNews {
    const parts = tape.parts(this.#nextPart)
    const mints = tape.mints.list.slice(this.#mints)
    const numbers = new Set(parts.flatMap((part) => (part.kind === 'rows' ? part.block : [])))
    const blocks = [...numbers].filter((number) => number > this.#lastBlock).map((number) => tape.memoryOf(number))
    this.#nextPart = tape.end
    this.#mints += mints.length
    this.#lastBlock = Math.max(this.#lastBlock, ...numbers)
    return { mints, blocks, parts, until }
  }

  #say(message: ToVersion): void {
    this.#worker.postMessage(message)
  }

  /** Waits for the next message of one of these kinds. Rejects if the thread fails or does not answer. */
  #next(kinds: readonly FromVersion['kind'][], limitMs = LONGEST_SILENCE_MS): Promise<FromVersion> {
    const { promise, resolve, reject } = Promise.withResolvers<FromVersion>()
    const limit = setTimeout(() => {
      this.#end(new Error(`the strategy did not return within ${limitMs / 1000} s`))
      this.end()
    }, limitMs)
    const waiting: Waiting = {
      ...{ kinds, limit },
      settle: (message) => {
        this.#waiting.delete(waiting)
        clearTimeout(limit)
        if (message instanceof Error) reject(message)
        else resolve(message)
      },
    }
    const heard = this.#heard.findIndex(({ kind }) => kinds.includes(kind))
    this.#waiting.add(waiting)
    if (heard >= 0) waiting.settle(this.#heard.splice(heard, 1)[0] as FromVersion)
    else if (this.#failed !== undefined) waiting.settle(this.#failed)
    return promise
  }

  #take(message: FromVersion): void {
    for (const { limit } of this.#waiting) limit.refresh()
    if (message.kind === 'progress') return
    const waiting = [...this.#waiting].find(({ kinds }) => kinds.includes(message.kind))
    if (waiting === undefined) this.#heard.push(message)
    else waiting.settle(message)
  }

  #end(error: Error): void {
    this.#failed ??= error
    for (const waiting of [...this.#waiting]) waiting.settle(this.#failed)
  }
}

interface Waiting {
  readonly kinds: readonly FromVersion['kind'][]
  readonly limit: NodeJS.Timeout
  readonly settle: (message: FromVersion | Error) => void
}
