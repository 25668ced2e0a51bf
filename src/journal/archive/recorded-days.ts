import { chmodSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Millis } from '../../base/units.ts'
import { flush, inMebibytes } from '../copy-before-migration.ts'
import { openForReading, openForWriting } from '../database.ts'
import { lockArchive, lockJournal } from '../lock.ts'
import { rowChecksum, SEALED, TAPE_DROPPED } from '../schema/seals.ts'
import { Statements } from '../schema/statements.ts'
import { BLOCK_AS_STORED, BLOCK_COLUMNS } from '../tape/block-row.ts'
import { COMES_BACK_ABOVE, freeBytesOf, SPACE_LIMITS } from '../writer/space.ts'
import { Transactions } from '../writer/transactions.ts'
import {
  archiveFolder,
  type BlockHead,
  dayPath,
  differenceOf,
  HEAD,
  openDay,
  sha256Of,
  sumPath,
  type TapeDay,
  tapeOf,
  UnreadableDay,
} from './day-file.ts'
import { insertSql, problemsOf, removeEmpty } from './write-day.ts'

/** An archived day, and the state of its file. */
export interface ListedDay extends TapeDay {
  readonly file: string
  /** Number of the day's blocks that have left the journal. */
  readonly moved: number
  /** Reason why the file cannot be read, as a clause; '' if the file can be read. */
  readonly problem: string
}

/** The tape of a journal: the archived days, and the part that is in the journal's own file. */
export interface ListedTape {
  readonly folder: string
  readonly days: readonly ListedDay[]
  /** Files in the archive folder for which the journal records no archived day. */
  readonly strange: readonly string[]
  /** The part of the tape that is not archived. Its rows are in the journal's own file. */
  readonly journal: {
    readonly blocks: number
    readonly rows: number
    readonly from: Millis | null
    readonly to: Millis | null
  }
}

const DAYS = `SELECT d.*, (SELECT count(*) FROM archived_block b WHERE b.day = d.day) AS moved FROM tape_day d ORDER BY day`
const IN_JOURNAL = `SELECT count(*) AS blocks, coalesce(sum(rows), 0) AS rows, min(first_time) AS "from", max(last_time) AS "to"
FROM block`

/** Lists the archived days, without reading their rows. */
export function listTape(path: string): ListedTape {
  const db = openForReading(path)
  try {
    return db.transaction(() => {
      const days = recordedDays(db, path)
      const folder = archiveFolder(path)
      const known = new Set(days.map(({ file }) => file))
      const names = existsSync(folder) ? readdirSync(folder).sort() : []
      const files = names.filter((name) => /^\d{4}-\d\d-\d\d\.db$/.test(name)).map((name) => join(folder, name))
      const journal = db.prepare<[], ListedTape['journal']>(IN_JOURNAL).get() as ListedTape['journal']
      return { folder, days, strange: files.filter((file) => !known.has(file)), journal }
    })()
  } finally {
    db.close()
  }
}

function recordedDays(db: Database, path: string): ListedDay[] {
  const days = db.prepare<[], TapeDay & { moved: number }>(DAYS).all()
  return days.map((day) => {
    const file = dayPath(path, day.day)
    return { ...day, file, problem: differenceOf(file, day) }
  })
}

/** Compares the files of archived days with what the journal records: the SHA-256 of the whole file, then the checksum
 *  of each block. Yields each day with the problem of its file; '' if the file is sound. */
export function* verifyTape(
  path: string,
  wanted: readonly string[],
  step: (day: string, index: number, of: number) => void = () => {},
): Generator<ListedDay, void, undefined> {
  const db = openForReading(path)
  try {
    const days = chosen(recordedDays(db, path), wanted)
    for (const [index, day] of days.entries()) {
      step(day.day, index, days.length)
      yield { ...day, problem: day.problem === '' ? problemOf(db, day) : day.problem }
    }
  } finally {
    db.close()
  }
}

/** Compares the file of one day with what the journal records about the day. Returns the difference as a clause; '' if
 *  they agree. */
function problemOf(db: Database, day: ListedDay): string {
  const seal = db.prepare('SELECT checksum FROM tape_day WHERE day = ?').pluck().get(day.day)
  if (seal !== rowChecksum(SEALED.tape_day.map((name) => day[name])))
    return 'cannot be checked, because the row of the day in the journal was changed'
  const { db: file, manifest } = openDay(day.file)
  try {
    if (sha256Of(day.file) !== day.sha256) {
      const [first = 'its blocks are unchanged'] = problemsOf(file)
      return `was changed: its SHA-256 differs from the recorded one (${first})`
    }
    const heads = (from: Database, table: string, where = ''): BlockHead[] =>
      from.prepare<[], BlockHead>(`SELECT ${HEAD} FROM ${table} ${where} ORDER BY last_seq`).all()
    const inFile = heads(file, 'block')
    const numbers = new Map(inFile.map((head) => [head.last_seq, head]))
    const inJournal = heads(db, 'archived_block', `WHERE day = '${manifest.day}'`)
    const same = inJournal.map(({ last_seq }) => numbers.get(last_seq)).filter((head) => head !== undefined)
    if (tapeOf(same) !== tapeOf(inJournal)) return 'does not contain the blocks that the journal records for this day'
    const [problem = ''] = problemsOf(file)
    return problem === '' ? '' : `is damaged: ${problem}`
  } finally {
    file.close()
  }
}

