import { crc32 } from 'node:zlib'
import type { Database, Statement } from 'better-sqlite3'
import type { Seq } from '../../base/units.ts'

/** Columns of table `block` that every reader of the tape needs. */
export const SCAN_COLUMNS = [
  ...(['last_seq', 'segment', 'format', 'rows', 'first_seq', 'runs', 'first_time', 'mint_count'] as const),
  ...(['kind', 'token_index', 'time', 'price', 'amount', 'size', 'stamp', 'stamp_exact', 'mints'] as const),
]

/** Number columns that few strategies read. They are loaded on first access. */
export const LATE_COLUMNS = ['market_cap', 'extra', 'extra_index', 'extra2', 'extra2_index'] as const
/** Columns of a scan as SQL. Mints are selected as bytes, because decoding them to a string would be wasted work. */
export const SCAN = SCAN_COLUMNS.map((name) => (name === 'mints' ? 'CAST(mints AS BLOB) AS mints' : name)).join(', ')

/** Columns with texts. They are loaded on first access to a text. */
export const TEXT_COLUMNS = ['trader', 'trader_index', 'details', 'odd', 'signature', 'signature_index'] as const

/** All columns of table `block`. */
export const BLOCK_COLUMNS = [
  ...['last_time', 'rows_before', ...SCAN_COLUMNS, 'checksum', ...LATE_COLUMNS, 'late_checksum'],
  ...[...TEXT_COLUMNS, 'text_checksum'],
]

/** Selects all columns of a block, unchanged, by its `last_seq`. */
export const BLOCK_AS_STORED = `SELECT ${BLOCK_COLUMNS.join(', ')} FROM block WHERE last_seq = ?`

/** Columns of table `block` that a scan reads. */
export interface BlockRow {
  readonly checksum: number
  readonly segment: number
  readonly format: number
  readonly rows: number
  /** Number of rows that preceded this block since the tape began. */
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
  /** JSON list of mints, as bytes. */
  readonly mints: Uint8Array
}

/** Position that some rows had in a stored block when they were read. A writer may have merged the block with others
 *  since then. */
export interface Place {
  readonly rows: number
  /** Index of the first of the `rows` rows in the block. */
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

/** Returns the checksum of the columns that every reader needs. In blocks of format 1 it also covers the columns that
 *  are loaded later. */
export function scanChecksum(row: BlockRow, late: LateRow | undefined): number {
  const values: unknown[] = SCAN_COLUMNS.map((name) => row[name])
  if (late !== undefined) values.splice(-1, 0, ...LATE_COLUMNS.map((name) => late[name]))
  return checksumOf(values)
}

/** Computes a CRC-32 of column values. It is needed because SQLite returns a damaged page without an error. */
export function checksumOf(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => crc32(value instanceof Uint8Array ? value : `${value}`, sum), 0)
}

/** Selects a block with all columns, by its `last_seq`. */
export const WHOLE_BLOCK = `SELECT checksum, rows_before, ${SCAN}, ${[...LATE_COLUMNS, ...TEXT_COLUMNS].join(', ')}, late_checksum, text_checksum FROM block WHERE last_seq = ?`

export type WholeBlock = BlockRow & LateRow & TextRow & { readonly late_checksum: number | null }

/** Whether all checksums of a block match its columns. */
export function isSound(row: WholeBlock): boolean {
  const late = LATE_COLUMNS.map((name) => row[name])
  return (
    scanChecksum(row, row.format === 1 ? row : undefined) === row.checksum &&
    (row.format === 1 || checksumOf(late) === row.late_checksum) &&
    checksumOf(TEXT_COLUMNS.map((name) => row[name])) === row.text_checksum
  )
}

/** Maximum number of bytes of the file that SQLite maps; the rest is read normally. */
const MOST_BYTES = 2 ** 31 - 65536
/** Mapped pages are released after this many bytes, so that a long tape uses no more memory than a short one. */
const WINDOW_BYTES = 8 * 2 ** 20

/** Maps the file of a database into memory, and releases the mapped pages after some bytes. */
export class MapWindow {
  readonly #db: Database
  readonly #windowBytes: number
  #bytes = 0

  /** `windowBytes`: number of bytes that may stay mapped. */
  constructor(db: Database, windowBytes = WINDOW_BYTES) {
    this.#db = db
    this.#windowBytes = windowBytes
    this.#map()
  }

  /** Counts the bytes of a row that was read, and sometimes releases mapped pages. No statement of the database may be
   *  open then. */
  took(row: object): void {
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

/** Reads blocks through a memory map, without a system call for each page. This makes reading a tape four times
 *  cheaper. It is used only by readers of the whole tape, never by a bot that trades, because a truncation of the file
 *  would crash the process. Mapped pages are not released while a statement is open, so each block is read with a
 *  statement of its own. All blocks are read within one transaction, so that they form a snapshot although a writer may
 *  merge blocks meanwhile. */
export class MappedScan {
  readonly #db: Database
  readonly #window: MapWindow
  readonly #next: Statement<[number], BlockRow>
  #scans = 0

  /** `windowBytes`: see MapWindow. */
  constructor(db: Database, windowBytes?: number) {
    this.#db = db
    this.#window = new MapWindow(db, windowBytes)
    this.#next = db.prepare(
      `SELECT checksum, rows_before, ${SCAN} FROM block WHERE last_seq >= ? ORDER BY last_seq LIMIT 1`,
    )
  }

  *from(seq: number): Generator<BlockRow, void, undefined> {
    if (this.#scans++ === 0) this.#db.exec('BEGIN')
    try {
      for (let row = this.#next.get(seq); row !== undefined; row = this.#next.get(row.last_seq + 1)) {
        this.#window.took(row)
        yield row
      }
    } finally {
      if (--this.#scans === 0 && this.#db.open) this.#db.exec('COMMIT')
    }
  }
}
