import { openForWriting } from '../database.ts'
import { type Lock, lockJournal } from '../lock.ts'
import { GatheringJournal, type OpenJournal } from './gathering-journal.ts'
import type { DiskUsage, SpaceReport } from './space.ts'
import type { Remainder } from './writer.ts'
import { type Batch, Writer, type WriterOptions } from './writer.ts'

export interface JournalOptions extends WriterOptions {
  /** Called once if a commit failed. Its outcome is unknown, so the process must end and recover. Nothing is written
   *  after that. */
  readonly onFailure: (error: Error) => void
  /** Called when the free disk space crosses a limit, and at the opening of the journal if there is too little
   *  space. */
  readonly onSpace?: (report: SpaceReport) => void
  /** Called every few seconds with the size of the journal's files and the free space on their disk. */
  readonly onUsage?: (usage: DiskUsage) => void
  /** Called when the unexplained remainder of a wallet's ledger changed at an audit. The remainder should always be
   *  0. */
  readonly onRemainder?: (remainder: Remainder) => void
}

/** Number of records that a journal without durable commits gathers before it writes them in one transaction. A larger
 *  number would only take more memory. */
const RECORDS_A_BATCH = 2_048

/** Opens or creates a journal with the writer in this thread, for tests, imports and simulations. `commit` calls its
 *  callback before it returns. Other records become durable with the next commit, after 32,768 rows, or at `close`.
 *  Throws SluiceError: exit 4 if another process writes the journal, exit 1 if it is corrupt, newer, or not a
 *  journal. */
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
    this.#writer = new Writer(openForWriting(path, options), options, {
      space: (report) => options.onSpace?.(report),
      usage: (usage) => options.onUsage?.(usage),
      remainder: (remainder) => options.onRemainder?.(remainder),
    })
  }

  commit(then: () => void): void {
    const isDurable = this.#options.durable !== false
    if (isDurable || this.gathered >= RECORDS_A_BATCH) this.handOver()
    if (isDurable) this.#guard(() => this.#writer.flush())
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
