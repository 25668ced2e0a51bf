import type { Database, Statement } from 'better-sqlite3'
import type { Millis } from '../core/units.ts'

const DAY_MS = 86_400_000
/** A step takes about as long as writing so much does: a few milliseconds. */
const BLOCKS_A_STEP = 8
const ROWS_A_STEP = 32_768

/** Drops tape older than so many days, a little at a time. Orders, fills and decisions stay for ever. */
export class Retention {
  readonly #keepMs: number
  readonly #oldest: Statement<[Millis, number], { id: number; rows: number }>
  readonly #drop: Statement<[number]>
  readonly #dropRuns: Statement<[number]>
  readonly #db: Database

  constructor(db: Database, keepDays: number) {
    this.#db = db
    this.#keepMs = keepDays * DAY_MS
    this.#oldest = db.prepare('SELECT id, rows FROM block WHERE last_time < ? ORDER BY last_time LIMIT ?')
    this.#drop = db.prepare('DELETE FROM block WHERE id = ?')
    this.#dropRuns = db.prepare('DELETE FROM run WHERE block = ?')
  }

  /** Drops a few blocks that ended before `now` less the days kept; how many. */
  step(now: Millis): number {
    const old = this.#oldest.all(now - this.#keepMs, BLOCKS_A_STEP)
    if (old.length === 0) return 0
    let dropped = 0
    this.#db.transaction(() => {
      for (let rows = 0; dropped < old.length && rows < ROWS_A_STEP; dropped++) {
        const block = old[dropped] as { id: number; rows: number }
        this.#drop.run(block.id)
        this.#dropRuns.run(block.id)
        rows += block.rows
      }
    })()
    return dropped
  }
}
