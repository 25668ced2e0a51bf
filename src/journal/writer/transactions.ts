import { type Database, SqliteError, type Statement } from 'better-sqlite3'
import { FileGrowth, isOutOfSpace } from './file-growth.ts'

/** Runs the transactions of the one connection that writes a journal. */
export class Transactions {
  readonly #db: Database
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #growth: FileGrowth | undefined

  /** `grows`: whether space in the file is allocated for each page before the page is committed, see FileGrowth. */
  constructor(db: Database, grows: boolean) {
    this.#db = db
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
    this.#growth = grows && !db.memory ? new FileGrowth(db) : undefined
  }

  /** Runs `work` in a transaction. Throws the error of `work`, or of the disk. */
  run(work: () => void): void {
    this.#begin.run()
    try {
      work()
      this.#growth?.cover()
      this.#commit.run()
    } catch (error) {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK')
      this.#growth?.forget()
      throw error
    }
  }

  /** Copies the write-ahead log into the file, so that the next write starts at the beginning of the log. Waits a
   *  limited time for readers. */
  fold(): void {
    try {
      if (!this.#db.memory) this.#db.pragma('wal_checkpoint(RESTART)')
    } catch (error) {
      if (!isFull(error)) throw error // the log stays unchanged
    }
  }

  /** Whether the disk really provides this many bytes. */
  canTake(bytes: number): boolean {
    return this.#growth?.canTake(bytes) ?? true
  }

  /** Closes the file and drops the records that are not durable. */
  close(): void {
    this.#db.close()
    this.#growth?.close()
  }
}

/** Whether an error means that the disk has no space for a write. */
export function isFull(error: unknown): boolean {
  return (error instanceof SqliteError && error.code.startsWith('SQLITE_FULL')) || isOutOfSpace(error)
}
