import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import type { Database, Statement } from 'better-sqlite3'

const PIECE = Buffer.alloc(256 * 1024)

/** Extends the journal's file before SQLite does. SQLite commits a new page into the log and gives it a place in the
 *  file only when it folds the log, much later: on a full disk that fails, and from then on the log can only grow. With
 *  the place taken before the commit, a log can always be folded, and the space of a folded log is used again. */
export class FileGrowth {
  readonly #file: number
  readonly #pageBytes: number
  readonly #pages: Statement<[], number>
  /** Pages that are known to have their place. */
  #covered = 0

  /** `db` lies in a file. */
  constructor(db: Database) {
    this.#file = openSync(db.name, 'r+')
    this.#pageBytes = db.pragma('page_size', { simple: true }) as number
    this.#pages = db.prepare<[], number>('PRAGMA page_count').pluck()
  }

  /** Gives all pages of the present transaction their place. Throws what the system says where the disk is full. */
  cover(): void {
    const pages = this.#pages.get() as number
    if (pages <= this.#covered) return
    this.#extend(pages * this.#pageBytes)
    this.#covered = pages
  }

  /** The transaction is taken back: SQLite cuts off what lies behind the last page when it folds the log. */
  forget(): void {
    this.#covered = 0
  }

  /** Whether the disk really gives so many bytes, whatever it says is free (a quota is not in that figure); they are
   *  given back. */
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

  /** To be called once the database is closed: closing any descriptor of its file drops SQLite's locks on it. */
  close(): void {
    closeSync(this.#file)
  }

  /** Zeros that are really written: a hole would have no place on the disk. */
  #extend(to: number): void {
    extend(this.#file, to)
  }
}

/** Fills an open file with zeros from its end up to `to`. Throws where the disk is full, and leaves what was
 *  written. */
export function extend(file: number, to: number): void {
  for (let at = fstatSync(file).size; at < to; ) at += writeSync(file, PIECE, 0, Math.min(PIECE.length, to - at), at)
}

/** The disk is full, or a quota is used up. */
export function isOutOfSpace(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT'
}
