import type { Database, Statement } from 'better-sqlite3'
import { isFull, type Transactions } from './transactions.ts'

const MOST_PIECE_BYTES = 2 ** 20
/** A piece is written into the log first: it is folded before it outgrows the room that it has. */
const PIECES_A_FOLD = 4

/** Pages of the journal's own file that hold nothing, kept for exits on a full disk. Released, they are free for what
 *  is written next, and they never leave the file: another program that fills the same disk cannot get them. */
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

  /** Adds what is missing; false where the disk does not give it. */
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

  /** Within a transaction: its pages are for what is written from here on. */
  release(): void {
    this.#drop.run()
  }
}
