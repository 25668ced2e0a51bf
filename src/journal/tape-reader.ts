import type { Database, Statement } from 'better-sqlite3'
import type { Block } from '../core/block.ts'
import { SluiceError } from '../core/errors.ts'
import type { Mints } from '../core/mints.ts'
import type { Millis, Seq } from '../core/units.ts'
import type { Slice } from './block-encoder.ts'
import { type BlockRow, checksumOf, SCAN, SCAN_COLUMNS, TEXT_COLUMNS, type TextRow } from './block-row.ts'
import { BLOCK_FORMAT } from './schema.ts'
import { partOf, type Run, TapeBlock } from './tape-block.ts'

/** A range of seqs, both ends in it; empty where `from` > `to`. */
export interface SeqRange {
  readonly from: Seq
  readonly to: Seq
}

/** Blocks of the tape, in the order of their seqs. */
export class TapeReader {
  readonly #path: string
  readonly #next: Statement<[Seq], BlockRow>
  readonly #runs: Statement<[number], Run>
  readonly #texts: Statement<[number], TextRow>
  readonly #newestFirst: Statement<[], Pick<BlockRow, 'first_seq' | 'last_seq'> & { readonly last_time: Millis }>

  constructor(path: string, db: Database) {
    this.#path = path
    this.#next = db.prepare(`SELECT checksum, ${SCAN} FROM block WHERE last_seq >= ? ORDER BY last_seq LIMIT 1`)
    this.#runs = db.prepare('SELECT row, seq FROM run WHERE block = ? ORDER BY row')
    this.#texts = db.prepare(`SELECT text_checksum, ${TEXT_COLUMNS.join(', ')} FROM block WHERE last_seq = ?`)
    this.#newestFirst = db.prepare('SELECT first_seq, last_seq, last_time FROM block ORDER BY last_seq DESC')
  }

  /** Whole blocks that hold rows of the range, one at a time. Texts of a block can be read while the journal is open and the block is not
   *  dropped from it. Throws SluiceError where a block is damaged or has a format that this program does not know. */
  *blocks(mints: Mints, { from, to }: SeqRange): Generator<TapeBlock, void, undefined> {
    for (let seq = from; seq <= to; ) {
      const row = this.#next.get(seq)
      if (row === undefined || row.first_seq > to) return
      this.#refuseUnreadable(row)
      yield new TapeBlock(row, row.runs > 1 ? this.#runs.all(row.last_seq) : [], mints, () =>
        this.#textsOf(row.last_seq),
      )
      seq = row.last_seq + 1
    }
  }

  /** The rows of the range and no others, as blocks: for those who need no seq. */
  *rows(mints: Mints, range: SeqRange): Generator<Block, void, undefined> {
    for (const block of this.blocks(mints, range)) {
      const from = rowAt(block, range.from)
      const to = rowAt(block, range.to + 1)
      if (from < to) yield partOf(block, from, to)
    }
  }

  /** The rows of the range as stretches that know their seqs. */
  *slices(mints: Mints, range: SeqRange): Generator<Slice, void, undefined> {
    for (const block of this.blocks(mints, range)) yield* slicesOf(block, range)
  }

  /** The seqs of the last `seconds` of tape, counted back from its last row. */
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

  #textsOf(lastSeq: Seq): TextRow {
    const row = this.#texts.get(lastSeq)
    if (row === undefined) throw new SluiceError(`a part of the tape was dropped from ${this.#path} while it was read`)
    if (checksumOf(TEXT_COLUMNS.map((name) => row[name])) !== row.text_checksum) throw this.#damaged(lastSeq)
    return row
  }

  #refuseUnreadable(row: BlockRow): void {
    if (row.format > BLOCK_FORMAT)
      throw new SluiceError(
        `${this.#path} holds tape of a newer Sluice (format ${row.format}); update Sluice to read it`,
      )
    if (checksumOf(SCAN_COLUMNS.map((name) => row[name])) !== row.checksum) throw this.#damaged(row.last_seq)
  }

  #damaged(lastSeq: Seq): SluiceError {
    return new SluiceError(`${this.#path} is corrupt: its tape up to seq ${lastSeq} is not what was written`)
  }
}

function* slicesOf(block: TapeBlock, range: SeqRange): Generator<Slice, void, undefined> {
  for (const [index, run] of block.runs.entries()) {
    const end = block.runs[index + 1]?.row ?? block.length
    const from = Math.max(run.row, run.row + range.from - run.seq)
    const to = Math.min(end, run.row + range.to - run.seq + 1)
    if (from < to) yield { block, from, to, firstSeq: run.seq + from - run.row }
  }
}

function seqAt(block: TapeBlock, row: number): Seq {
  const run = block.runs.findLast((one) => one.row <= row) as Run
  return run.seq + row - run.row
}

/** The first row whose seq is not below `seq`; the block's length where there is none. */
export function rowAt(block: TapeBlock, seq: Seq): number {
  const index = block.runs.findLastIndex((run) => run.seq <= seq)
  if (index < 0) return 0
  const run = block.runs[index] as Run
  return Math.min(block.runs[index + 1]?.row ?? block.length, run.row + seq - run.seq)
}
