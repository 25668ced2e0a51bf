import { crc32 } from 'node:zlib'
import type { Database, Statement } from 'better-sqlite3'
import type { Seq } from '../../base/units.ts'

/** Columns of table `block` that every reader needs. */
export const SCAN_COLUMNS = [
  ...(['last_seq', 'segment', 'format', 'rows', 'first_seq', 'runs', 'first_time', 'mint_count'] as const),
  ...(['kind', 'token_index', 'time', 'price', 'amount', 'size', 'stamp', 'stamp_exact', 'mints'] as const),
]

/** Numbers that few strategies look at: read when the first of them is asked for. */
export const LATE_COLUMNS = ['market_cap', 'extra', 'extra_index', 'extra2', 'extra2_index'] as const
/** As a reader asks for them: the list of mints as bytes, because a string of it would only be taken apart again. */
export const SCAN = SCAN_COLUMNS.map((name) => (name === 'mints' ? 'CAST(mints AS BLOB) AS mints' : name)).join(', ')

/** Read when the first text is asked for. */
export const TEXT_COLUMNS = ['trader', 'trader_index', 'details', 'odd', 'signature', 'signature_index'] as const

/** The columns of table `block` that a scan reads. */
export interface BlockRow {
  readonly checksum: number
  readonly segment: number
  readonly format: number
  readonly rows: number
  /** On the tape since it began. */
  readonly rows_before: number
  readonly first_seq: Seq
  readonly last_seq: Seq
  readonly runs: number
  readonly first_time: number
  readonly mint_count: number
  readonly kind: Uint8Array
  readonly token_index: Uint8Array | null
  readonly time: Uint8Array
  readonly price: Uint8Array
  readonly amount: Uint8Array
  readonly size: Uint8Array
  readonly stamp: Uint8Array
  readonly stamp_exact: number
  /** JSON. */
  readonly mints: Uint8Array
}

/** Where in a block that may have been merged with others the rows of one lie. */
export interface Place {
  readonly rows: number
  /** The first one. */
  readonly firstRow: number
}

export interface LateRow {
  readonly market_cap: Uint8Array
  readonly extra: Uint8Array
  readonly extra_index: Uint8Array | null
  readonly extra2: Uint8Array
  readonly extra2_index: Uint8Array | null
}

export interface TextRow {
  readonly text_checksum: number
  readonly trader: Uint8Array
  readonly trader_index: Uint8Array | null
  readonly details: string | null
  readonly odd: string | null
  readonly signature: Uint8Array
  readonly signature_index: Uint8Array | null
}

/** What a scan reads, and in blocks of format 1 the late columns too. */
export function scanChecksum(row: BlockRow, late: LateRow | undefined): number {
  const values: unknown[] = SCAN_COLUMNS.map((name) => row[name])
  if (late !== undefined) values.splice(-1, 0, ...LATE_COLUMNS.map((name) => late[name]))
  return checksumOf(values)
}

/** SQLite would give back a damaged page of a column without a word. */
export function checksumOf(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => crc32(value instanceof Uint8Array ? value : `${value}`, sum), 0)
}

/** As much as SQLite maps; what lies beyond is read as ever. */
const MOST_BYTES = 2 ** 31 - 65536
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
