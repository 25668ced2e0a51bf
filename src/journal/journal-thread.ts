import { once } from 'node:events'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { type ExitCode, SluiceError } from '../core/errors.ts'
import { LiveBlock } from '../core/live-block.ts'
import type { Seq } from '../core/units.ts'
import { GatheringJournal, type OpenJournal } from './gathering-journal.ts'
import type { JournalOptions } from './journal.ts'
import { type Lock, lockJournal } from './lock.ts'
import type { Space } from './space.ts'
import type { Write } from './statements.ts'
import type { Batch, WriterOptions } from './writer.ts'

/** What the thread is started with. */
export interface ThreadStart {
  readonly path: string
  readonly options: WriterOptions
  readonly port: MessagePort
  /** Counted up and notified when a message has to be looked at. */
  readonly bell: Int32Array
}

export interface BatchMessage {
  readonly kind: 'batch'
  readonly segment: number
  readonly time: number
  readonly slices: readonly SharedSlice[]
  readonly writes: readonly Write[]
  /** Mints that are new since the message before, from this number on. */
  readonly mintsAt: number
  readonly mints: readonly string[]
}

/** Rows of a live block; the first slice of a block brings its memory along. */
export interface SharedSlice {
  readonly memory: { readonly buffer: SharedArrayBuffer; readonly capacity: number } | null
  readonly from: number
  readonly to: number
  readonly firstSeq: Seq
}

export type ToThread = BatchMessage | { readonly kind: 'commit' } | { readonly kind: 'close' }
export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'committed'; readonly count: number }
  | { readonly kind: 'space'; readonly space: Space }
  | { readonly kind: 'failed'; readonly message: string; readonly exitCode: ExitCode | null }
  | { readonly kind: 'closed' }

/** A batch without a commit is handed over so long after it began; the thread flushes within 200 ms more. */
const HAND_OVER_MS = 5

/** Opens a journal with the writer in a thread of its own, for live runs: market rows stay in their LiveBlock, whose memory the thread
 *  reads, and `then` of a commit runs in a later turn of the event loop. Rows come from LiveBlocks only, else TypeError.
 *  Rejects with SluiceError as `openJournal` throws it. */
export async function startJournalThread(path: string, options: JournalOptions): Promise<OpenJournal> {
  const lock = lockJournal(path)
  const { onFailure: _onFailure, onSpace: _onSpace, ...plain } = options
  const { port1, port2 } = new MessageChannel()
  const bell = new Int32Array(new SharedArrayBuffer(4))
  const workerData: ThreadStart = { path, options: plain, port: port2, bell }
  const worker = new Worker(new URL('./thread-main.ts', import.meta.url), { workerData, transferList: [port2] })
  const journal = new ThreadJournal(path, options, port1, bell)
  try {
    await Promise.race([journal.ready, failureOf(worker)])
    journal.attach(worker, lock)
    return journal
  } catch (error) {
    await worker.terminate()
    lock.release()
    throw error
  }
}

async function failureOf(worker: Worker): Promise<never> {
  const [error] = (await once(worker, 'error')) as [Error]
  throw error
}

class ThreadJournal extends GatheringJournal {
  readonly path: string
  readonly ready: Promise<void>
  readonly #options: JournalOptions
  readonly #port: MessagePort
  readonly #bell: Int32Array
  readonly #waiting: (() => void)[] = []
  readonly #timer: NodeJS.Timeout
  #block: LiveBlock | undefined
  #mints: readonly string[] = []
  #mintsSent = 0
  #closing = false
  #state: 'starting' | 'open' | 'failed' | 'closed' = 'starting'
  #on: { ready: () => void; refused: (error: Error) => void; closed: () => void }

  constructor(path: string, options: JournalOptions, port: MessagePort, bell: Int32Array) {
    super()
    this.path = path
    this.#options = options
    this.#port = port
    this.#bell = bell
    this.#timer = setTimeout(() => this.handOver(), HAND_OVER_MS).unref()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.ready = promise
    this.#on = { ready: resolve, refused: reject, closed: () => {} }
    port.on('message', (message: FromThread) => this.#receive(message))
  }

  attach(worker: Worker, lock: Lock): void {
    worker.on('error', (error) => this.#fail(error))
    this.#on.closed = () => {
      this.#state = 'closed'
      this.#port.close()
      void worker.terminate()
      lock.release()
    }
  }

  commit(then: () => void): void {
    this.#waiting.push(then)
    this.handOver()
    this.#post({ kind: 'commit' })
  }

  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const release = this.#on.closed
    this.#on.closed = () => {
      release()
      resolve()
    }
    clearTimeout(this.#timer)
    this.#closing = true
    this.handOver()
    if (this.#state === 'open') this.#post({ kind: 'close' })
    else this.#on.closed()
    return promise
  }

  protected override began(): void {
    this.#timer.refresh()
  }

  protected override deliver({ segment, time, slices, writes }: Batch): void {
    const shared = slices.map(({ block, from, to, firstSeq }) => ({
      memory: this.#memoryOf(block),
      from,
      to,
      firstSeq,
    }))
    const mintsAt = this.#mintsSent
    const mints = this.#mints.slice(mintsAt)
    this.#mintsSent = this.#mints.length
    this.#post({ kind: 'batch', segment, time, slices: shared, writes, mintsAt, mints })
  }

  /** A block's memory is sent once; it is this process's newest block from then on. */
  #memoryOf(block: unknown): SharedSlice['memory'] {
    if (block === this.#block) return null
    if (!(block instanceof LiveBlock)) throw new TypeError('a journal thread takes rows of live blocks only')
    if (this.#block !== undefined && block.mints !== this.#mints)
      throw new TypeError('all blocks of a journal thread share one table of mints')
    this.#block = block
    this.#mints = block.mints
    return { buffer: block.buffer, capacity: block.capacity }
  }

  #post(message: ToThread): void {
    if (this.#state === 'failed' || this.#state === 'closed') return
    this.#port.postMessage(message)
    Atomics.add(this.#bell, 0, 1)
    Atomics.notify(this.#bell, 0)
  }

  #receive(message: FromThread): void {
    if (message.kind === 'committed') for (const then of this.#waiting.splice(0, message.count)) then()
    if (message.kind === 'space') this.#options.onSpace?.(message.space)
    if (message.kind === 'closed') this.#on.closed()
    if (message.kind === 'failed') this.#fail(errorOf(message))
    if (message.kind === 'ready') {
      this.#state = 'open'
      this.#on.ready()
    }
  }

  #fail(error: Error): void {
    const before = this.#state
    this.#state = 'failed'
    if (before === 'starting') this.#on.refused(error)
    if (before === 'open') this.#options.onFailure(error)
    if (this.#closing) this.#on.closed()
  }
}

function errorOf({ message, exitCode }: FromThread & { kind: 'failed' }): Error {
  return exitCode === null ? new Error(message) : new SluiceError(message, exitCode)
}
