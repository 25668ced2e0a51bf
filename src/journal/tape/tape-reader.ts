import type { Database, Statement } from 'better-sqlite3'
import { SluiceError } from '../../base/errors.ts'
import type { Millis, Seq } from '../../base/units.ts'
import type { Block } from '../../market/block.ts'
import type { Mints } from '../../market/mints.ts'
import { guarded } from '../database.ts'
import { BLOCK_FORMAT } from '../schema/schema.ts'
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
import { partOf, type Run, TapeBlock } from './tape-block.ts'

/** A range of seqs, inclusive. It is empty if `from` > `to`. */
export interface SeqRange {
  readonly from: Seq
  readonly to: Seq
}

type Stored<Part> = Part & Pick<BlockRow, 'rows_before' | 'rows'>
type StoredLate = Stored<LateRow> & Pick<BlockRow, 'format'> & { readonly late_checksum: number | null }

/** Reads the blocks of the tape, in the order of seq. */
export class TapeReader {
  readonly #path: string
  readonly #from: (seq: Seq) => Iterable<BlockRow>
  readonly #runs: Statement<[number], Run>
  readonly #late: Statement<[Seq], StoredLate>
  readonly #texts: Statement<[Seq], Stored<TextRow>>
  readonly #newestFirst: Statement<[], Pick<BlockRow, 'first_seq' | 'last_seq'> & { readonly last_time: Millis }>

  /** `scan` reads blocks from a seq on; if absent, a prepared statement reads them. */
  constructor(path: string, db: Database, scan?: (from: Seq) => Iterable<BlockRow>) {
    this.#path = path
    // Each reading has its own statement, because readings may interleave.
    this.#from =
      scan ??
      ((seq) =>
        db
          .prepare<[Seq], BlockRow>(
            `SELECT checksum, rows_before, ${SCAN} FROM block WHERE last_seq >= ? ORDER BY last_seq`,
          )
          .iterate(seq))
    this.#runs = db.prepare('SELECT row, seq FROM run WHERE block = ? ORDER BY row')
    const rest = (checksum: string, columns: readonly string[]): string =>
      `SELECT format, ${checksum}, rows_before, rows, ${columns.join(', ')} FROM block WHERE last_seq >= ? ORDER BY last_seq LIMIT 1`
    this.#late = db.prepare(rest('late_checksum', LATE_COLUMNS))
    this.#texts = db.prepare(rest('text_checksum', TEXT_COLUMNS))
    this.#newestFirst = db.prepare('SELECT first_seq, last_seq, last_time FROM block ORDER BY last_seq DESC')
  }

  /** Yields the blocks with rows of the range, one at a time. They are a snapshot, because a writer may merge blocks
   *  meanwhile. Texts and late columns can be loaded while the journal is open and the block is not dropped. Throws
   *  SluiceError if a block is damaged or its format is unknown. */
  *blocks(mints: Mints, { from, to }: SeqRange): Generator<TapeBlock, void, undefined> {
    for (const row of this.#from(from)) {
      if (row.first_seq > to) return
      this.#refuseUnreadable(row)
      const late = (): LateRow & Place => guarded(this.#path, () => this.#lateOf(row))
      const texts = (): TextRow & Place => guarded(this.#path, () => this.#textsOf(row))
      const load = { late, texts }
      yield new TapeBlock(row, row.runs > 1 ? this.#runs.all(row.last_seq) : [], mints, load)
    }
  }

  /** Yields the rows of the range as blocks, without seqs. `isKept`: loads all columns at once. */
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

  /** Range of seqs of the last `seconds` of tape, counted back from its last row. */
  lastSeconds(seconds: number, mints: Mints): SeqRange {
    let first: Seq | undefined
    let last: Seq = 0
    let since = 0
    for (const { first_seq, last_seq, last_time } of this.#newestFirst.iterate()) {
      if (first === undefined) {
        last = last_seq
        since = last_time - seconds * 1000
      }
      if (last_time < since) break
      first = first_seq
    }
    if (first === undefined) return { from: 1, to: 0 }
    const [block] = this.blocks(mints, { from: first, to: first })
    const row = block?.time.findIndex((time) => time >= since) ?? 0
    return { from: block === undefined ? first : seqAt(block, row), to: last }
  }

  #lateOf(row: BlockRow): LateRow & Place {
    const found = this.#placed(row, this.#late.get(row.last_seq))
    // In format 1 the scan has already checked these columns.
    if (found.format > 1 && checksumOf(LATE_COLUMNS.map((name) => found[name])) !== found.late_checksum)
      throw this.#damaged(row.last_seq)
    return found
  }

  #textsOf(row: BlockRow): TextRow & Place {
    const found = this.#placed(row, this.#texts.get(row.last_seq))
    if (checksumOf(TEXT_COLUMNS.map((name) => found[name])) !== found.text_checksum) throw this.#damaged(row.last_seq)
    return found
  }

  /** Finds the place of the rows in the stored block, because they may have been merged into a larger block
   *  meanwhile. */
  #placed<Part>({ rows_before, rows }: BlockRow, found: Stored<Part> | undefined): Stored<Part> & Place {
    const firstRow = found === undefined ? -1 : rows_before - found.rows_before
    if (found === undefined || firstRow < 0 || firstRow + rows > found.rows)
      throw new SluiceError(`${this.#path}: old tape was dropped during the read; run again`)
    return { ...found, firstRow }
  }

  #refuseUnreadable(row: BlockRow): void {
    if (row.format > BLOCK_FORMAT)
      throw new SluiceError(`${this.#path} has tape of a newer version of Sluice (format ${row.format}); update Sluice`)
    const late = row.format === 1 ? this.#late.get(row.last_seq) : undefined
    if (scanChecksum(row, late) !== row.checksum) throw this.#damaged(row.last_seq)
  }

  #damaged(lastSeq: Seq): SluiceError {
    return new SluiceError(
      `${this.#path} is corrupt: the checksum of its tape block up to seq ${lastSeq} does not match`,
    )
  }
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

/** Seq of a row of a block. */
export function seqAt(block: TapeBlock, row: number): Seq {
  const run = block.runs.findLast((one) => one.row <= row) as Run
  return run.seq + row - run.row
}

/** Index of the first row whose seq is at least `seq`; the length of the block if there is none. */
export function rowAt(block: TapeBlock, seq: Seq): number {
  const index = block.runs.findLastIndex((run) => run.seq <= seq)
  if (index < 0) return 0
  const run = block.runs[index] as Run
  return Math.min(block.runs[index + 1]?.row ?? block.length, run.row + seq - run.seq)
}
