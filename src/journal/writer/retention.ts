import type { Database, Statement } from 'better-sqlite3'
import type { Millis, Seq } from '../../base/units.ts'
import { TAPE_DROPPED } from '../schema/seals.ts'
import { Statements } from '../schema/statements.ts'

const DAY_MS = 86400000
/** Number of blocks that one step drops. Together with ROWS_A_STEP, it limits a step to a few milliseconds. */
const BLOCKS_A_STEP = 8
const ROWS_A_STEP = 32768

interface OldBlock {
  readonly seq: Seq
  readonly rows: number
  readonly time: Millis
}

/** Drops old tape a little at a time. Orders, fills and decisions are never dropped. Once a day is archived, no tape is
 *  dropped any more: the archived days are older, and a tape must not have holes. */
export class Retention {
  readonly #keepMs: number
  readonly #archived: Statement
  readonly #oldest: Statement<[number], OldBlock>
  readonly #drop: Statement<[number]>
  readonly #dropRuns: Statement<[number]>
  readonly #statements: Statements
  readonly #db: Database

  constructor(db: Database, keepDays: number) {
    this.#db = db
    this.#keepMs = keepDays * DAY_MS
    this.#archived = db.prepare('SELECT 1 FROM archived_block LIMIT 1')
    this.#oldest = db.prepare('SELECT last_seq AS seq, rows, last_time AS time FROM block ORDER BY last_seq LIMIT ?')
    this.#drop = db.prepare('DELETE FROM block WHERE last_seq = ?')
    this.#dropRuns = db.prepare('DELETE FROM run WHERE block = ?')
    this.#statements = new Statements(db)
  }

  /** Drops a few blocks, oldest first, that are older than the days to keep. Returns the number of dropped blocks. */
  step(now: Millis): number {
    if (this.#archived.get() !== undefined) return 0
    const oldest = this.#oldest.all(BLOCKS_A_STEP)
    const kept = oldest.findIndex(({ time }) => time >= now - this.#keepMs)
    const old = kept < 0 ? oldest : oldest.slice(0, kept)
    if (old.length === 0) return 0
    let dropped = 0
    this.#db.transaction(() => {
      for (let rows = 0; dropped < old.length && rows < ROWS_A_STEP; dropped++) {
        const block = old[dropped] as OldBlock
        this.#drop.run(block.seq)
        this.#dropRuns.run(block.seq)
        this.#statements.run(['counter', TAPE_DROPPED, block.seq])
        rows += block.rows
      }
    })()
    return dropped
  }
}
