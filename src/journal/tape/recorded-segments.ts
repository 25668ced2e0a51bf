import type { Database, Statement } from 'better-sqlite3'
import { decodeJson } from '../../base/json.ts'
import type { Millis, Seq } from '../../base/units.ts'
import type { Input, Output, StartInput } from '../../engine/messages.ts'
import type { Mints } from '../../market/mints.ts'
import type { Slice } from './block-encoder.ts'
import { RowReader } from './key-rows.ts'
import type { TapeReader } from './tape-reader.ts'

/** The record of one run of one process. */
export interface Segment {
  readonly number: number
  readonly firstSeq: Seq
  readonly lastSeq: Seq
  readonly time: Millis
  readonly start: StartInput
  /** Time of the orderly end; null after a crash, and while the segment runs. */
  readonly ended: Millis | null
  /** Number of market rows on the tape. */
  readonly rows: number
  /** Whether the segment can be replayed, because no seq of it was dropped with old tape or lost on a full disk. */
  readonly complete: boolean
}

/** An item of a segment's record. Items come in the order of seq, beginning with the start. The outputs that a row or
 *  an input caused follow it directly. A slice of rows therefore ends after a row that caused outputs. */
export type SegmentItem =
  | ({ readonly kind: 'rows' } & Slice)
  | { readonly kind: 'input'; readonly seq: Seq; readonly time: Millis; readonly input: Input }
  | {
      readonly kind: 'output'
      readonly seq: Seq
      readonly time: Millis
      readonly index: number
      readonly output: Output
    }

interface SegmentRow {
  readonly number: number
  readonly seq: Seq
  readonly time: Millis
  readonly json: string
  readonly ended: Millis | null
}

interface StreamRow {
  readonly seq: Seq
  readonly time: Millis
  readonly json: string
}

type OutputRow = StreamRow & { readonly n: number }

export function segmentsOf(db: Database): Segment[] {
  const rows = db.prepare('SELECT number, seq, time, json, ended FROM segment ORDER BY seq').all() as SegmentRow[]
  const counted = db.prepare<[Seq, Seq], SeqCount>(
    'SELECT coalesce(max(seq), 0) AS last, count(*) AS count FROM input WHERE seq BETWEEN ? AND ?',
  )
  const missing = db.prepare<[Seq, Seq], number>('SELECT count(*) FROM missing WHERE first_seq BETWEEN ? AND ?').pluck()
  return rows.map(({ number, seq, time, json, ended }, index) => {
    const end = (rows[index + 1]?.seq ?? Number.MAX_SAFE_INTEGER) - 1
    const inputs = counted.get(seq, end) as SeqCount
    const tape = tapeBetween(db, number, seq, end)
    const lastSeq = Math.max(seq, tape.last, inputs.last)
    const complete = lastSeq - seq === tape.count + inputs.count && missing.get(seq, end) === 0
    return {
      number,
      firstSeq: seq,
      lastSeq,
      time,
      start: decodeJson<StartInput>(json),
      ended,
      rows: tape.count,
      complete,
    }
  })
}

interface SeqCount {
  readonly last: Seq
  readonly count: number
}

/** Counts the rows of a segment on the tape. Rows can have been dropped only from the beginning of the segment, so it
 *  is enough to read its first and last block. */
function tapeBetween(db: Database, segment: number, from: Seq, to: Seq): SeqCount {
  const block = (order: 'ASC' | 'DESC') =>
    db
      .prepare(
        `SELECT last_seq, rows, rows_before FROM blocks WHERE last_seq BETWEEN ? AND ? AND segment = ?
         ORDER BY last_seq ${order} LIMIT 1`,
      )
      .get(from, to, segment) as { last_seq: Seq; rows: number; rows_before: number } | undefined
  const first = block('ASC')
  const last = block('DESC')
  if (first === undefined || last === undefined) return { last: 0, count: 0 }
  return { last: last.last_seq, count: last.rows_before + last.rows - first.rows_before }
}

