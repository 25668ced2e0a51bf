import { openForWriting } from '../../src/journal/database.ts'
import { GatheringJournal } from '../../src/journal/writer/gathering-journal.ts'
import { type Batch, Writer } from '../../src/journal/writer/writer.ts'

const NO_SPACE_LIMITS = { tapeBytes: 0, entryBytes: 0, reserveBytes: 0 }

/** A journal in a file. It writes batches as the thread of a live journal does, and merges small blocks. */
export class FileJournal extends GatheringJournal {
  readonly path: string
  readonly #writer: Writer

  constructor(path: string) {
    super()
    this.path = path
    this.#writer = new Writer(openForWriting(path, { durable: false }), { space: NO_SPACE_LIMITS }, {})
  }

  commit(then: () => void): void {
    this.handOver()
    then()
  }

  /** Makes all records visible to readers. */
  flush(): void {
    this.handOver()
    this.#writer.flush()
  }

  /** Writes all records to the file, and merges all blocks that can be merged. */
  tidy(): void {
    this.flush()
    for (let step = 0; step < 64; step++) this.#writer.tidy()
  }

  async close(): Promise<void> {
    this.handOver()
    this.#writer.close()
  }

  protected override deliver(batch: Batch): void {
    this.#writer.take(batch)
  }
}
