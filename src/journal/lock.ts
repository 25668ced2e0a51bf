import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { ExitCode, SluiceError } from '../base/errors.ts'
import { guarded } from './database.ts'

/** Thrown if another process holds the lock. */
export class InUse extends SluiceError {
  /** Text about the process that holds the lock: `process 12, started 2026-07-01T12:00:00.000Z`. */
  readonly holder: string

  constructor(what: string, holder: string) {
    super(`${what} is in use by ${holder}`, ExitCode.unsafe)
    this.holder = holder
  }
}

/** Locks that this process holds. The list keeps references to the locks' databases, because garbage collection of a
 *  database would close the database and release the lock. */
const held = new Set<Database.Database>()

/** A lock that is held until `release` or until the process ends. The operating system also releases it after kill
 *  -9. */
export interface Lock {
  release(): void
}

/** A lock that stores whether its resource, such as a wallet, was ever used. */
export interface MarkedLock extends Lock {
  /** Whether no process has ever called `markUsed` for this resource. */
  readonly isUnused: boolean
  /** Marks the resource as used. The mark is durable when the call returns. */
  markUsed(): void
}

/** Takes the lock that prevents a second process from writing a journal; readers do not need it. Throws SluiceError:
 *  exit 4, with the holder's name, if the lock is held; exit 1 if nothing can be written in the folder. */
export function lockJournal(path: string): Lock {
  return guarded(path, () => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const real = existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path))
    return lockFile(`${real}.lock`, `the journal ${path}`)
  })
}

/** Takes the lock that keeps a second command away from the archived days in a folder. Throws as `lockJournal` does. */
export function lockArchive(folder: string): Lock {
  return guarded(folder, () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return lockFile(join(folder, 'archive.lock'), `the archive ${folder}`)
  })
}

/** Takes the lock that prevents a second process from using a resource without a file, such as a wallet or an API key.
 *  `what` is its name in messages. Only a hash of `name` is written, because `name` may be secret. Throws SluiceError
 *  (exit 4) with the holder's name if the lock is held. */
export function lockName(stateFolder: string, what: string, name: string): MarkedLock {
  const hash = createHash('sha256').update(`${what}\0${name}`).digest('hex').slice(0, 32)
  return guarded(stateFolder, () => {
    mkdirSync(stateFolder, { recursive: true, mode: 0o700 })
    return lockMarked(join(stateFolder, `${hash}.lock`), what)
  })
}

/** Mark in a new lock file. Earlier versions wrote no mark, so their files count as used. */
const UNUSED = 1
const USED = 0

function lockMarked(path: string, what: string): MarkedLock {
  const existed = existsSync(path)
  const db = openExclusive(path, what)
  // Another process may have created and used the file since the check.
  if (!existed && statSync(path).size === 0) db.pragma(`user_version = ${UNUSED}`)
  db.exec('COMMIT')
  let isUnused = db.pragma('user_version', { simple: true }) === UNUSED
  return {
    isUnused,
    markUsed: () => {
      if (isUnused) db.pragma(`user_version = ${USED}`)
      isUnused = false
    },
    release: () => release(db),
  }
}

function lockFile(path: string, what: string): Lock {
  const db = openExclusive(path, what)
  return { release: () => release(db) }
}

function release(db: Database.Database): void {
  held.delete(db)
  db.close()
}

/** Opens a lock file in an exclusive transaction. The lock stays after the transaction ends. */
function openExclusive(path: string, what: string): Database.Database {
  closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
  const db = new Database(path, { timeout: 0 })
  try {
    db.pragma('locking_mode = EXCLUSIVE')
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (!(error instanceof Database.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) throw error
    throw new InUse(what, holderOf(path))
  }
  const since = new Date(Date.now() - process.uptime() * 1000).toISOString()
  writeFileSync(`${path}.holder`, `process ${process.pid}, started ${since}`, { mode: 0o600 })
  held.add(db)
  return db
}

/** Reads the holder's name from the file next to the lock file, because a held lock file cannot be read. */
function holderOf(path: string): string {
  try {
    return readFileSync(`${path}.holder`, 'utf8').slice(0, 200)
  } catch {
    return 'another process'
  }
}
