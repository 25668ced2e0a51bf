import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { errorOf, type Failed } from '../../base/errors.ts'
import type { Market } from '../../journal/tape/market-tape.ts'
import type { TapeChunk } from '../../journal/tape/shared-tape.ts'
import { DecodedTape } from '../../journal/tape/shared-tape.ts'
import type { SweepGround } from './run-sets.ts'
import type { SetResult, SweepSet } from './sweep.ts'

/** The tape of a sweep. `paths`: the journals that contain it. */
export interface SweptTape {
  readonly paths: readonly string[]
  readonly market: Market
  /** See `DecodedTape`. */
  readonly mostKept?: number
}

/** Start parameters of a thread. */
export interface SweepThreadStart extends Pick<Market, 'stretches' | 'rows'> {
  readonly files: readonly string[]
  readonly hash: string
  readonly bot: string
  readonly splitRow: number | undefined
  readonly journals: readonly string[]
  readonly port: MessagePort
  /** A number that increases when the thread must read messages. */
  readonly bell: Int32Array
}

/** Messages to a thread: the param sets of the next pass, then the chunks of the tape. The last message of a pass
 *  has no chunk. */
export type ToSweepThread =
  | { readonly kind: 'sets'; readonly sets: readonly SweepSet[] }
  | { readonly kind: 'chunk'; readonly chunk?: TapeChunk }

export type FromSweepThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly results: readonly SetResult[] }
  | Failed

/** Number of chunks of the tape that are queued for each thread: enough that the thread never waits for the disk, and
 *  few enough to need little memory. */
const AHEAD = 3

/** Threads that each run some param sets, pass after pass over the tape. The main thread reads and decodes the tape
 *  once for all of them, in shared memory. The threads are started once, because starting a thread takes longer than
 *  playing a short tape. */
export class SweepThreads {
  readonly #threads: readonly SweepThread[]
  readonly #tape: DecodedTape

  constructor({ config, bot, splitRow }: SweepGround, { paths, market, mostKept }: SweptTape, count: number) {
    const { stretches, rows } = market
    const { files, hash } = config
    const start = { files, hash, bot: bot.name, splitRow, journals: paths, stretches, rows }
    this.#tape = new DecodedTape(market, mostKept)
    this.#threads = Array.from({ length: count }, () => new SweepThread(start))
  }

  /** Runs each part of the param sets with `runSets` in a thread of its own. There may be at most as many parts as
   *  threads. Throws the SluiceError of a thread. */
  async run(parts: readonly (readonly SweepSet[])[], progress: (rows: number) => void): Promise<SetResult[]> {
    const threads = this.#threads.slice(0, parts.length)
    const results = threads.map((thread, index) => thread.begin(parts[index] as readonly SweepSet[]))
    let done = 0
    for (const chunk of this.#tape.chunks()) {
      await Promise.all(threads.map((thread) => thread.give({ kind: 'chunk', chunk })))
      done += chunk.rows
      progress(done)
    }
    await Promise.all(threads.map((thread) => thread.give({ kind: 'chunk' })))
    return (await Promise.all(results)).flat()
  }

  /** Terminates the threads. */
  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()))
  }
}

class SweepThread {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #bell = new Int32Array(new SharedArrayBuffer(4))
  /** Results of the current pass. */
  #results = Promise.withResolvers<readonly SetResult[]>()
  /** Number of chunks that may be sent before the thread requests the next one. */
  #free = AHEAD - 1
  #mayGive: (() => void) | undefined

  constructor(start: Omit<SweepThreadStart, 'port' | 'bell'>) {
    const { port1, port2 } = new MessageChannel()
    const workerData: SweepThreadStart = { ...start, port: port2, bell: this.#bell }
    this.#port = port1
    this.#watch()
    port1.on('message', (message: FromSweepThread) => {
      if (message.kind === 'done') this.#results.resolve(message.results)
      else if (message.kind === 'failed') this.#results.reject(errorOf(message))
      else {
        this.#free++
        this.#mayGive?.()
      }
    })
    this.#worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData, transferList: [port2] })
    this.#worker.on('error', (error) => this.#results.reject(error))
    // The port closes after all messages of the thread have arrived, so a thread that ends without results is an error.
    port1.on('close', () => this.#results.reject(new Error('a sweep thread exited early')))
  }

  /** Begins the next pass; its chunks follow. If the thread has failed before, this pass fails too. */
  begin(sets: readonly SweepSet[]): Promise<readonly SetResult[]> {
    const before = this.#results
    this.#results = Promise.withResolvers()
    before.promise.catch(this.#results.reject)
    this.#watch()
    this.#tell({ kind: 'sets', sets })
    return this.#results.promise
  }

  /** Sends a message when the thread has room for it. Throws the error of the thread. */
  async give(message: ToSweepThread): Promise<void> {
    const turn = Promise.withResolvers<void>()
    this.#mayGive = turn.resolve
    if (this.#free === 0) await Promise.race([turn.promise, this.#results.promise])
    if (this.#free === 0) await this.#results.promise
    this.#free--
    this.#tell(message)
  }

  async end(): Promise<void> {
    this.#port.close()
    await this.#worker.terminate()
  }

  #tell(message: ToSweepThread): void {
    this.#port.postMessage(message)
    Atomics.add(this.#bell, 0, 1)
    Atomics.notify(this.#bell, 0)
  }

  /** Wakes `give` if it waits while the thread fails. The error itself is reported where the results are awaited. */
  #watch(): void {
    this.#results.promise.catch(() => this.#mayGive?.())
  }
}
