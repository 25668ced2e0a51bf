import type { Database, Statement } from 'better-sqlite3'
import { SluiceError } from '../../base/errors.ts'
import type { Millis, Seq } from '../../base/units.ts'
import type { Block } from '../../market/block.ts'
import type { Mints } from '../../market/mints.ts'
import { ArchivedDays, type ArchivedHead } from '../archive/archived-days.ts'
import { dayPath } from '../archive/day-file.ts'
import { guarded } from '../database.ts'
import { BLOCK_FORMAT } from '../schema/migrations.ts'
import type { Slice } from './block-encoder.ts'
import {
  type BlockRow,
  checksumOf,
  LATE_COLUMNS,
  type LateRow,
  type Place,
  SCAN,
  scanChecksum,
  TEXT_COLUMNS,
  type TextRow,
} from './block-row.ts'
import { type BlockKey, type LoadRest, partOf, type Run, TapeBlock } from './tape-block.ts'

/** A range of seqs, inclusive. It is empty if `from` > `to`. */
export interface SeqRange {
  readonly from: Seq
  readonly to: Seq
}

/** Where a block is: in the journal, or in the file of a day. */
export interface BlockAt {
  readonly last_seq: Seq
  readonly day: string | null
}

type Stored<Part> = Part & Pick<BlockRow, 'rows_before' | 'rows'>
type StoredLate = Stored<LateRow> & Pick<BlockRow, 'format'> & { readonly late_checksum: number | null }

const restSql = (checksum: string, columns: readonly string[]): string =>
  `SELECT format, ${checksum}, rows_before, rows, ${columns.join(', ')} FROM block WHERE last_seq >= ? ORDER BY last_seq LIMIT 1`
const LATE = restSql('late_checksum', LATE_COLUMNS)
const TEXTS = restSql('text_checksum', TEXT_COLUMNS)
const ARCHIVED = `SELECT checksum, rows_before, ${SCAN} FROM block WHERE last_seq = ?`

/** Reads the blocks of the tape, in the order of seq: those of the journal, and those of its archived days. */
export class TapeReader {
  readonly #path: string
  readonly #db: Database
  readonly #days: ArchivedDays
  readonly #prepared = new Map<string, Statement<unknown[], object>>()
  readonly #from: (seq: Seq) => Iterable<BlockRow>
  readonly #runs: Statement<[number], Run>
  readonly #late: Statement<[Seq], StoredLate>
  readonly #texts: Statement<[Seq], Stored<TextRow>>
  readonly #newestFirst: Statement<[], BlockAt & Pick<BlockRow, 'first_seq'> & { readonly last_time: Millis }>

  /** `scan`: function that yields the blocks of the journal from a seq on. If it is absent, a prepared statement reads
   *  them. */
  constructor(path: string, db: Database, scan?: (from: Seq) => Iterable<BlockRow>) {
    this.#path = path
    this.#db = db
    this.#days = new ArchivedDays(path, db, scan !== undefined)
    // Each iteration has its own statement, because several iterations may run at the same time.
    this.#from =
      scan ??
      ((seq) =>
        db
          .prepare<[Seq], BlockRow>(
            `SELECT checksum, rows_before, ${SCAN} FROM block WHERE last_seq >= ? ORDER BY last_seq`,
          )
          .iterate(seq))
    this.#runs = db.prepare('SELECT row, seq FROM run WHERE block = ? ORDER BY row')
    this.#late = db.prepare(LATE)
    this.#texts = db.prepare(TEXTS)
    this.#newestFirst = db.prepare('SELECT first_seq, last_seq, last_time, day FROM blocks ORDER BY last_seq DESC')
  }

  /** Closes the files of archived days. */
  close(): void {
    this.#days.close()
  }

