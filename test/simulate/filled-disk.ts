import type { Database, Statement } from 'better-sqlite3'

/** The largest number of pages that SQLite allows. */
const ANY_PAGES = 4_294_967_294

/**
 * A disk with the journal's database, and with another program (the filler) that fills the disk. SQLite refuses writes
 * with which the database would exceed the disk. The database is in memory and has no log;
 * `test/journal/full-disk.test.ts` fills a real file system.
 */
export class FilledDisk {
  readonly #db: Database
  readonly #pageBytes: number
  readonly #pages: Statement<[], number>
  #mostPages = ANY_PAGES
  /** Bytes that the filler leaves unused. */
  #leftBytes = Number.POSITIVE_INFINITY

  constructor(db: Database) {
    this.#db = db
    this.#pageBytes = db.pragma('page_size', { simple: true }) as number
    this.#pages = db.prepare<[], number>('PRAGMA page_count').pluck()
  }

  get freeBytes(): number {
    return (this.#mostPages - this.#usedPages) * this.#pageBytes
  }

  /** Lets the filler write until only `leftBytes` bytes are unused. */
  fillTo(leftBytes: number): void {
    this.#leftBytes = leftBytes
    this.takeFreed()
  }

  /** Lets the filler also use the space that the database has released. */
  takeFreed(): void {
    const mostPages = this.#usedPages + Math.floor(this.#leftBytes / this.#pageBytes)
    if (mostPages < this.#mostPages) this.#limit(mostPages)
  }

  /** Removes the files of the filler. */
  empty(): void {
    this.#leftBytes = Number.POSITIVE_INFINITY
    this.#limit(ANY_PAGES)
  }

  get #usedPages(): number {
    return this.#pages.get() as number
  }

  #limit(pages: number): void {
    this.#mostPages = pages
    this.#db.pragma(`max_page_count = ${pages}`)
  }
}
