import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path/posix'
import type { Millis, Seq } from '../base/units.ts'
import type { Input, Output } from '../engine/messages.ts'
import { openForWriting } from '../journal/database.ts'
import { type JournalReader, openReader } from '../journal/reader/reader.ts'
import { GatheringJournal } from '../journal/writer/gathering-journal.ts'
import { type Batch, Writer } from '../journal/writer/writer.ts'
import type { RunLog } from './run-log.ts'

/** Limits without a reserve and without a check of the disk, because the file of a test is small and can be written
 *  again. */
const NO_SPACE_LIMITS = { tapeBytes: 0, entryBytes: 0, reserveBytes: 0 }

/** Journal of a rig. It keeps the encoded records in memory and writes a file only for a restart or on request, so that
 *  a test without a restart needs no disk. */
export class RigJournal extends GatheringJournal {
  readonly path = ''
  readonly #log: RunLog
  readonly #batches: Batch[] = []

  constructor(log: RunLog) {
    super()
    this.#log = log
  }

  override input(seq: Seq, time: Millis, input: Input): void {
    super.input(seq, time, input)
    this.#log.input(seq, time, input)
  }

  override output(seq: Seq, time: Millis, index: number, output: Output): void {
    super.output(seq, time, index, output)
    this.#log.output(seq, time, index, output)
  }

  commit(then: () => void): void {
    this.handOver()
    then()
  }

  async close(): Promise<void> {
    this.handOver()
  }

  /** Writes a journal file with all records so far. `isEnded`: whether the last segment ended in an orderly way, and
   *  not by a crash. */
  save(path: string, isEnded: boolean): void {
    this.handOver()
    const writer = new Writer(openForWriting(path, { durable: false }), { space: NO_SPACE_LIMITS }, {})
    for (const batch of this.#batches) writer.take(batch)
    if (isEnded) writer.close()
    else {
      writer.flush()
      writer.abandon()
    }
  }

  /** Calls `read` with a reader of a journal that has all records so far, and deletes the file afterwards. */
  reopened<T>(isEnded: boolean, read: (reader: JournalReader) => T): T {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-rig-'))
    try {
      const path = join(folder, 'rig.db')
      this.save(path, isEnded)
      const reader = openReader(path)
      try {
        return read(reader)
      } finally {
        reader.close()
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  protected override deliver(batch: Batch): void {
    this.#batches.push(batch)
  }
}
