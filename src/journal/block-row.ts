import { crc32 } from 'node:zlib'
import type { Seq } from '../core/units.ts'

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
