import type { Database, Statement } from 'better-sqlite3'
import type { Millis, Seq } from '../core/units.ts'

const DAY_MS = 86_400_000
/** A step takes about as long as writing so much does: a few milliseconds. */
const BLOCKS_A_STEP = 8
const ROWS_A_STEP = 32_768

interface OldBlock {
  readonly seq: Seq
  readonly rows: number
  readonly time: Millis
}

/** Drops tape older than so many days, a little at a time. Orders, fills and decisions stay for ever. */
export class Retention {
  readonly #keepMs: number
  readonly #oldest: Statement<[number], OldBlock>
  readonly #drop: Statement<[number]>
  readonly #dropRuns: Statement<[number]>
  readonly #db: Database

  constructor(db: Database, keepDays: number) {
    this.#db = db
    this.#keepMs = keepDays * DAY_MS
    this.#oldest = db.prepare('SELECT last_seq AS seq, rows, last_time AS time FROM block ORDER BY last_seq LIMIT ?')
    this.#drop = db.prepare('DELETE FROM block WHERE last_seq = ?')
    this.#dropRuns = db.prepare('DELETE FROM run WHERE block = ?')
  }

  /** Drops a few blocks that ended before `now` less the days kept, in the order in which they were written; how many. */
  step(now: Millis): number {
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
        rows += block.rows
      }
    })()
    return dropped
  }
}