/** Returns the days that `wanted` names; all days if `wanted` is empty. */
function chosen(days: readonly ListedDay[], wanted: readonly string[]): readonly ListedDay[] {
  const unknown = wanted.find((name) => days.every(({ day }) => day !== name))
  if (unknown !== undefined)
    throw new SluiceError(`${unknown} is not an archived day; \`sluice tape list\` lists them`, ExitCode.usage)
  return wanted.length === 0 ? days : days.filter(({ day }) => wanted.includes(day))
}

/** Number of blocks that one transaction brings back. */
const BLOCKS_A_STEP = 16

/** Brings archived days back into the journal and deletes their files. After a crash, each block is still in exactly
 *  one place, and the next call continues. Throws SluiceError: exit 4 if a process writes the journal. */
export function restoreTape(
  path: string,
  wanted: readonly string[],
  step: (day: string, blocks: number, of: number) => void = () => {},
): TapeDay[] {
  return changing(path, (db, transactions) => {
    const days = chosen(recordedDays(db, path), wanted)
    for (const { problem, day } of days) if (problem !== '') throw new UnreadableDay(path, day, problem)
    refuseWithoutSpace(path, days)
    for (const day of days) {
      if (sha256Of(day.file) !== day.sha256)
        throw new UnreadableDay(path, day.day, 'was changed: its SHA-256 differs from the recorded one')
      restoreDay(db, transactions, day, (blocks) => step(day.day, blocks, day.moved))
    }
    return [...days]
  })
}

function restoreDay(db: Database, transactions: Transactions, day: ListedDay, step: (blocks: number) => void): void {
  const statements = new Statements(db)
  const { file, moved: _moved, problem: _problem, ...recorded } = day
  // Without the file with the SHA-256, no process moves the restored blocks to the day's file again.
  rmSync(sumPath(file), { force: true })
  flush(dirname(file))
  const { db: stored } = openDay(file)
  try {
    const read = stored.prepare<[number], unknown[]>(BLOCK_AS_STORED).raw()
    const write = db.prepare(insertSql('block', BLOCK_COLUMNS))
    const next = db
      .prepare<[string, number], number>('SELECT last_seq FROM archived_block WHERE day = ? ORDER BY last_seq LIMIT ?')
      .pluck()
    const some = (): number[] => next.all(day.day, BLOCKS_A_STEP)
    const forget = db.prepare('DELETE FROM archived_block WHERE last_seq = ?')
    const whole: TapeDay = { ...recorded, whole: 0 }
    transactions.run(() => statements.run(['tapeDay', ...SEALED.tape_day.map((name) => whole[name])]))
    let count = 0
    for (let seqs = some(); seqs.length > 0; seqs = some()) {
      transactions.run(() => {
        for (const seq of seqs) {
          write.run(...(read.get(seq) as unknown[]))
          forget.run(seq)
        }
      })
      count += seqs.length
      step(count)
    }
    transactions.run(() => db.prepare('DELETE FROM tape_day WHERE day = ?').run(day.day))
  } finally {
    stored.close()
  }
  db.pragma('wal_checkpoint(TRUNCATE)')
  chmodSync(file, 0o600)
  rmSync(file)
}

/** Makes the journal forget its tape up to the end of an archived day, for a day whose file is lost. No file is
 *  deleted. Returns the days that the journal no longer records. */
export function forgetTape(path: string, day: string): TapeDay[] {
  return changing(path, (db, transactions) => {
    const days = recordedDays(db, path)
    const [last] = chosen(days, [day])
    if (last === undefined) return []
    const gone = days.filter(({ last_seq }) => last_seq <= last.last_seq)
    transactions.run(() => {
      for (const sql of [
        'DELETE FROM archived_block WHERE last_seq <= ?',
        'DELETE FROM block WHERE last_seq <= ?',
        'DELETE FROM run WHERE block <= ?',
        'DELETE FROM tape_day WHERE last_seq <= ?',
      ])
        db.prepare(sql).run(last.last_seq)
      new Statements(db).run(['counter', TAPE_DROPPED, last.last_seq])
    })
    for (const { file } of gone) rmSync(sumPath(file), { force: true })
    return gone
  })
}

/** Runs a function that changes a journal and its archived days. Throws SluiceError if a process is writing the
 *  journal. */
function changing<T>(path: string, run: (db: Database, transactions: Transactions) => T): T {
  openForReading(path).close() // refuses a missing, foreign or older file
  const lock = lockJournal(path)
  try {
    const folder = archiveFolder(path)
    const archive = lockArchive(folder)
    try {
      const db = openForWriting(path)
      const transactions = new Transactions(db, SPACE_LIMITS.reserveBytes > 0)
      try {
        return run(db, transactions)
      } finally {
        transactions.close()
      }
    } finally {
      archive.release()
      removeEmpty(folder)
    }
  } finally {
    lock.release()
  }
}

function refuseWithoutSpace(path: string, days: readonly ListedDay[]): void {
  const needed = days.reduce((sum, { bytes }) => sum + bytes, 0) + SPACE_LIMITS.tapeBytes * COMES_BACK_ABOVE
  const free = freeBytesOf(dirname(path))
  if (free < needed)
    throw new SluiceError(
      `the days need ${inMebibytes(needed)} MiB of free disk space in the journal, but ${inMebibytes(free)} MiB are free; restore fewer days at a time`,
    )
}
