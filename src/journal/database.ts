import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { basename, join } from 'node:path/posix'
import Database from 'better-sqlite3'
import { ExitCode, SluiceError } from '../base/errors.ts'
import { backUp } from './copy-before-migration.ts'
import { APPLICATION_ID, migrate, SCHEMA_VERSION, versionOf } from './schema/migrations.ts'
import { showRecords } from './schema/packed-records.ts'
import { extend, isOutOfSpace } from './writer/file-growth.ts'

const PAGE_BYTES = 8192
const MAGIC = 'SQLite format 3\0'
/** Number of pages in the write-ahead log at which SQLite itself makes a checkpoint, which copies the log into the
 *  database file. A checkpoint delays the commit of an order. The writer therefore makes checkpoints while it is idle,
 *  so that the log rarely reaches this length. */
const CHECKPOINT_PAGES = 8192
/** Memory in which SQLite keeps pages of a durable journal, and of a journal that is read, KiB. The default of
 *  better-sqlite3, 16 MB, fills up within minutes, because every page of the tape passes through it once. */
const CACHE_KIB = 4096
/** Length to which the write-ahead log is extended: twice the bytes that are written between two checkpoints. */
const LOG_BYTES = 16 * 2 ** 20

export interface OpenOptions {
  /** If false, commits are neither awaited nor durable. For results that can be computed again. */
  readonly durable?: boolean
  /** If false, an older journal is not copied before it is migrated. */
  readonly backup?: boolean
  /** Receives the number of rows that have received a checksum during a migration, and the total number. */
  readonly sealed?: (rows: number, of: number) => void
}

/** Opens a journal for its one writer. Creates a missing journal and migrates an older one. Throws SluiceError if the
 *  file is not a journal, is corrupt, or is newer than this program. */
export function openForWriting(
  path: string,
  { durable = true, backup = true, sealed }: OpenOptions = {},
): Database.Database {
  makePrivate(path)
  if (statSync(path).size > 0) refuseStranger(path)
  return opened(path, new Database(path), (db) => {
    const isNew = db.prepare('SELECT count(*) FROM sqlite_master').pluck().get() === 0
    if (!isNew) refuseOther(path, db)
    db.pragma(`page_size = ${PAGE_BYTES}`)
    db.pragma('journal_mode = WAL')
    db.pragma(`synchronous = ${durable ? 'FULL' : 'OFF'}`)
    db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
    if (durable) db.pragma(`cache_size = -${CACHE_KIB}`)
    const version = versionOf(db)
    if (backup && !isNew && version < SCHEMA_VERSION) backUp(db, path, version)
    migrate(db, sealed)
    showRecords(db)
    readBack(path, db, durable)
  })
}

/** Prepares the write-ahead log for a process that trades: copies the log's content into the file, and extends the log
 *  to its full length. The log is not truncated between these two steps, because another program could take the freed
 *  space. */
export function makeRoomInLog(db: Database.Database): void {
  try {
    db.pragma('wal_checkpoint(RESTART)')
    topUpLog(db)
  } catch (error) {
    if (!(error instanceof Database.SqliteError && error.code.startsWith('SQLITE_FULL')))
      throw refusalOf(db.name, error)
  }
}

/** Extends the log with zeros to its full length. A later commit then succeeds on a full disk, and is a fifth faster,
 *  because the file system need not allocate space. SQLite ignores bytes behind the current log. Returns false if the
 *  disk has no space. */
export function topUpLog(db: Database.Database): boolean {
  const path = `${db.name}-wal`
  if (db.memory || !existsSync(path) || statSync(path).size >= LOG_BYTES) return true
  const log = openSync(path, 'r+')
  try {
    extend(log, LOG_BYTES)
    fsyncSync(log)
    return true
  } catch (error) {
    if (!isOutOfSpace(error)) throw error
    return false
  } finally {
    closeSync(log)
  }
}

/** Thrown if a reader opens a journal with an older schema. Starting a bot migrates such a journal; a reader does
 *  not. */
export class OlderJournal extends SluiceError {}

/** Opens a journal that another process may be writing. Throws SluiceError as `openForWriting` does, and also if there
 *  is no journal. Throws OlderJournal if the journal has an older schema, unless `older` is set. */
export function openForReading(path: string, { older = false } = {}): Database.Database {
  if (!existsSync(path)) throw noJournalAt(path)
  guarded(path, () => {
    refuseStranger(path)
    refuseTruncated(path)
  })
  return opened(path, new Database(path, { readonly: true, fileMustExist: true }), (db) => {
    refuseOther(path, db)
    db.pragma(`cache_size = -${CACHE_KIB}`)
    const version = versionOf(db)
    if (version < SCHEMA_VERSION && !older)
      throw new OlderJournal(
        `${path} was written by an older version of Sluice (schema ${version}, this version reads ${SCHEMA_VERSION}): \`sluice migrate --journal ${path}\` migrates it, and so does starting a bot on it`,
      )
    showRecords(db)
  })
}