  /** Yields the blocks with rows of the range, one at a time. All of them come from one snapshot, because a writer may
   *  merge blocks meanwhile. The columns that are loaded later can be read only while the journal is open and the block
   *  has not been dropped. Throws SluiceError if a block is damaged, if its format is unknown, or if the file of its
   *  day cannot be read. */
  *blocks(mints: Mints, { from, to }: SeqRange): Generator<TapeBlock, void, undefined> {
    for (const row of this.#rows(from, to)) {
      const { last_seq, rows_before, rows } = row
      const key = { journal: this.#path, last_seq, rows_before, rows }
      yield new TapeBlock(row, row.runs > 1 ? this.#runs.all(last_seq) : [], mints, key, this.restOf(key))
    }
  }

  /** Returns functions that load the columns of a block that `blocks` does not read. Another connection may have read
   *  the block. The functions throw SluiceError if the columns are damaged, or if the block was dropped. */
  restOf(key: BlockKey): LoadRest {
    return {
      late: () => guarded(this.#path, () => this.#lateOf(key)),
      texts: () => guarded(this.#path, () => this.#textsOf(key)),
    }
  }

  /** Returns the first row of a query on a block. The first parameter of the query is `last_seq` of the block. */
  get<T extends object>(block: BlockAt, sql: string, ...params: unknown[]): T | undefined {
    return this.#statement(block, sql).get(block.last_seq, ...params) as T | undefined
  }

  /** Returns all rows of a query on a block. The first parameter of the query is `last_seq` of the block. */
  all<T extends object>(block: BlockAt, sql: string, ...params: unknown[]): T[] {
    return this.#statement(block, sql).all(block.last_seq, ...params) as T[]
  }

  /** Returns the reason why the file of an archived day cannot be read, as a clause; '' if it can be read. */
  problemOf(day: string): string {
    return this.#days.problemOf(day)
  }

  /** Yields the rows of the range as blocks, without seqs. `isKept`: reads all columns immediately, not on first
   *  access. */
  *rows(mints: Mints, range: SeqRange, isKept = false): Generator<Block, void, undefined> {
    for (const block of this.blocks(mints, range)) {
      if (isKept) block.readRest()
      const from = rowAt(block, range.from)
      const to = rowAt(block, range.to + 1)
      if (from < to) yield partOf(block, from, to)
    }
  }

  /** Yields the rows of the range as slices with seqs. */
  *slices(mints: Mints, range: SeqRange): Generator<Slice, void, undefined> {
    for (const block of this.blocks(mints, range)) yield* slicesOf(block, range)
  }

  /** Returns the range of seqs of the last `seconds` of tape, counted back from its last row. If the file of an
   *  archived day cannot be read, the range begins after this day, so that a process can start without the file. */
  lastSeconds(seconds: number, mints: Mints): SeqRange {
    let first: Seq | undefined
    let last: Seq = 0
    let since = 0
    let readable: string | null = null
    for (const { first_seq, last_seq, last_time, day } of this.#newestFirst.iterate()) {
      if (first === undefined) {
        last = last_seq
        since = last_time - seconds * 1000
      }
      if (last_time < since) break
      if (day !== readable && day !== null && this.problemOf(day) !== '') break
      readable = day
      first = first_seq
    }
    if (first === undefined) return { from: 1, to: 0 }
    const [block] = this.blocks(mints, { from: first, to: first })
    const row = block?.time.findIndex((time) => time >= since) ?? 0
    return { from: block === undefined ? first : seqAt(block, row), to: last }
  }

  #statement({ day }: BlockAt, sql: string): Statement<unknown[], object> {
    if (day !== null) return this.#days.statement(day, sql)
    const statement = this.#prepared.get(sql) ?? this.#db.prepare<unknown[], object>(sql)
    this.#prepared.set(sql, statement)
    return statement
  }

  /** Yields the table rows of the blocks between two seqs, merged from the journal and the archived days. */
  *#rows(from: Seq, to: Seq): Generator<BlockRow, void, undefined> {
    const archived = this.#days.heads(from, to)
    let head = archived.next().value
    for (const row of this.#from(from)) {
      if (row.first_seq > to) break
      for (; head && head.last_seq < row.last_seq; head = archived.next().value) yield this.#archived(head)
      this.#refuseUnreadable(row)
      yield row
    }
    for (; head; head = archived.next().value) yield this.#archived(head)
  }

  #archived(head: ArchivedHead): BlockRow {
    const row = this.#days.get<BlockRow>(head.day, ARCHIVED, head.last_seq)
    if (row === undefined || SAME.some((name) => row[name] !== head[name])) throw this.#damaged(head.last_seq, head.day)
    this.#refuseUnreadable(row, head.day)
    return row
  }

  #lateOf(row: BlockKey): LateRow & Place {
    const { found, day } = this.#placed(row, 'late_checksum', this.#late, LATE)
    // In format 1, the checksum that `blocks` has already verified covers the columns that are loaded later, too.
    if (found.format > 1 && checksumOf(LATE_COLUMNS.map((name) => found[name])) !== found.late_checksum)
      throw this.#damaged(row.last_seq, day)
    return found
  }

