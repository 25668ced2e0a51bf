import { existsSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { backupPath } from './copy-before-migration.ts'
import { guarded, noJournalAt, type OpenOptions, openForWriting, refuseStranger } from './database.ts'
import { lockJournal } from './lock.ts'
import { SCHEMA_VERSION, versionOf } from './schema/migrations.ts'

export interface Migration {
  readonly from: number
  readonly to: number
  /** Path of the copy of the journal before the migration; absent if none was made. */
  readonly backup?: string
}

/** Returns the schema version from which a start on this journal would migrate; undefined if no migration is needed. */
export function migratesFrom(path: string): number | undefined {
  if (!existsSync(path) || statSync(path).size === 0) return undefined
  const version = guarded(path, () => {
    refuseStranger(path)
    return schemaOf(path)
  })
  return version < SCHEMA_VERSION ? version : undefined
}

/** Migrates a journal to the present schema; earlier versions of Sluice cannot read it afterwards. Throws SluiceError:
 *  exit 4 if another process is writing the journal, exit 2 if there is no journal, exit 1 if the file is corrupt,
 *  newer, or not a journal. */
export function bringUpToDate(path: string, options: Pick<OpenOptions, 'backup' | 'sealed'> = {}): Migration {
  if (!existsSync(path)) throw noJournalAt(path)
  guarded(path, () => refuseStranger(path))
  const lock = lockJournal(path)
  try {
    const from = guarded(path, () => schemaOf(path))
    openForWriting(path, options).close()
    const isCopied = options.backup !== false && from < SCHEMA_VERSION
    return { from, to: SCHEMA_VERSION, ...(isCopied && { backup: backupPath(path, from) }) }
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