function opened(path: string, db: Database.Database, prepare: (db: Database.Database) => void): Database.Database {
  try {
    guarded(path, () => prepare(db))
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Runs a function that reads or writes a journal. Turns SQLite's errors about the file into SluiceErrors with a
 *  message. */
export function guarded<T>(path: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw refusalOf(path, error)
  }
}

/** Returns the error to throw after SQLite or the file system failed while a journal was in use. */
export function refusalOf(path: string, error: unknown): unknown {
  if (error instanceof Error && 'syscall' in error) return new SluiceError(`${path} cannot be used: ${error.message}`)
  if (!(error instanceof Database.SqliteError)) return error
  const { code, message } = error
  if (code.startsWith('SQLITE_NOTADB')) return noJournal(path)
  if (code.startsWith('SQLITE_CORRUPT'))
    return new SluiceError(`${path} is corrupt (${message}); restore it from a backup, or start a new journal`)
  if (code.startsWith('SQLITE_CANTOPEN') || code.startsWith('SQLITE_READONLY'))
    return new SluiceError(`${path} cannot be opened: ${message}`)
  if (code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_FULL'))
    return new SluiceError(`${path} cannot be used: ${message}`)
  return error
}

function noJournal(path: string): SluiceError {
  return new SluiceError(`${path} is not a Sluice journal`)
}

/** Throws SluiceError if the path is not a journal: with exit 2 for a folder, with exit 1 for any other file. */
export function refuseStranger(path: string): void {
  if (statSync(path).isDirectory()) throw new SluiceError(`${path} is a folder; a journal is a file`, ExitCode.usage)
  if (headerOf(path).toString('latin1', 0, MAGIC.length) !== MAGIC) throw noJournal(path)
}

/** Throws if the file is shorter than its header says. Does nothing while a log exists, because the log may contain the
 *  missing pages. */
function refuseTruncated(path: string): void {
  if (existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 0) return
  const header = headerOf(path)
  const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  const missing = header.readUInt32BE(28) * pageBytes - statSync(path).size
  if (missing > 0) throw new SluiceError(`${path} is corrupt: the last ${missing} bytes are missing`)
}

/** Reads the first 100 bytes of the file, the header of SQLite's format. */
function headerOf(path: string): Buffer {
  const header = Buffer.alloc(100)
  const file = openSync(path, 'r')
  try {
    readSync(file, header, 0, header.length, 0)
  } finally {
    closeSync(file)
  }
  return header
}

/** Throws if the database is not a journal, or is a journal of a newer version. */
function refuseOther(path: string, db: Database.Database): void {
  if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID) throw noJournal(path)
  const version = versionOf(db)
  if (version > SCHEMA_VERSION)
    throw new SluiceError(
      `${path} was written by a newer version of Sluice (schema ${version}, this version knows ${SCHEMA_VERSION}); update Sluice`,
    )
}

/** Reads the settings back, and throws if SQLite has not applied one. SQLite does not report this, and commits would
 *  then not be durable. */
function readBack(path: string, db: Database.Database, durable: boolean): void {
  const mode = db.pragma('journal_mode', { simple: true })
  const synchronous = db.pragma('synchronous', { simple: true })
  if (mode === 'wal' && synchronous === (durable ? 2 : 0)) return
  throw new SluiceError(
    `${path}: SQLite runs in mode ${mode} with synchronous=${synchronous}, so commits would not be durable; move the journal to a local disk`,
    ExitCode.unsafe,
  )
}

/** Creates the file with mode 0600, in a folder with mode 0700 if the folder is new. SQLite's side files inherit the
 *  mode. */
function makePrivate(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const isNew = !existsSync(path)
    closeSync(openSync(path, 'a', 0o600))
    if (isNew) chmodSync(path, 0o600)
  } catch (error) {
    throw new SluiceError(`${path} cannot be created: ${(error as Error).message}`)
  }
}

/** Offset of the application id in SQLite's file header. */
const APPLICATION_ID_AT = 68

/** Returns the error for a missing journal (exit 2). Its message names the journal in the same folder that was written
 *  last, because each demo creates a journal of its own. */
export function noJournalAt(path: string): SluiceError {
  return new SluiceError(`no journal at ${path}${neighbourHint(path)}`, ExitCode.usage)
}

/** Returns the end of a message that names the newest journal in the folder; '' if the folder contains no journal. */
export function neighbourHint(path: string): string {
  const newest = newestBeside(path)
  return newest === undefined ? '' : `; the newest journal in this folder: --journal ${newest}`
}

function newestBeside(path: string): string | undefined {
  const folder = dirname(path)
  const found = (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith('.db') && name !== basename(path))
    .map((name) => join(folder, name))
    .filter(isJournal)
    .map((file) => ({ file, time: writtenAt(file) }))
  return found.toSorted((one, other) => other.time - one.time)[0]?.file
}

/** Returns the time at which a journal was last written. The log counts too, because a commit writes it before the
 *  file. */
function writtenAt(file: string): number {
  return Math.max(...[file, `${file}-wal`].filter(existsSync).map((one) => statSync(one).mtimeMs))
}

function isJournal(file: string): boolean {
  const id = Buffer.alloc(4)
  try {
    const opened = openSync(file, 'r')
    try {
      return readSync(opened, id, 0, 4, APPLICATION_ID_AT) === 4 && id.readUInt32BE(0) === APPLICATION_ID
    } finally {
      closeSync(opened)
    }
  } catch {
    return false // The file cannot be read, or was deleted meanwhile.
  }
}

/** Tables that a restart reads money from. The tape is not one of them: its blocks have checksums, and it may be too
 *  large to read here. */
const TABLES = [
  ...[
    'segment',
    'order',
    'attempt',
    'fill',
    'report',
    'position',
    'account',
    'bot',
    'timer',
    'mark',
    'trip_mark',
    'slot',
    'counter',
  ],
  ...['wallet', 'wallet_transaction', 'watch', 'learned', 'conditional_order'],
]

/** Describes the damage that SQLite finds in the tables that a restart reads; '' if SQLite finds no damage. */
export function damageOf(db: Database.Database): string {
  for (const table of TABLES) {
    const [finding] = db.pragma(`main.quick_check("${table}")`) as { quick_check: string }[]
    if (finding !== undefined && finding.quick_check !== 'ok') return `${table}: ${finding.quick_check}`
  }
  return ''
}