  #textsOf(row: BlockKey): TextRow & Place {
    const { found, day } = this.#placed(row, 'text_checksum', this.#texts, TEXTS)
    if (checksumOf(TEXT_COLUMNS.map((name) => found[name])) !== found.text_checksum)
      throw this.#damaged(row.last_seq, day)
    return found
  }

  /** Finds the position of the rows in the stored block. Since the rows were read, a writer may have merged their block
   *  into a larger one, or moved it to the file of its day. */
  #placed<Part extends object, Sum extends keyof Part & ('late_checksum' | 'text_checksum')>(
    row: BlockKey,
    sum: Sum,
    statement: Statement<[Seq], Stored<Part>>,
    sql: string,
  ): { found: Stored<Part> & Place; day?: string } {
    const here = placeIn(row, statement.get(row.last_seq))
    if (here !== undefined) return { found: here }
    const head = this.#days.headAt(row.last_seq)
    const stored = head && this.#days.get<Stored<Part>>(head.day, sql, head.last_seq)
    const found = placeIn(row, stored)
    if (head === undefined || found === undefined)
      throw new SluiceError(`${this.#path}: old tape was dropped during the read; run the command again`)
    if (found[sum] !== head[sum]) throw this.#damaged(row.last_seq, head.day)
    return { found, day: head.day }
  }

  #refuseUnreadable(row: BlockRow, day?: string): void {
    if (row.format > BLOCK_FORMAT)
      throw new SluiceError(`${this.#path} has tape of a newer version of Sluice (format ${row.format}); update Sluice`)
    const late = row.format === 1 ? this.#lateRow(row.last_seq, day) : undefined
    if (scanChecksum(row, late) !== row.checksum) throw this.#damaged(row.last_seq, day)
  }

  #lateRow(seq: Seq, day: string | undefined): LateRow | undefined {
    return day === undefined ? this.#late.get(seq) : this.#days.get<StoredLate>(day, LATE, seq)
  }

  #damaged(lastSeq: Seq, day?: string): SluiceError {
    const path = day === undefined ? this.#path : dayPath(this.#path, day)
    return new SluiceError(`${path} is corrupt: the checksum of its tape block up to seq ${lastSeq} does not match`)
  }
}

/** Columns of an archived block whose values in the day's file must equal those in the journal. The checksum covers the
 *  other columns. */
const SAME = ['last_seq', 'rows', 'rows_before', 'checksum'] as const

function placeIn<Part extends object>(
  { rows_before, rows }: BlockKey,
  found: Stored<Part> | undefined,
): (Stored<Part> & Place) | undefined {
  const firstRow = found === undefined ? -1 : rows_before - found.rows_before
  if (found === undefined || firstRow < 0 || firstRow + rows > found.rows) return undefined
  return { ...found, firstRow }
}

/** Yields the rows of a block in the range, as slices with seqs. */
export function* slicesOf(block: TapeBlock, range: SeqRange): Generator<Slice, void, undefined> {
  for (const [index, run] of block.runs.entries()) {
    const end = block.runs[index + 1]?.row ?? block.length
    const from = Math.max(run.row, run.row + range.from - run.seq)
    const to = Math.min(end, run.row + range.to - run.seq + 1)
    if (from < to) yield { block, from, to, firstSeq: run.seq + from - run.row }
  }
}

/** Returns the seq of a row of a block. */
export function seqAt(block: TapeBlock, row: number): Seq {
  const run = block.runs.findLast((one) => one.row <= row) as Run
  return run.seq + row - run.row
}

/** Returns the index of the first row whose seq is at least `seq`; the length of the block if there is none. */
export function rowAt(block: TapeBlock, seq: Seq): number {
  const index = block.runs.findLastIndex((run) => run.seq <= seq)
  if (index < 0) return 0
  const run = block.runs[index] as Run
  return Math.min(block.runs[index + 1]?.row ?? block.length, run.row + seq - run.seq)
}
