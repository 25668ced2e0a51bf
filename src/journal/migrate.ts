import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { guarded, noJournalAt, openForWriting, refuseStranger } from './database.ts'
import { lockJournal } from './lock.ts'
import { SCHEMA_VERSION, versionOf } from './schema/schema.ts'

/** Migrates a journal to the present schema; earlier versions cannot read it afterwards. Throws SluiceError: exit 4 if
 *  another process is writing the journal, exit 2 if there is no journal, exit 1 if the file is corrupt, newer, or not
 *  a journal. */
export function bringUpToDate(path: string): { readonly from: number; readonly to: number } {
  if (!existsSync(path)) throw noJournalAt(path)
  guarded(path, () => refuseStranger(path))
  const lock = lockJournal(path)
  try {
    const from = guarded(path, () => schemaOf(path))
    openForWriting(path).close()
    return { from, to: SCHEMA_VERSION }
  } finally {
    lock.release()
  }
}

function schemaOf(path: string): number {
  const db = new Database(path, { readonly: true, fileMustExist: true })
  try {
    return versionOf(db)
  } finally {
    db.close()
  }
}
