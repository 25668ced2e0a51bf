// A row has a checksum of its columns if it comes from outside of the engine, or if a replay may be unable to compute
// it again. The checksum is written together with the row and reveals a later change of the row. A CRC-32 protects
// against accidents and manual edits, but not against a program that also computes a new checksum.

import { crc32 } from 'node:zlib'
import type { Database } from 'better-sqlite3'
import { LAST_SEQ } from './stretches.ts'

/** For each table, the columns that the checksum of a row covers: all except the checksum itself. */
export const SEALED = {
  segment: ['number', 'seq', 'time', 'config', 'code', 'seed', 'json', 'ended', 'last_seq'],
  input: ['seq', 'segment', 'time', 'kind', 'json'],
  output: ['seq', 'n', 'time', 'kind', 'bot', 'mint', 'code', 'reason', 'json'],
  attempt: [
    ...(['undecided', 'id', 'account', 'executor', 'state', 'signature', 'code', 'armed_at'] as const),
    ...(['slippage_percent', 'priority_fee_lamports', 'json'] as const),
  ],
  report: ['taken', 'id', 'json'],
  wallet: ['account', 'json'],
  wallet_transaction: ['account', 'slot', 'signature', 'class', 'attempt_id', 'lamports', 'time', 'json'],
  audit: ['account', 'slot', 'time', 'lamports', 'ledger', 'remainder', 'first_slot'],
  watch: ['attempt_id', 'order_id', 'progress', 'json'],
  learned: ['about', 'name', 'time', 'json'],
  mark: ['account', 'mint', 'high_price'],
  trip_mark: ['account', 'mint', 'best_lamports', 'best_percent', 'worst_lamports', 'worst_percent'],
  net_result: ['time', 'account', 'bot', 'net_lamports'],
  slot: ['key', 'id', 'boot', 'taken_at', 'done_at'],
  frame: ['time', 'why', 'text'],
  missing: ['first_seq', 'last_seq', 'segment', 'first_time', 'last_time', 'rows'],
  tape_day: [
    ...(['day', 'journal', 'first_seq', 'last_seq', 'first_time', 'last_time'] as const),
    ...(['blocks', 'rows', 'bytes', 'sha256', 'whole'] as const),
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type SealedTable = keyof typeof SEALED

/** Tables that were added after the checksums, so that all their rows have one. */
const NEWER: ReadonlySet<string> = new Set<SealedTable>(['trip_mark', 'tape_day', 'net_result'])

/** Computes the checksum of a row. An integer gives the same checksum as number and as bigint. */
export function rowChecksum(values: readonly unknown[]): number {
  let text = ''
  for (const value of values) text += value === null ? '-,' : `${String(value).length}:${value},`
  return crc32(text)
}

/** Returns the SQL of the checksum of a row. `made`: for columns whose values the statement itself computes, the SQL of
 *  these values. Works only on connections with `row_checksum`, see `addRowChecksum`. */
export function checksumSql(table: SealedTable, made: Readonly<Record<string, string>> = {}): string {
  return checksumSqlOf(SEALED[table].map((column) => made[column] ?? column))
}

/** The same for columns of any table, or for SQL in their place. */
export function checksumSqlOf(columns: readonly string[]): string {
  return `row_checksum(${columns.join(', ')})`
}

/** Returns the SQL to insert a row with its checksum: one parameter for each column, and one for the checksum. */
export function sealedInsert(table: SealedTable, verb = 'INSERT'): string {
  const columns = [...SEALED[table], 'checksum']
  return `${verb} INTO main.${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
}

/** Defines the SQL function `row_checksum` on a connection that writes. `computed` is called for each checksum. */
export function addRowChecksum(db: Database, computed: () => void = () => {}): void {
  const options = { varargs: true, deterministic: true, safeIntegers: true } as const
  db.function('row_checksum', options, (...values: unknown[]) => {
    computed()
    return rowChecksum(values)
  })
}

/** Name of the counter with the highest seq whose row was dropped from the tape because of its age. */
export const TAPE_DROPPED = 'tapeDropped'

/** Sets the counter `TAPE_DROPPED` in a journal of an earlier version, which did not count dropped rows. The first
 *  remaining block shows how many rows were dropped. */
const DROPPED_BEFORE = `INSERT INTO counter (name, value)
SELECT '${TAPE_DROPPED}', coalesce((SELECT first_seq - 1 FROM block ORDER BY last_seq LIMIT 1), (${LAST_SEQ}))
WHERE coalesce((SELECT rows_before FROM block ORDER BY last_seq LIMIT 1), 1) > 0 AND (${LAST_SEQ}) IS NOT NULL`

/** Receives the number of rows that have a checksum now, and the total number. */
export type SealReport = (rows: number, of: number) => void

/** Number of rows between two reports of progress. */
const REPORT_ROWS = 1_000

/** Adds checksums to the rows of a journal of an earlier version. Views and triggers are removed meanwhile, because
 *  SQLite would parse all of them again after each change of a table. */
export function sealAll(db: Database, report: SealReport = () => {}): void {
  const tables = (Object.keys(SEALED) as SealedTable[]).filter((table) => !NEWER.has(table))
  const of = tables.reduce(
    (sum, table) => sum + (db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number),
    0,
  )
  let rows = 0
  addRowChecksum(db, () => {
    if (rows++ % REPORT_ROWS === 0) report(rows, of)
  })
  const aside = db.prepare(`SELECT type, name, sql FROM sqlite_schema WHERE type IN ('view', 'trigger')`).all()
  for (const { type, name } of aside as Record<string, string>[]) db.exec(`DROP ${type} "${name}"`)
  // last_seq: seq of the row at which the process ended in an orderly way; NULL while the segment runs and after a
  // crash
  db.exec('ALTER TABLE segment ADD COLUMN last_seq INTEGER')
  for (const table of tables) {
    const names = db.prepare(`SELECT name FROM pragma_table_info('${table}')`).pluck().all()
    const columns = SEALED[table].filter((name) => names.includes(name)) // later versions add the others
    db.exec(
      `ALTER TABLE ${table} ADD COLUMN checksum INTEGER; UPDATE ${table} SET checksum = ${checksumSqlOf(columns)}`,
    )
  }
  addRowChecksum(db)
  db.exec(DROPPED_BEFORE)
  for (const { sql } of aside as Record<string, string>[]) db.exec(sql as string)
}
