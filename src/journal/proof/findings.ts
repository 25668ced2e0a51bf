import { type Database, SqliteError } from 'better-sqlite3'
import type { TapeReader } from '../tape/tape-reader.ts'
import { brokenSeals } from './broken-seals.ts'
import { damagedBlocks } from './damaged-blocks.ts'
import type { Finding } from './finding.ts'
import { ImpliedJournal } from './implied-journal.ts'
import { brokenSums } from './ledger-sums.ts'
import { missingRows } from './missing-rows.ts'
import { unlikeImplied } from './unlike-implied.ts'

/** Yields every row of a journal that contradicts other rows. coverage.ts shows how each table is checked. Whether the
 *  engine would make the recorded decisions again is not checked here; a replay checks this. Call this function on a
 *  snapshot. */
export function* findingsOf(db: Database, tape: TapeReader): Generator<Finding, void, undefined> {
  yield* changedRows(db, tape)
  for (const step of [contradictions(db), brokenSums(db)]) yield* readable(step)
}

/** Yields the rows and blocks whose checksum does not match, and the rows that are missing: the numbers of a table have
 *  a gap, or other rows refer to a row that does not exist. */
export function* changedRows(db: Database, tape: TapeReader): Generator<Finding, void, undefined> {
  yield* brokenSeals(db)
  for (const step of [missingRows(db), damagedBlocks(db, tape)]) yield* readable(step)
}

function* readable(step: Generator<Finding, void, undefined>): Generator<Finding, void, undefined> {
  try {
    yield* step
  } catch (error) {
    // SQLite does not name the row with the invalid JSON. The row also has a wrong checksum, so another finding names
    // it.
    if (!(error instanceof SqliteError) || !error.message.includes('malformed JSON')) throw error
    yield {
      table: 'any',
      row: 'unknown row',
      problem: 'its JSON is invalid, so the rows that depend on it were not compared',
    }
  }
}

function* contradictions(db: Database): Generator<Finding, void, undefined> {
  const implied = new ImpliedJournal(db)
  try {
    yield* implied.fold()
    yield* unlikeImplied(db, implied.db)
  } finally {
    implied.close()
  }
}
