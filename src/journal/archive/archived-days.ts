import type { Database, Statement } from 'better-sqlite3'
import type { Seq } from '../../base/units.ts'
import { MapWindow } from '../tape/block-row.ts'
import { type BlockHead, dayPath, differenceOf, HEAD, openDay, type TapeDay, UnreadableDay } from './day-file.ts'

/** What the journal still contains of an archived block, and the day whose file contains the rest of the block. */
export type ArchivedHead = BlockHead & { readonly day: string }

/** Number of heads that are read at a time. A head is what the journal keeps of an archived block. */
const HEADS_A_PAGE = 256
/** Maximum number of days' files that stay open. There are several, because two readers may read different days
 *  alternately. */
const MOST_OPEN = 4

/** The archived blocks of a journal. Opens the file of a day when one of its blocks is needed. */
export class ArchivedDays {
  readonly #path: string
  readonly #db: Database
  readonly #isMapped: boolean
  readonly #heads: Statement<[Seq, Seq, number], ArchivedHead>
  readonly #day: Statement<[string], TapeDay>
  /** Open files; the most recently used one is last. */
  readonly #open = new Map<string, OpenFile>()

  /** `isMapped`: reads the files through a memory map, see MappedScan. */
  constructor(path: string, db: Database, isMapped: boolean) {
    this.#path = path
    this.#db = db
    this.#isMapped = isMapped
    this.#heads = db.prepare(
      `SELECT ${HEAD}, day FROM archived_block WHERE last_seq >= ? AND first_seq <= ? ORDER BY last_seq LIMIT ?`,
    )
    this.#day = db.prepare('SELECT * FROM tape_day WHERE day = ?')
  }

  /** Yields the archived blocks with rows between two seqs, in order. They are read in pages, each by one call, because
   *  a memory map cannot be released while a statement is open. */
  *heads(from: Seq, to: Seq): Generator<ArchivedHead, void, undefined> {
    for (let next = from; ; ) {
      const page = this.#heads.all(next, to, HEADS_A_PAGE)
      yield* page
      if (page.length < HEADS_A_PAGE) return
      next = (page.at(-1) as ArchivedHead).last_seq + 1
    }
  }

  /** Returns the archived block that contains a seq. If there is none, returns the first archived block after the
   *  seq. */
  headAt(seq: Seq): ArchivedHead | undefined {
    return this.#heads.get(seq, Number.MAX_SAFE_INTEGER, 1)
  }

  /** Returns a prepared statement for a query on the file of a day. Throws UnreadableDay if the file is missing or was
   *  changed. */
  statement(day: string, sql: string): Statement<unknown[], object> {
    return this.#fileOf(day).statement(sql)
  }

  /** Returns the first row of a query on the file of a day. */
  get<T extends object>(day: string, sql: string, ...params: unknown[]): T | undefined {
    const file = this.#fileOf(day)
    const row = file.statement(sql).get(...params)
    if (row !== undefined) file.took(row)
    return row as T | undefined
  }

  /** Returns the reason why the file of a day cannot be read, as a clause; '' if it can be read. */
  problemOf(day: string): string {
    const recorded = this.#day.get(day)
    if (recorded === undefined) return 'is not recorded in the journal'
    return differenceOf(dayPath(this.#path, day), recorded)
  }

  close(): void {
    for (const file of this.#open.values()) file.close()
    this.#open.clear()
  }

  #fileOf(day: string): OpenFile {
    const file = this.#open.get(day) ?? this.#opened(day)
    this.#open.delete(day)
    this.#open.set(day, file)
    for (const [oldest, one] of this.#open) {
      if (this.#open.size <= MOST_OPEN) break
      one.close()
      this.#open.delete(oldest)
    }
    return file
  }

  #opened(day: string): OpenFile {
    if (!this.#db.open) throw new UnreadableDay(this.#path, day, 'cannot be read after its journal was closed')
    const problem = this.problemOf(day)
    if (problem !== '') throw new UnreadableDay(this.#path, day, problem)
    return new OpenFile(openDay(dayPath(this.#path, day)).db, this.#isMapped)
  }
}

class OpenFile {
  readonly #db: Database
  readonly #window: MapWindow | undefined
  readonly #statements = new Map<string, Statement<unknown[], object>>()

  constructor(db: Database, isMapped: boolean) {
    this.#db = db
    this.#window = isMapped ? new MapWindow(db) : undefined
  }

  statement(sql: string): Statement<unknown[], object> {
    const statement = this.#statements.get(sql) ?? this.#db.prepare<unknown[], object>(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  /** Counts a row that was read. After some rows, the memory map releases its pages. */
  took(row: object): void {
    this.#window?.took(row)
  }

  close(): void {
    this.#db.close()
  }
}
