import type { Database, Statement } from 'better-sqlite3'
import { type BlockRow, SCAN } from './block-row.ts'

/** As much as SQLite maps; what lies beyond is read as ever. */
const MOST_BYTES = 2 ** 31 - 65_536
/** What was read is let go of after so much, so that a long tape takes no more memory than a short one. */
const WINDOW_BYTES = 8 * 2 ** 20

/** Reads blocks where the system's cache has them, without a call for each of their pages: a quarter of what reading a tape costs. For
 *  whoever reads all of it, and no bot that trades: a file that somebody cuts short meanwhile ends the process.
 *
 *  Nothing is let go of while a statement is open, so the blocks are asked for one by one, in one transaction: all as they were when the
 *  first was read, though a writer may merge some meanwhile. */
export class MappedScan {
  readonly #db: Database
  readonly #windowBytes: number
  readonly #next: Statement<[number], BlockRow>
  #scans = 0
  #bytes = 0

  /** `windowBytes`: what is kept mapped, and more by a block. */
  constructor(db: Database, windowBytes = WINDOW_BYTES) {
    this.#db = db
    this.#windowBytes = windowBytes
    this.#next = db.prepare(
      `SELECT checksum, rows_before, ${SCAN} FROM block WHERE last_seq >= ? ORDER BY last_seq LIMIT 1`,
    )
    this.#map()
  }

  *from(seq: number): Generator<BlockRow, void, undefined> {
    if (this.#scans++ === 0) this.#db.exec('BEGIN')
    try {
      for (let row = this.#next.get(seq); row !== undefined; row = this.#next.get(row.last_seq + 1)) {
        this.#read(row)
        yield row
      }
    } finally {
      if (--this.#scans === 0 && this.#db.open) this.#db.exec('COMMIT')
    }
  }

  #read(row: BlockRow): void {
    for (const value of Object.values(row)) if (value instanceof Uint8Array) this.#bytes += value.length
    if (this.#bytes < this.#windowBytes) return
    this.#bytes = 0
    this.#db.pragma('mmap_size = 0')
    this.#map()
  }

  #map(): void {
    this.#db.pragma(`mmap_size = ${MOST_BYTES}`)
  }
}
