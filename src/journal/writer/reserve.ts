import type { Database, Statement } from 'better-sqlite3'
import { isFull, type Transactions } from './transactions.ts'

const MOST_PIECE_BYTES = 2 ** 20
/** Number of pieces of the reserve after which the write-ahead log is copied into the file. Pieces are first written
 *  into the log, which must not grow beyond the disk space that was allocated for it. */
const PIECES_A_FOLD = 4

/** Empty pages of the journal's own file, kept for exits on a full disk. When they are released, the next writes can
 *  use them. They always remain part of the file, so no other program can take their space. */
export class Reserve {
  readonly #transactions: Transactions
  readonly #bytes: number
  readonly #size: Statement<[], number>
  readonly #add: Statement<[number]>
  readonly #drop: Statement

  constructor(db: Database, transactions: Transactions, bytes: number) {
    this.#transactions = transactions
    this.#bytes = bytes
    db.exec('CREATE TABLE IF NOT EXISTS reserve (piece INTEGER PRIMARY KEY, room BLOB NOT NULL)')
    this.#size = db.prepare<[], number>('SELECT coalesce(sum(length(room)), 0) FROM reserve').pluck()
    this.#add = db.prepare<[number]>('INSERT INTO reserve (room) VALUES (zeroblob(?))')
    this.#drop = db.prepare('DELETE FROM reserve')
  }

  get isWhole(): boolean {
    return (this.#size.get() as number) >= this.#bytes
  }

  /** Fills the reserve up to its full size. Returns false if the disk has no space for this. */
  fill(): boolean {
    const piece = Math.min(MOST_PIECE_BYTES, this.#bytes)
    try {
      for (let pieces = 1; !this.isWhole; pieces++) {
        this.#transactions.run(() => this.#add.run(piece))
        if (pieces % PIECES_A_FOLD === 0) this.#transactions.fold()
      }
      return true
    } catch (error) {
      if (!isFull(error)) throw error
      return false
    }
  }

  /** Releases the pages, so that later writes can use them. Call it within a transaction. */
  release(): void {
    this.#drop.run()
  }
}
