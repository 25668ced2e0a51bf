import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { SetResult, SweepSet } from './backtest/set-result.ts'
import { type ExitCode, SluiceError } from './core/errors.ts'
import type { Market } from './journal/reader.ts'
import { chunksOf, type TapeChunk } from './journal/shared-tape.ts'
import type { SweepGround } from './sweep-run.ts'

/** What a thread is started with. */
export interface SweepThreadStart extends Pick<Market, 'stretches' | 'rows'> {
  readonly files: readonly string[]
  readonly hash: string
  readonly bot: string
  readonly sets: readonly SweepSet[]
  readonly splitRow: number | undefined
  readonly journals: readonly string[]
  readonly port: MessagePort
  /** Counted up when a message has to be looked at. */
  readonly bell: Int32Array
}

/** Without a chunk: there are no more. */
export interface ToSweepThread {
  readonly chunk?: TapeChunk
}

export type FromSweepThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly results: readonly SetResult[] }
  | { readonly kind: 'failed'; readonly message: string; readonly exitCode: ExitCode | null }

/** Chunks that a thread may have before it: so that it never waits for the disk, and the memory stays small. */
const AHEAD = 3

/** As `runSets`, each part of the sets in a thread of its own. The tape is read and decoded once, here, and lies in memory that all threads
 *  see. Throws SluiceError as a thread does; then the others are ended too. */
export async function runInThreads(
  { config, bot, splitRow }: SweepGround,
  parts: readonly (readonly SweepSet[])[],
  { paths, market }: { readonly paths: readonly string[]; readonly market: Market },
  progress: (rows: number) => void,
): Promise<SetResult[]> {
  const { stretches, rows } = market
  const { files, hash } = config
  const start = { files, hash, bot: bot.name, splitRow, journals: paths, stretches, rows }
  const threads = parts.map((sets) => new SweepThread({ ...start, sets }))
  try {
    let done = 0
    for (const chunk of chunksOf(market)) {
      await Promise.all(threads.map((thread) => thread.give({ chunk })))
      done += chunk.rows
      progress(done)
    }
    await Promise.all(threads.map((thread) => thread.give({})))
    return (await Promise.all(threads.map((thread) => thread.results))).flat()
  } finally {
    await Promise.all(threads.map((thread) => thread.end()))
  }
}

class SweepThread {
  readonly results: Promise<readonly SetResult[]>
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #bell = new Int32Array(new SharedArrayBuffer(4))
  /** Chunks that it may still be given. */
  #free = AHEAD - 1
  #mayGive: (() => void) | undefined

  constructor(start: Omit<SweepThreadStart, 'port' | 'bell'>) {
    const { port1, port2 } = new MessageChannel()
    const { promise, resolve, reject } = Promise.withResolvers<readonly SetResult[]>()
    const workerData: SweepThreadStart = { ...start, port: port2, bell: this.#bell }
    this.results = promise
    promise.catch(() => this.#mayGive?.()) // told where the results are waited for
    this.#port = port1
    port1.on('message', (message: FromSweepThread) => {
      if (message.kind === 'done') resolve(message.results)
      else if (message.kind === 'failed') reject(errorOf(message))
      else {
        this.#free++
        this.#mayGive?.()
      }
    })
    this.#worker = new Worker(new URL('./sweep-thread.ts', import.meta.url), { workerData, transferList: [port2] })
    this.#worker.on('error', reject)
    // After everything that it said before.
    port1.on('close', () => reject(new Error('a thread of the sweep ended before its time')))
  }

  /** Throws what the thread failed with. */
  async give(message: ToSweepThread): Promise<void> {
    const turn = Promise.withResolvers<void>()
    this.#mayGive = turn.resolve
    if (this.#free === 0) await Promise.race([turn.promise, this.results])
    if (this.#free === 0) await this.results
    this.#free--
    this.#port.postMessage(message)
    Atomics.add(this.#bell, 0, 1)
    Atomics.notify(this.#bell, 0)
  }

  async end(): Promise<void> {
    this.#port.close()
    await this.#worker.terminate()
  }
}

function errorOf({ message, exitCode }: Extract<FromSweepThread, { kind: 'failed' }>): Error {
  return exitCode === null ? new Error(message) : new SluiceError(message, exitCode)
}
