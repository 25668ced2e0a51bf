import { setTimeout } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import { SluiceError } from '../../base/errors.ts'
import { openForReading, openForWriting } from '../database.ts'
import { InUse, type Lock, lockArchive, lockJournal } from '../lock.ts'
import { SPACE_LIMITS } from '../writer/space.ts'
import { Transactions } from '../writer/transactions.ts'
import { type ClosedDay, closedDays, type KeptDay } from './closed-days.ts'
import {
  archiveFolder,
  dayPath,
  differenceOf,
  journalIdentity,
  type TapeDay,
  UnreadableDay,
  writtenSum,
} from './day-file.ts'
import { DayMove } from './day-move.ts'
import { removeEmpty, removePartials, writeDay, writeSum } from './write-day.ts'

/** Number of rows that one transaction moves while no process writes the journal. */
const ROWS_A_STEP = 262_144
const POLL_MS = 250
/** If the running process moves no block for this long, the command gives up waiting for it. */
const MOST_IDLE_MS = 60_000

export interface ArchiveOptions {
  /** Last day to archive, `2026-11-22`; if absent, all closed days. */
  readonly until?: string | undefined
  /** Whether days that open positions and orders still need are archived too. */
  readonly held?: boolean
  /** Whether the free pages are removed from the journal's file, so that it becomes smaller. No process may be running
   *  then. */
  readonly shrink?: boolean
  /** Called with the progress while a day's file is written, and while its blocks leave the journal. */
  readonly step?: (what: 'write' | 'move', day: string, done: number, of: number) => void
}

export interface Archived {
  readonly days: readonly TapeDay[]
  readonly kept: readonly KeptDay[]
  /** Whether a running process moved the blocks. */
  readonly byProcess: boolean
}

/** Moves closed days of the tape to files of their own. First the file of each day is written, read back and made
 *  durable. Then its blocks leave the journal, a few in each transaction. If a process is writing the journal, that
 *  process moves them between its commits, and this function waits. Throws SluiceError. */
export async function archiveTape(path: string, options: ArchiveOptions = {}): Promise<Archived> {
  const db = openForReading(path)
  const lock = lockArchive(archiveFolder(path))
  try {
    // The journal must not be locked here: if the running process ends during this command, the next process must be
    // able to move the blocks.
    const isWritten = isRunning(path)
    removePartials(archiveFolder(path))
    const identity = journalIdentity(db)
    const { closed, kept } = closedDays(db, options.held === true)
    const wanted = (day: string): boolean => options.until === undefined || day <= options.until
    const days = closed.filter(({ day }) => wanted(day))
    for (const day of days) write(db, identity, day, options)
    const waiting = resumable(db, path).filter(wanted)
    const names = [...new Set([...waiting, ...days.map(({ day }) => day)])].sort()
    const byProcess = await move(path, db, names, { ...options, isWritten })
    const recorded = db.prepare<[string], TapeDay>('SELECT * FROM tape_day WHERE day = ?')
    return {
      days: names.flatMap((day) => recorded.get(day) ?? []),
      kept: kept.filter(({ day }) => wanted(day)),
      byProcess,
    }
  } finally {
    lock.release()
    removeEmpty(archiveFolder(path))
    db.close()
  }
}

function write(db: Database, identity: string, day: ClosedDay, { step }: ArchiveOptions): void {
  // The progress counts each block twice, because it is copied and then read back.
  const of = day.blocks * 2
  writeDay(db, identity, day, (done) => step?.('write', day.day, done, of))
}

/** Returns the days that were moved only in part, because a command or a process ended too early. Some of their blocks
 *  are still in the journal. */
function resumable(db: Database, path: string): string[] {
  const days = db.prepare<[], TapeDay>('SELECT * FROM tape_day WHERE whole = 0 ORDER BY day').all()
  for (const day of days) {
    const file = dayPath(path, day.day)
    const problem = differenceOf(file, day)
    if (problem !== '') throw new UnreadableDay(path, day.day, problem)
    if (writtenSum(file) === undefined) writeSum(file)
  }
  return days.map(({ day }) => day)
}

/** Moves the blocks of all days with complete files. `isWritten`: whether a process wrote the journal when the command
 *  began. Returns whether a running process moved the blocks. */
async function move(
  path: string,
  reader: Database,
  days: readonly string[],
  { isWritten, ...options }: ArchiveOptions & { readonly isWritten: boolean },
): Promise<boolean> {
  const lock = isWritten ? undefined : lockUnlessRunning(path)
  if (lock === undefined) {
    if (options.shrink)
      throw new SluiceError(
        `${path} is being written, so its file cannot shrink: stop the process, or archive without --shrink`,
      )
    await untilMoved(path, reader, days, options)
    return true
  }
  try {
    moveHere(path, reader, options)
    return false
  } finally {
    lock.release()
  }
}

function isRunning(path: string): boolean {
  const lock = lockUnlessRunning(path)
  lock?.release()
  return lock === undefined
}

function lockUnlessRunning(path: string): Lock | undefined {
  try {
    return lockJournal(path)
  } catch (error) {
    if (error instanceof InUse) return undefined
    throw error
  }
}

function moveHere(path: string, reader: Database, { step, shrink }: ArchiveOptions): void {
  const db = openForWriting(path)
  const transactions = new Transactions(db, SPACE_LIMITS.reserveBytes > 0)
  const days = new DayMove(db, transactions)
  try {
    while (days.look()) {
      days.step(ROWS_A_STEP)
      const moving = movingDay(reader)
      if (moving !== undefined) step?.('move', moving.day, moving.moved, moving.blocks)
    }
    if (shrink) db.exec('VACUUM')
    db.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    days.close()
    transactions.close()
  }
}

/** Waits until the running process has moved the days. Throws SluiceError if it moves nothing for a minute. */
async function untilMoved(
  path: string,
  reader: Database,
  days: readonly string[],
  { step }: ArchiveOptions,
): Promise<void> {
  const whole = reader.prepare<[string], number>('SELECT whole FROM tape_day WHERE day = ?').pluck()
  const count = reader.prepare<[], number>('SELECT count(*) FROM archived_block').pluck()
  let moved = -1
  let since = performance.now()
  while (days.some((day) => whole.get(day) !== 1)) {
    const now = count.get() ?? 0
    if (now !== moved) since = performance.now()
    moved = now
    const moving = movingDay(reader)
    if (moving !== undefined) step?.('move', moving.day, moving.moved, moving.blocks)
    if (performance.now() - since > MOST_IDLE_MS)
      throw new SluiceError(
        `the files of the days are complete, but the process that writes ${path} has not moved their blocks for a minute: it has ended, it runs an older version, its disk is full, or it is never idle. A process that can move blocks again continues by itself, and \`sluice tape archive\` continues too`,
      )
    await setTimeout(POLL_MS)
  }
}

interface MovingDay {
  readonly day: string
  readonly moved: number
  readonly blocks: number
}

function movingDay(reader: Database): MovingDay | undefined {
  return reader
    .prepare<[], MovingDay>(
      `SELECT day, blocks, (SELECT count(*) FROM archived_block b WHERE b.day = d.day) AS moved
       FROM tape_day d WHERE whole = 0 ORDER BY day LIMIT 1`,
    )
    .get()
}