/** Replays a segment: merges its market rows, inputs and outputs, which are in three tables, in the order of seq. */
export class SegmentReplay {
  readonly #tape: TapeReader
  readonly #inputs: Statement<[Seq, Seq], StreamRow>
  readonly #outputs: Statement<[Seq, Seq], OutputRow>

  constructor(db: Database, tape: TapeReader) {
    this.#tape = tape
    this.#inputs = db.prepare('SELECT seq, time, json FROM input WHERE seq BETWEEN ? AND ? ORDER BY seq')
    this.#outputs = db.prepare('SELECT seq, n, time, json FROM output WHERE seq BETWEEN ? AND ? ORDER BY seq, n')
  }

  *items(segment: Segment, mints: Mints): Generator<SegmentItem, void, undefined> {
    const { firstSeq, lastSeq, time, start } = segment
    const outputs = new Peeked(this.#outputs.iterate(firstSeq, lastSeq))
    const inputs = new Peeked(this.#inputs.iterate(firstSeq, lastSeq))
    const rows = new StreamRows(inputs, outputs)
    try {
      yield { kind: 'input', seq: firstSeq, time, input: start }
      yield* rows.outputsUpTo(firstSeq)
      for (const slice of this.#tape.slices(mints, { from: firstSeq, to: lastSeq })) {
        yield* rows.inputsUpTo(slice.firstSeq)
        yield* rows.cut(slice)
      }
      yield* rows.inputsUpTo(lastSeq)
    } finally {
      outputs.close()
      inputs.close()
    }
  }
}

/** The inputs and outputs of a segment, which are read on demand. */
class StreamRows {
  readonly #inputs: Peeked<StreamRow>
  readonly #outputs: Peeked<OutputRow>
  readonly #reader = new RowReader()

  constructor(inputs: Peeked<StreamRow>, outputs: Peeked<OutputRow>) {
    this.#inputs = inputs
    this.#outputs = outputs
  }

  /** Yields the market rows of a slice in parts. Each part ends with a row that caused outputs, and these outputs
   *  follow. */
  *cut(slice: Slice): Generator<SegmentItem, void, undefined> {
    const { block, to } = slice
    const lastSeq = slice.firstSeq + to - slice.from - 1
    let { from, firstSeq } = slice
    while (from < to) {
      const { next } = this.#outputs
      const seq = next === undefined || next.seq > lastSeq ? lastSeq : next.seq
      const end = from + seq - firstSeq + 1
      yield { kind: 'rows', block, from, to: end, firstSeq }
      yield* this.outputsUpTo(seq)
      from = end
      firstSeq = seq + 1
    }
  }

  *inputsUpTo(seq: Seq): Generator<SegmentItem, void, undefined> {
    for (let row = this.#inputs.take(seq); row !== undefined; row = this.#inputs.take(seq)) {
      yield { kind: 'input', seq: row.seq, time: row.time, input: this.#reader.input(row.json) }
      yield* this.outputsUpTo(row.seq)
    }
  }

  *outputsUpTo(seq: Seq): Generator<SegmentItem, void, undefined> {
    for (let row = this.#outputs.take(seq); row !== undefined; row = this.#outputs.take(seq))
      yield { kind: 'output', seq: row.seq, time: row.time, index: row.n, output: this.#reader.output(row.json) }
  }
}

/** An iterator whose next value can be read before it is removed. */
class Peeked<T extends { readonly seq: Seq }> {
  next: T | undefined
  readonly #rest: IterableIterator<T>

  constructor(rest: IterableIterator<T>) {
    this.#rest = rest
    this.#advance()
  }

  /** Removes and returns the next value if its seq is at most `seq`; otherwise returns undefined. */
  take(seq: Seq): T | undefined {
    const value = this.next
    if (value === undefined || value.seq > seq) return undefined
    this.#advance()
    return value
  }

  /** Ends the query before all of its rows are read, so that its statement is free again. */
  close(): void {
    this.#rest.return?.()
  }

  #advance(): void {
    const { done, value } = this.#rest.next()
    this.next = done === true ? undefined : value
  }
}
