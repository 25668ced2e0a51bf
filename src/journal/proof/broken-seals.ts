import type { Database } from 'better-sqlite3'
import { rowChecksum, SEALED, type SealedTable } from '../schema/seals.ts'
import { type Finding, keyText } from './finding.ts'

const KEYS: Readonly<Record<SealedTable, readonly string[]>> = {
  segment: ['number'],
  input: ['seq'],
  output: ['seq', 'n'],
  attempt: ['id'],
  report: ['id'],
  wallet: ['account'],
  wallet_transaction: ['account', 'slot', 'signature'],
  audit: ['account', 'first_slot'],
  watch: ['attempt_id'],
  learned: ['about', 'name'],
  mark: ['account', 'mint'],
  trip_mark: ['account', 'mint'],
  net_result: ['time', 'account', 'bot'],
  slot: ['key', 'id'],
  frame: ['time', 'why'],
  missing: ['first_seq'],
  tape_day: ['day'],
}

/** Yields the rows whose checksum does not match, because they were changed after they were written. */
export function* brokenSeals(db: Database): Generator<Finding, void, undefined> {
  for (const table of Object.keys(SEALED) as SealedTable[]) {
    const columns: readonly string[] = SEALED[table]
    // Table `slot` has monotonic times in ns, which may exceed the largest integer that a double represents exactly.
    const rows = db
      .prepare(`SELECT ${columns.join(', ')}, checksum FROM ${table}`)
      .raw()
      .safeIntegers(table === 'slot')
    for (const row of rows.iterate() as IterableIterator<unknown[]>) {
      const checksum = row.pop()
      if (rowChecksum(row) === Number(checksum)) continue
      const named = Object.fromEntries(columns.map((column, index) => [column, row[index]]))
      const problem = 'the checksum does not match, so the row was changed after it was written'
      yield { table, row: keyText(KEYS[table], named), problem }
    }
  }
}
