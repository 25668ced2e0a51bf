import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import type { Database, Statement } from 'better-sqlite3'

const PIECE = Buffer.alloc(256 * 1024)

/** Extends the journal's file before SQLite does. SQLite commits new pages into the write-ahead log, and allocates them
 *  in the file only much later, when it copies the log into the file. On a full disk that copy fails, and from then on
 *  the log only grows. If the pages are allocated before the commit, the log can always be copied, and its space can be
 *  reused. */
export class FileGrowth {
  readonly #file: number
  readonly #pageBytes: number
  readonly #pages: Statement<[], number>
  /** Number of pages that are known to be allocated. */
  #covered = 0

  /** `db` must be in a file, not in memory. */
  constructor(db: Database) {
    this.#file = openSync(db.name, 'r+')
    this.#pageBytes = db.pragma('page_size', { simple: true }) as number
    this.#pages = db.prepare<[], number>('PRAGMA page_count').pluck()
  }

  /** Allocates all pages of the current transaction. Throws the system's error if the disk is full. */
  cover(): void {
    const pages = this.#pages.get() as number
    if (pages <= this.#covered) return
    this.#extend(pages * this.#pageBytes)
    this.#covered = pages
  }

  /** Forgets which pages are allocated. Call this after a rollback: the next copy of the log into the file then
   *  truncates the file after its last used page. */
  forget(): void {
    this.#covered = 0
  }

  /** Tests whether the disk really provides this many bytes, and frees them again. The free space that the system
   *  reports does not consider quotas. */
  canTake(bytes: number): boolean {
    const { size } = fstatSync(this.#file)
    try {
      this.#extend(size + bytes)
      return true
    } catch (error) {
      if (!isOutOfSpace(error)) throw error
      return false
    } finally {
      ftruncateSync(this.#file, size)
    }
  }

  /** Closes the file. Call it after the database is closed, because closing any descriptor of its file drops SQLite's
   *  locks. */
  close(): void {
    closeSync(this.#file)
  }

  /** Extends the file by writing zeros, because a hole in the file would not be allocated. */
  #extend(to: number): void {
    extend(this.#file, to)
  }
}

/** Fills an open file with zeros from its end to `to`. If the disk is full, throws and keeps the zeros written so
 *  far. */
export function extend(file: number, to: number): void {
  for (let at = fstatSync(file).size; at < to; ) at += writeSync(file, PIECE, 0, Math.min(PIECE.length, to - at), at)
}

/** Whether an error means that the disk or a quota is full. */
export function isOutOfSpace(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT'
}
