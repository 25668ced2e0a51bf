import type { Database, Statement } from 'better-sqlite3'
import { SluiceError } from '../core/errors.ts'
import { Mints } from '../core/mints.ts'
import type { Millis, Seq } from '../core/units.ts'
import { type BlockEncoder, MAX_SPAN_MS } from './block-encoder.ts'
import type { BlockStore } from './block-store.ts'
import { BLOCK_FORMAT } from './schema.ts'
import { slicesOf, TapeReader } from './tape-reader.ts'
import type { Transactions } from './transactions.ts'

/** A live recording has a block for every 200 ms. First many of those become one, then many of these: a row is written three times in
 *  all, and no step takes longer than a few milliseconds. */
const LEVEL_ROWS = [1_024, 8_192] as const
/** Looked at in a step. */
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

/** Merges small blocks of the tape into large ones, a few at a time: a large one costs less disk, and a fraction of the time to read. Rows,
 *  their seqs and their times stay as they are, and a block stays within its segment. */
export class Compaction {
  readonly #tape: TapeReader
  readonly #store: BlockStore
  readonly #transactions: Transactions
  readonly #next: Statement<[Seq, Seq, number], SmallBlock>
  readonly #drop: Statement<[Seq, Seq]>
  readonly #dropRuns: Statement<[Seq, Seq]>
  /** Of each level, the seq up to which nothing is left to merge. */
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

  /** Merges one group of blocks, in a transaction of its own; how many rows were written, 0 where there was nothing to do. `encoder` is
   *  empty, and empty again afterwards. Throws what SQLite says when it cannot write. */
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

  /** Blocks to merge: as many in a row as make a large one. The last ones on the tape wait until there are enough. */
  #groupOf(level: number): SmallBlock[] {
    const mostRows = LEVEL_ROWS[level] as number
    const upTo = this.#done[level - 1] ?? Number.MAX_SAFE_INTEGER
    const blocks = this.#next.all(this.#done[level] as Seq, upTo, MOST_BLOCKS)
    let group: SmallBlock[] = []
    let rows = 0
    for (const block of blocks) {
      if (group.length > 0 && (rows + block.rows > mostRows || !belongTogether(group[0] as SmallBlock, block))) {
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
      if (error instanceof SluiceError) return 0 // damaged: it stays as it is, for whoever reads it to be told
      throw error
    } finally {
      encoder.clear()
    }
  }
}

function belongTogether(first: SmallBlock, block: SmallBlock): boolean {
  return block.segment === first.segment && block.lastTime - first.firstTime <= MAX_SPAN_MS
}
