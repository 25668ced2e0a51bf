import { openForWriting } from '../database.ts'
import { type Lock, lockJournal } from '../lock.ts'
import { GatheringJournal, type OpenJournal } from './gathering-journal.ts'
import type { SpaceReport } from './space.ts'
import type { Remainder } from './writer.ts'
import { type Batch, Writer, type WriterOptions } from './writer.ts'

export interface JournalOptions extends WriterOptions {
  /** A commit failed, so nothing is certain any more: the process has to end and recover. Called once; nothing is
   *  written afterwards. */
  readonly onFailure: (error: Error) => void
  /** The disk runs short or has room again. Also called while it is opened, if it starts short. */
  readonly onSpace?: (report: SpaceReport) => void
  /** At an audit: what the ledger leaves over of a wallet is another than before. It should always be 0. */
  readonly onRemainder?: (remainder: Remainder) => void
}

/** Opens a journal, or makes it, with the writer in this process: for tests, imports and simulations. `commit` calls
 *  `then` before it returns. What is not committed becomes durable with the next commit, at 32,768 rows, or at `close`.
 *  Throws SluiceError: exit 4 when another process writes it, exit 1 when it is corrupt, newer or no journal. */
export function openJournal(path: string, options: JournalOptions): OpenJournal {
  const lock = lockJournal(path)
  try {
    return new LocalJournal(path, options, lock)
  } catch (error) {
    lock.release()
    throw error
  }
}

class LocalJournal extends GatheringJournal {
  readonly path: string
  readonly #options: JournalOptions
  readonly #lock: Lock
  readonly #writer: Writer
  #failed = false

  constructor(path: string, options: JournalOptions, lock: Lock) {
    super()
    this.path = path
    this.#options = options
    this.#lock = lock
    this.#writer = new Writer(openForWriting(path, options.durable), options, {
      space: (report) => options.onSpace?.(report),
      remainder: (remainder) => options.onRemainder?.(remainder),
    })
  }

  commit(then: () => void): void {
    this.handOver()
    if (this.#options.durable !== false) this.#guard(() => this.#writer.flush())
    if (!this.#failed) then()
  }

  async close(): Promise<void> {
    this.handOver()
    this.#guard(() => this.#writer.close())
    if (this.#failed) this.#writer.abandon()
    this.#lock.release()
  }

  protected override deliver(batch: Batch): void {
    this.#guard(() => {
      this.#writer.take(batch)
      this.#writer.tidy()
    })
  }

  #guard(run: () => void): void {
    if (this.#failed) return
    try {
      run()
    } catch (error) {
      this.#failed = true
      this.#options.onFailure(error as Error)
    }
  }
}
