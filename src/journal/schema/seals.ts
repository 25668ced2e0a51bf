// A row that comes from outside of the engine, or that a replay may be unable to make again, carries a checksum of its
// columns. It is written with the row, so a later edit of the row is noticed. A CRC-32 protects from accidents and
// edits, not from a program that computes the checksum again.

import { crc32 } from 'node:zlib'
import type { Database } from 'better-sqlite3'
import { LAST_SEQ } from './stretches.ts'

/** Columns that the checksum of a row covers: all but itself. */
export const SEALED = {
  segment: ['number', 'seq', 'time', 'config', 'code', 'seed', 'json', 'ended', 'last_seq'],
  input: ['seq', 'segment', 'time', 'kind', 'json'],
  output: ['seq', 'n', 'time', 'kind', 'bot', 'mint', 'code', 'reason', 'json'],
  attempt: ['undecided', 'id', 'account', 'executor', 'state', 'signature', 'code', 'armed_at', 'json'],
  report: ['taken', 'id', 'json'],
  wallet: ['account', 'json'],
  wallet_transaction: ['account', 'slot', 'signature', 'class', 'attempt_id', 'lamports', 'time', 'json'],
  audit: ['account', 'slot', 'time', 'lamports', 'ledger', 'remainder', 'first_slot'],
  watch: ['attempt_id', 'order_id', 'progress', 'json'],
  learned: ['about', 'name', 'time', 'json'],
  mark: ['account', 'mint', 'high_price'],
  slot: ['key', 'id', 'boot', 'taken_at', 'done_at'],
  frame: ['time', 'why', 'text'],
  missing: ['first_seq', 'last_seq', 'segment', 'first_time', 'last_time', 'rows'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type SealedTable = keyof typeof SEALED

/** Checksum of a row. Integers have the same text as number and as bigint. */
export function rowChecksum(values: readonly unknown[]): number {
  let text = ''
  for (const value of values) text += value === null ? '-,' : `${String(value).length}:${value},`
  return crc32(text)
}

/** SQL of the checksum of a row whose columns are made in SQL; for statements of the writer's connection only. */
export function checksumSql(table: SealedTable, made: Readonly<Record<string, string>> = {}): string {
  return `row_checksum(${SEALED[table].map((column) => made[column] ?? column).join(', ')})`
}

/** SQL to insert a row with its checksum: one parameter for each column, and one for the checksum. */
export function sealedInsert(table: SealedTable, verb = 'INSERT'): string {
  const columns = [...SEALED[table], 'checksum']
  return `${verb} INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
}

/** Makes `row_checksum` known to a connection that writes. */
export function addRowChecksum(db: Database): void {
  const options = { varargs: true, deterministic: true, safeIntegers: true } as const
  db.function('row_checksum', options, (...values: unknown[]) => rowChecksum(values))
}

/** Counter of the last seq of the tape that was dropped because it was old. */
export const TAPE_DROPPED = 'tapeDropped'

/** Earlier versions did not count dropped tape: the first block that is left shows it. */
const DROPPED_BEFORE = `INSERT INTO counter (name, value)
SELECT '${TAPE_DROPPED}', coalesce((SELECT first_seq - 1 FROM block ORDER BY last_seq LIMIT 1), (${LAST_SEQ}))
WHERE coalesce((SELECT rows_before FROM block ORDER BY last_seq LIMIT 1), 1) > 0 AND (${LAST_SEQ}) IS NOT NULL`

/** Writes the checksums of rows of an earlier version. Each change of a table parses all views and triggers again, so
 *  these are set aside meanwhile. */
export function sealAll(db: Database): void {
  const aside = db.prepare(`SELECT type, name, sql FROM sqlite_schema WHERE type IN ('view', 'trigger')`).all()
  for (const { type, name } of aside as Record<string, string>[]) db.exec(`DROP ${type} "${name}"`)
  db.exec('ALTER TABLE segment ADD COLUMN last_seq INTEGER') // of an orderly end; NULL while it runs and after a crash
  for (const table of Object.keys(SEALED) as SealedTable[])
    db.exec(`ALTER TABLE ${table} ADD COLUMN checksum INTEGER; UPDATE ${table} SET checksum = ${checksumSql(table)}`)
  db.exec(DROPPED_BEFORE)
  for (const { sql } of aside as Record<string, string>[]) db.exec(sql as string)
}
