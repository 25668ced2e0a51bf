import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { errorOf, type Failed } from '../../base/errors.ts'
import type { Seq } from '../../base/units.ts'
import { LiveBlock } from '../../market/live-block.ts'
import { type MintNews, MintTeller } from '../../market/mints.ts'
import { type Lock, lockJournal } from '../lock.ts'
import type { Write } from '../schema/statements.ts'
import type { Slice } from '../tape/block-encoder.ts'
import { GatheringJournal, type OpenJournal } from './gathering-journal.ts'
import type { JournalOptions } from './journal.ts'
import type { DiskUsage, SpaceReport } from './space.ts'
import type { Batch, Remainder, WriterOptions } from './writer.ts'

/** Start parameters of the thread. */
export interface ThreadStart {
  readonly path: string
  readonly options: WriterOptions
  readonly port: MessagePort
  /** Two shared numbers. Number 0 increases when the thread must read messages. Number 1 is 1 while a commit will
   *  follow in this turn of the main thread. */
  readonly bell: Int32Array
}

export interface BatchMessage {
  readonly kind: 'batch'
  readonly segment: number
  readonly time: number
  readonly slices: readonly SharedSlice[]
  readonly writes: readonly Write[]
  /** Whether the batch must become durable immediately. */
  readonly commit: boolean
}

/** Rows that were added to a block that is still being filled. The thread reads them from shared memory, which only the
 *  first message about a block contains. */
export interface SharedSlice {
  readonly memory: { readonly buffer: SharedArrayBuffer; readonly capacity: number } | null
  readonly from: number
  readonly to: number
  readonly firstSeq: Seq
  /** Mints that were added since the previous slice. */
  readonly news: MintNews
}

export type ToThread = BatchMessage | { readonly kind: 'commit' } | { readonly kind: 'close' }
export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'committed'; readonly count: number }
  | { readonly kind: 'space'; readonly report: SpaceReport }
  | { readonly kind: 'usage'; readonly usage: DiskUsage }
  | { readonly kind: 'remainder'; readonly remainder: Remainder }
  | Failed
  | { readonly kind: 'closed' }

/** Time in ms after which a batch without a commit is sent to the thread. The thread makes it durable at most 200 ms
 *  later. */
const HAND_OVER_MS = 5

/** Opens a journal whose writer runs in a thread of its own, for live runs. Market rows stay in the memory of their
 *  LiveBlock, which the thread reads; rows of other blocks throw TypeError. The callback of a commit runs in a later
 *  turn of the event loop. The promise rejects with SluiceError in the cases in which `openJournal` throws it. */
export async function startJournalThread(path: string, options: JournalOptions): Promise<OpenJournal> {
  const lock = lockJournal(path)
  const journal = new ThreadJournal(path, options, lock)
  try {
    await journal.ready
    return journal
  } catch (error) {
    await journal.end()
    throw error
  }
}

class ThreadJournal extends GatheringJournal {
  readonly path: string
  readonly ready: Promise<void>
  readonly #options: JournalOptions
  readonly #lock: Lock
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #mints = new MintTeller()
  readonly #bell = new Int32Array(new SharedArrayBuffer(8))
  readonly #timer: NodeJS.Timeout
  readonly #started = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<void>()
  /** Callbacks of the commits that are not complete, in order. */
  readonly #waiting: (() => void)[] = []
  #state: 'starting' | 'open' | 'failed' | 'closed' = 'starting'
  #block: LiveBlock | undefined
  #isTiming = true
  #isCommitting = false

  constructor(path: string, options: JournalOptions, lock: Lock) {
    super()
    this.path = path
    this.ready = this.#started.promise
    this.#options = options
    this.#lock = lock
    const { port1, port2 } = new MessageChannel()
    const { onFailure: _failure, onSpace: _space, onUsage: _usage, onRemainder: _remainder, ...plain } = options
    const workerData: ThreadStart = { path, options: plain, port: port2, bell: this.#bell }
    this.#worker = new Worker(new URL('./thread-main.ts', import.meta.url), { workerData, transferList: [port2] })
    this.#worker.on('error', (error) => this.#fail(error))
    this.#port = port1
    this.#port.on('message', (message: FromThread) => this.#receive(message))
    this.#timer = setTimeout(() => this.#due(), HAND_OVER_MS).unref()
  }

  commit(then: () => void): void {
    this.#waiting.push(then)
    this.#isCommitting = true
    this.handOver()
    if (this.#isCommitting) this.#post({ kind: 'commit' })
    this.#isCommitting = false
  }

  async close(): Promise<void> {
    this.handOver()
    if (this.#state === 'open') {
      this.#post({ kind: 'close' })
      await this.#ended.promise
    }
    await this.end()
  }

  /** Ends the thread in any state. */
  async end(): Promise<void> {
    this.#state = 'closed'
    clearTimeout(this.#timer)
    this.#port.close()
    await this.#worker.terminate()
    this.#lock.release()
  }

  protected override began(): void {
    if (this.#isTiming) return
    this.#isTiming = true
    this.#timer.refresh()
  }

  /** Wakes the thread before the commit arrives. Waking takes about as long as the rest of this turn of the event loop,
   *  so the thread is awake in time. */
  protected override expected(): void {
    Atomics.store(this.#bell, 1, 1)
    Atomics.notify(this.#bell, 0)
  }

  protected override deliver({ segment, time, slices, writes }: Batch): void {
    const shared = slices.map((slice) => this.#share(slice))
    const commit = this.#isCommitting
    this.#isCommitting = false
    this.#post({ kind: 'batch', segment, time, slices: shared, writes, commit })
  }

  #share({ block, from, to, firstSeq }: Slice): SharedSlice {
    return { memory: this.#memoryOf(block), from, to, firstSeq, news: this.#mints.news(block.mints) }
  }

  /** Returns the memory of a block that is sent for the first time; null for a block that was sent before. */
  #memoryOf(block: unknown): SharedSlice['memory'] {
    if (block === this.#block) return null
    if (!(block instanceof LiveBlock)) throw new TypeError('the thread of a journal accepts only rows of a LiveBlock')
    this.#block = block
    return { buffer: block.buffer, capacity: block.capacity }
  }

  /** Hands the batch over when the timer fires. A commit does not clear the timer, because setting the timer again for
   *  each order would cost more than a call that finds an empty batch. */
  #due(): void {
    this.#isTiming = false
    this.handOver()
  }

  #post(message: ToThread): void {
    if (this.#state === 'failed' || this.#state === 'closed') return
    this.#port.postMessage(message)
    Atomics.add(this.#bell, 0, 1)
    Atomics.notify(this.#bell, 0)
  }

  #receive(message: FromThread): void {
    switch (message.kind) {
      case 'ready':
        this.#state = 'open'
        this.#started.resolve()
        break
      case 'committed':
        for (const then of this.#waiting.splice(0, message.count)) then()
        break
      case 'space':
        this.#options.onSpace?.(message.report)
        break
      case 'usage':
        this.#options.onUsage?.(message.usage)
        break
      case 'remainder':
        this.#options.onRemainder?.(message.remainder)
        break
      case 'closed':
        this.#ended.resolve()
        break
      case 'failed':
        this.#fail(errorOf(message))
    }
  }

  #fail(error: Error): void {
    if (this.#state === 'open') this.#options.onFailure(error)
    if (this.#state === 'open' || this.#state === 'starting') this.#state = 'failed'
    this.#started.reject(error)
    this.#ended.resolve()
  }
}
