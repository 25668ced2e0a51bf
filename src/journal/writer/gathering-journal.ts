import type { Millis, Seq } from '../../base/units.ts'
import type { Input, Output } from '../../engine/messages.ts'
import type { Block } from '../../market/block.ts'
import type { Journal, JournalRecord } from '../../orders/ports.ts'
import type { Write } from '../schema/statements.ts'
import type { Slice } from '../tape/block-encoder.ts'
import { MAX_ROWS } from '../tape/column.ts'
import { RowWriter } from '../tape/key-rows.ts'
import { inputWrites, outputWrites, recordWrites } from './records.ts'
import type { Batch } from './writer.ts'

/** Number of market rows that are passed to the writer together. With more rows, more work would remain when an order
 *  waits for its commit; with fewer rows, the cost of passing them would matter. */
const ROWS_A_BATCH = 128

/** A journal that is open for writing. */
export interface OpenJournal extends Journal {
  readonly path: string
  /** Writes the remaining records and marks the segment as ended in an orderly way. Nothing may be written
   *  afterwards. */
  close(): Promise<void>
}

/** Base class of two journals: one has its writer in this thread, the other in a thread of its own. It gathers rows and
 *  records, and passes them to the writer in batches. A batch ends with a commit or, if it already has many rows,
 *  before the next rows. Everything that one event caused is therefore in one batch, and becomes durable together. */
export abstract class GatheringJournal implements OpenJournal {
  abstract readonly path: string
  #segment = 0
  #time = 0
  readonly #texts = new RowWriter()
  #slices: Slice[] = []
  #writes: Write[] = []
  #rows = 0
  // The last slice, to which rows are still added.
  #block: Block | undefined
  #from = 0
  #to = 0
  #firstSeq = 0

  abstract close(): Promise<void>
  abstract commit(then: () => void): void
  protected abstract deliver(batch: Batch): void
  /** Called when a new batch receives its first record. */
  protected began(): void {}
  /** Called when a record shows that the present turn of the event loop makes a decision, and so will end with a
   *  commit. */
  protected expected(): void {}

  rows(block: Block, from: number, to: number, firstSeq: Seq): void {
    if (to <= from) return
    if (this.#rows >= ROWS_A_BATCH) this.handOver()
    if (this.#rows === 0 && this.#writes.length === 0) this.began()
    const count = to - from
    this.#time = block.time[to - 1] as number
    this.#rows += count
    if (block === this.#block && from === this.#to && firstSeq === this.#firstSeq + this.#to - this.#from) this.#to = to
    else this.#nextSlice(block, from, to, firstSeq)
    if (this.#rows > MAX_ROWS) this.handOver()
  }

  /** Adds an input. A start begins a new segment, so the records before the start are passed on as a separate batch. */
  input(seq: Seq, time: Millis, input: Input): void {
    if (input.kind === 'start') this.handOver()
    if (input.kind === 'start') this.#segment = input.segment
    this.#time = time
    this.#push(inputWrites(this.#segment, seq, time, input, this.#texts.input(input)))
  }

  output(seq: Seq, time: Millis, index: number, output: Output): void {
    if (output.kind === 'order') this.expected()
    this.#time = time
    this.#push(outputWrites(seq, time, index, output, this.#texts.output(output)))
  }

  write(record: JournalRecord): void {
    this.#push(recordWrites(record, this.#time))
  }

  /** Number of records in the current batch. */
  protected get gathered(): number {
    return this.#writes.length
  }

  /** Delivers the batch and begins a new one. */
  protected handOver(): void {
    if (this.#rows === 0 && this.#writes.length === 0) return
    this.#endSlice()
    const batch = { segment: this.#segment, time: this.#time, slices: this.#slices, writes: this.#writes }
    this.#slices = []
    this.#writes = []
    this.#rows = 0
    this.deliver(batch)
  }

  #push(writes: readonly Write[]): void {
    if (this.#rows === 0 && this.#writes.length === 0) this.began()
    for (const write of writes) this.#writes.push(write)
  }

  #nextSlice(block: Block, from: number, to: number, firstSeq: Seq): void {
    this.#endSlice()
    this.#block = block
    this.#from = from
    this.#to = to
    this.#firstSeq = firstSeq
  }

  #endSlice(): void {
    if (this.#block === undefined) return
    this.#slices.push({ block: this.#block, from: this.#from, to: this.#to, firstSeq: this.#firstSeq })
    this.#block = undefined
  }
}
