import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { ExitCode, SluiceError } from '../base/errors.ts'
import { counted } from '../base/text.ts'
import type { Millis, Seq } from '../base/units.ts'
import { isOpen } from '../engine/order.ts'
import { bytesToCopy, copyDays, daysIn, daysOf } from './archive/backup-days.ts'
import { archiveFolder, type TapeDay } from './archive/day-file.ts'
import { flush, inMebibytes } from './copy-before-migration.ts'
import { guarded, noJournalAt, openForReading, refuseStranger } from './database.ts'
import { type Lock, lockJournal } from './lock.ts'
import { openReader } from './reader/reader.ts'
import { SCHEMA_VERSION, versionOf } from './schema/migrations.ts'
import { COMES_BACK_ABOVE, freeBytesOf, SPACE_LIMITS, usageOf } from './writer/space.ts'

/** Number of pages that one step of the copy copies, 16 MiB. */
const PAGES = 2048

/** Facts about a copy of a journal: up to which row it goes, how many open positions and orders a process that starts
 *  with this copy restores, and how many of its rows are damaged. */
export interface CopiedState {
  /** Last row of the copy; rows that the process writes during the copy are not in it. */
  readonly lastSeq: Seq
  readonly lastTime: Millis
  readonly positions: number
  readonly openOrders: number
  /** Number of rows that are missing or whose checksum does not match, in the journal and therefore also in the
   *  copy. */
  readonly findings: number
}

export interface OnlineBackup {
  readonly bytes: number
  /** Number of archived days in the backup, and bytes of their files. Days whose files cannot be read are not in the
   *  backup. */
  readonly days: number
  readonly dayBytes: number
  readonly schema: number
  /** null for a journal of an older schema: this version cannot read its rows before a migration. */
  readonly state: CopiedState | null
}

export interface OnlineBackupOptions {
  /** Whether an existing journal at the target is replaced. */
  readonly replace?: boolean
  /** Receives the number of bytes copied so far, and the total number. */
  readonly copied?: (bytes: number, of: number) => void
  /** Called when the copy is complete and its check begins. */
  readonly checking?: () => void
  /** Free bytes at the target; for tests. */
  readonly freeBytes?: number
}

/**
 * Copies a journal while a process may be writing it, checks the copy, and then gives the copy its name. The target is
 * either untouched or a complete copy of mode 0600 in a single file.
 *
 * The copy reads from one snapshot. Without one, SQLite's online backup would restart at each commit of another
 * process, and a trading process commits five times a second. Throws SluiceError: exit 2 for a target that exists, exit
 * 4 for a target that a process writes, exit 1 if the space does not suffice, if the journal is corrupt, or if a
 * journal with changed rows would replace another one.
 */
export async function backUpOnline(from: string, to: string, options: OnlineBackupOptions = {}): Promise<OnlineBackup> {
  if (!existsSync(from)) throw noJournalAt(from)
  const db = openForReading(from, { older: true })
  let lock: Lock | undefined
  try {
    lock = lockTarget(from, to, options.replace === true)
    removeLeftovers(to)
    refuseWithoutSpace(from, to, bytesToCopy(daysOf(db), to), options.freeBytes ?? freeBytesOf(dirname(to)))
    const partial = `${to}.partial-${process.pid}`
    try {
      await copy(db, partial, options)
      options.checking?.()
      const { schema, days } = soundCopy(from, partial)
      copyDays(from, to, days, options)
      const result = {
        ...sizesOf(partial, daysIn(to, days)),
        schema,
        state: schema === SCHEMA_VERSION ? stateOf(partial, to) : null,
      }
      flush(partial)
      // Since the check at the beginning, a process may have created a journal at the target path.
      if (options.replace !== true && existsSync(to)) throw existing(to)
      refuseWorse(from, to, result)
      renameSync(partial, to)
      flush(dirname(to))
      return result
    } finally {
      for (const file of [partial, `${partial}-journal`, `${partial}.tape`]) rmSync(file, { force: true })
    }
  } finally {
    lock?.release()
    db.close()
  }
}

/** Checks that the target may be written. If a journal is there, locks it against a process that would write it, and
 *  returns the lock. */
function lockTarget(from: string, to: string, replace: boolean): Lock | undefined {
  const folder = dirname(to)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new SluiceError(`${folder} is not a folder; create it, or mount its disk, before the backup`, ExitCode.usage)
  const lock = existsSync(`${to}.lock`) ? lockJournal(to) : undefined
  try {
    const log = `${to}-wal`
    if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0)
      throw new SluiceError(
        `${log} is the log of another journal, and SQLite would apply it to the copy: move it away together with ${to}`,
        ExitCode.usage,
      )
    if (!existsSync(to)) return lock
    guarded(to, () => refuseStranger(to))
    if (realpathSync(from) === realpathSync(to))
      throw new SluiceError(`${to} is the journal itself; name another file for the backup`, ExitCode.usage)
    if (!replace) throw existing(to)
    return lock
  } catch (error) {
    lock?.release()
    throw error
  }
}

