import type { Database, Statement } from 'better-sqlite3'
import { SluiceError } from '../../base/errors.ts'
import type { Millis, Seq } from '../../base/units.ts'
import { Mints } from '../../market/mints.ts'
import { BLOCK_FORMAT } from '../schema/migrations.ts'
import { type BlockEncoder, type EncodedBlock, MAX_SPAN_MS } from '../tape/block-encoder.ts'
import { BLOCK_COLUMNS, checksumOf } from '../tape/block-row.ts'
import { slicesOf, TapeReader } from '../tape/tape-reader.ts'
import type { Transactions } from './transactions.ts'

/** Writes blocks of the tape. */
export class BlockStore {
  readonly #insert: Statement
  readonly #insertRun: Statement
  #rows: number

  constructor(db: Database) {
    this.#insert = db.prepare(
      `INSERT INTO block (${BLOCK_COLUMNS.join(', ')}) VALUES (${BLOCK_COLUMNS.map(() => '?').join(', ')})`,
    )
    this.#insertRun = db.prepare('INSERT INTO run (block, row, seq) VALUES (?, ?, ?)')
    const rows = db.prepare('SELECT rows_before + rows FROM block ORDER BY last_seq DESC LIMIT 1').pluck().get()
    this.#rows = (rows as number | undefined) ?? 0
  }

  /** Writes a block. By default, appends it to the tape. If the block replaces deleted blocks, `rowsBefore` is the
   *  number of rows of the tape before it. Call `wrote` once the transaction is durable. */
  insert(segment: number, block: EncodedBlock, rowsBefore = this.#rows): void {
    const { extra, extra2, trader, signature } = block
    const scan = [
      ...[block.lastSeq, segment, BLOCK_FORMAT, block.rows, block.firstSeq, block.runs.length],
      ...[block.firstTime, block.mints.length, block.kind, block.token, block.time],
      ...[block.price.entries, block.amount.entries, block.size.entries],
      ...[block.stamp, block.stampExact ? 1 : 0, JSON.stringify(block.mints)],
    ]
    const late = [block.marketCap.entries, extra.entries, extra.index, extra2.entries, extra2.index]
    const texts = [
      ...[trader.entries, trader.index, jsonOf(block.details), jsonOf(block.odd)],
      ...[signature.entries, signature.index],
    ]
    this.#insert.run(
      ...[block.lastTime, rowsBefore, ...scan, checksumOf(scan), ...late, checksumOf(late)],
      ...[...texts, checksumOf(texts)],
    )
    for (const { row, seq } of block.runs.slice(1)) this.#insertRun.run(block.lastSeq, row, seq)
  }

  wrote(rows: number): void {
    this.#rows += rows
  }
}

function jsonOf(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value)
}

/** Maximum number of rows in a merged block, by level. A live recording writes a block every 200 ms. Many of these
 *  small blocks are merged into one of the first level, and many of those into one of the second. Each row is therefore
 *  written three times, and no step takes longer than a few milliseconds. */
const LEVEL_ROWS = [1024, 8192] as const
/** Maximum number of blocks that one step reads. */
const MOST_BLOCKS = 64

interface SmallBlock {
  readonly segment: number
  readonly format: number
  readonly rows: number
  readonly rowsBefore: number
  readonly firstSeq: Seq
  readonly lastSeq: Seq
  readonly firstTime: Millis
  readonly lastTime: Millis
}

/** Merges small blocks of the tape into large ones, a few at a time. Large blocks take less disk space and much less
 *  time to read. Rows, seqs and times do not change, and a block contains rows of one segment only. */
export class Compaction {
  readonly #tape: TapeReader
  readonly #store: BlockStore
  readonly #transactions: Transactions
  readonly #next: Statement<[Seq, Seq, number], SmallBlock>
  readonly #drop: Statement<[Seq, Seq]>
  readonly #dropRuns: Statement<[Seq, Seq]>
  /** For each level, the seq up to which all blocks have been merged. */
  readonly #done: Seq[] = LEVEL_ROWS.map(() => 0)

  constructor(db: Database, store: BlockStore, transactions: Transactions) {
    this.#store = store
    this.#transactions = transactions
    this.#tape = new TapeReader(db.name, db)
    this.#next = db.prepare(
      `SELECT segment, format, rows, rows_before AS rowsBefore, first_seq AS firstSeq, last_seq AS lastSeq,
         first_time AS firstTime, last_time AS lastTime
       FROM block WHERE last_seq > ? AND last_seq <= ? ORDER BY last_seq LIMIT ?`,
    )
    this.#drop = db.prepare('DELETE FROM block WHERE last_seq BETWEEN ? AND ?')
    this.#dropRuns = db.prepare('DELETE FROM run WHERE block BETWEEN ? AND ?')
  }

  /** Merges one group of blocks in its own transaction. Returns the number of rows written; 0 if there was nothing to
   *  merge. `encoder` must be empty, and is empty afterwards. Throws SQLite's error if the write fails. */
  step(encoder: BlockEncoder): number {
    for (const level of LEVEL_ROWS.keys()) {
      const group = this.#groupOf(level)
      const last = group.at(-1)
      if (last === undefined) continue
      const rows = this.#merge(group, encoder)
      this.#done[level] = last.lastSeq
      return rows
    }
    return 0
  }

  /** Returns consecutive blocks to merge into a larger one; empty if there are none. Blocks at the end of the tape are
   *  not merged until there are enough of them. */
  #groupOf(level: number): SmallBlock[] {
    const mostRows = LEVEL_ROWS[level] as number
    const upTo = this.#done[level - 1] ?? Number.MAX_SAFE_INTEGER
    const blocks = this.#next.all(this.#done[level] as Seq, upTo, MOST_BLOCKS)
    let group: SmallBlock[] = []
    let rows = 0
    for (const block of blocks) {
      if (group.length > 0 && (rows + block.rows > mostRows || !belongTogether(group, block))) {
        if (group.length > 1) return group
        this.#done[level] = (group[0] as SmallBlock).lastSeq
        group = []
        rows = 0
      }
      if (block.rows >= mostRows || block.format > BLOCK_FORMAT) this.#done[level] = block.lastSeq
      else {
        group.push(block)
        rows += block.rows
      }
    }
    return group.length === MOST_BLOCKS ? group : []
  }

  #merge(group: readonly SmallBlock[], encoder: BlockEncoder): number {
    const [first, last] = [group[0] as SmallBlock, group.at(-1) as SmallBlock]
    const range = { from: first.firstSeq, to: last.lastSeq }
    try {
      for (const block of this.#tape.blocks(new Mints(), range))
        for (const slice of slicesOf(block, range)) encoder.add(slice)
      const { rows } = encoder
      this.#transactions.run(() => {
        this.#drop.run(first.lastSeq, last.lastSeq)
        this.#dropRuns.run(first.lastSeq, last.lastSeq)
        this.#store.insert(first.segment, encoder.finish(), first.rowsBefore)
      })
      return rows
    } catch (error) {
      if (error instanceof SluiceError) return 0 // a damaged block stays, so that its readers report it
      throw error
    } finally {
      encoder.clear()
    }
  }
}

/** Whether a block directly follows a group of blocks. It does not if blocks between them were moved to the file of a
 *  day. */
function belongTogether(group: readonly SmallBlock[], block: SmallBlock): boolean {
  const [first, last] = [group[0] as SmallBlock, group.at(-1) as SmallBlock]
  const isNext = block.segment === last.segment && block.rowsBefore === last.rowsBefore + last.rows
  return isNext && block.lastTime - first.firstTime <= MAX_SPAN_MS
}