/** Throws SluiceError instead of replacing an existing backup if rows of the journal were changed or are missing,
 *  because the backup may be the last good copy. */
function refuseWorse(from: string, to: string, { state }: OnlineBackup): void {
  const findings = state?.findings ?? 0
  if (findings === 0 || !existsSync(to)) return
  throw new SluiceError(
    `${from} does not match its checksums: ${counted(findings, 'row')} changed after the recording, or missing. Therefore ${to} is kept; name another file to copy the changed journal too. \`sluice replay --journal ${from}\` lists the rows`,
  )
}

function existing(to: string): SluiceError {
  return new SluiceError(`${to} already exists; --replace replaces it once the new copy is checked`, ExitCode.usage)
}

/** Deletes the partial copies that killed processes have left next to this target. */
function removeLeftovers(to: string): void {
  const start = `${basename(to)}.partial-`
  for (const name of readdirSync(dirname(to))) {
    const pid = /^(\d+)(-journal|\.tape)?$/.exec(name.startsWith(start) ? name.slice(start.length) : '')?.[1]
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(dirname(to), name), { force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Refuses a copy that does not fit, or that would leave so little space that the running process stops recording. */
function refuseWithoutSpace(from: string, to: string, dayBytes: number, freeBytes: number): void {
  const sameDisk = statSync(from).dev === statSync(dirname(to)).dev
  const size = usageOf(from, { freeBytes }).bytes + dayBytes
  const kept = sameDisk ? SPACE_LIMITS.tapeBytes * COMES_BACK_ABOVE : 0
  if (freeBytes >= size + kept) return
  const why = sameDisk ? `, ${inMebibytes(kept)} MiB of it for a process that continues to record on the same disk` : ''
  throw new SluiceError(
    `a backup of ${from} to ${dirname(to)} needs ${inMebibytes(size + kept)} MiB of free disk space${why}, but ${inMebibytes(freeBytes)} MiB are free: free some space, or name a file on another disk`,
  )
}

async function copy(db: Database.Database, partial: string, { copied }: OnlineBackupOptions): Promise<void> {
  // Creates the file before SQLite does, because SQLite would create it with a mode that others can read.
  closeSync(openSync(partial, 'wx', 0o600))
  const pageBytes = db.pragma('page_size', { simple: true }) as number
  try {
    db.exec('BEGIN; SELECT 1 FROM sqlite_master LIMIT 1')
    await db.backup(partial, {
      progress: ({ totalPages, remainingPages }) => {
        copied?.((totalPages - remainingPages) * pageBytes, totalPages * pageBytes)
        return PAGES
      },
    })
  } catch (error) {
    if (error instanceof Database.SqliteError)
      throw new SluiceError(`the backup of ${db.name} to ${dirname(partial)} failed: ${error.message}`)
    throw error
  } finally {
    if (db.inTransaction) db.exec('COMMIT')
  }
}

/** Checks the pages of a copy. Returns its schema and the archived days that it records. */
function soundCopy(from: string, partial: string): { readonly schema: number; readonly days: readonly TapeDay[] } {
  const copy = new Database(partial)
  try {
    // The copy is one file without a log, so it can also be read on a read-only medium.
    copy.pragma('journal_mode = DELETE')
    const damage = guarded(partial, () => copy.pragma('integrity_check(1)', { simple: true }))
    if (damage !== 'ok')
      throw new SluiceError(
        `${from} is corrupt, so nothing was written (${damage}); keep your last backup. To keep the damaged journal too, stop the process and copy the file together with ${from}-wal`,
      )
    return { schema: versionOf(copy), days: daysOf(copy) }
  } finally {
    copy.close()
  }
}

function sizesOf(partial: string, days: readonly TapeDay[]): Pick<OnlineBackup, 'bytes' | 'days' | 'dayBytes'> {
  const dayBytes = days.reduce((sum, { bytes }) => sum + bytes, 0)
  return { bytes: statSync(partial).size, days: days.length, dayBytes }
}

/** Reads every row of the copy and of the archived days in the backup. The copy still has its temporary name
 *  `partial`. */
function stateOf(partial: string, to: string): CopiedState {
  const folder = archiveFolder(to)
  if (existsSync(folder)) symlinkSync(folder, `${partial}.tape`)
  const reader = openReader(partial)
  try {
    const { nextSeq, lastTime, money, orders } = reader.recover()
    let findings = 0
    for (const _finding of reader.changedRows()) findings++
    return {
      lastSeq: nextSeq - 1,
      lastTime,
      positions: money.positions.filter(({ tokens, state }) => state !== 'closed' && tokens > 0n).length,
      openOrders: orders.filter(({ state }) => isOpen(state)).length,
      findings,
    }
  } finally {
    reader.close()
  }
}
