import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Millis } from '../../base/units.ts'
import { flush, inMebibytes } from '../copy-before-migration.ts'
import { guarded } from '../database.ts'
import { createTapeTables } from '../schema/migrations.ts'
import { BLOCK_AS_STORED, BLOCK_COLUMNS, isSound, WHOLE_BLOCK, type WholeBlock } from '../tape/block-row.ts'
import { COMES_BACK_ABOVE, freeBytesOf, SPACE_LIMITS } from '../writer/space.ts'
import type { ClosedDay } from './closed-days.ts'
import {
  type BlockHead,
  DAY_APPLICATION_ID,
  DAY_FORMAT,
  dayPath,
  HEAD,
  type Manifest,
  openDay,
  sha256Of,
  sumPath,
  tapeOf,
  writtenSum,
} from './day-file.ts'

const PAGE_BYTES = 8192
/** Number of blocks that are copied, or read, between two reports of progress. */
const BLOCKS_A_STEP = 32

const MANIFEST = `CREATE TABLE manifest (
  day TEXT NOT NULL, -- UTC, YYYY-MM-DD
  journal TEXT NOT NULL, -- identity of the journal that recorded the day
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  first_time INTEGER NOT NULL,
  last_time INTEGER NOT NULL,
  blocks INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  tape TEXT NOT NULL -- SHA-256 of the numbers and checksums of the blocks
)`

/** Receives the number of blocks that were copied or read so far. */
type Step = (blocks: number) => void

/** Writes the file of a closed day and reads it back; the journal is not changed. A complete file that an earlier
 *  command wrote is kept. After a crash, there is either no file of that name, or a complete one. Throws SluiceError if
 *  the disk has no space, if a block is damaged, or if the file of that name belongs to another journal. */
export function writeDay(db: Database.Database, identity: string, day: ClosedDay, step: Step = () => {}): void {
  const path = dayPath(db.name, day.day)
  if (existsSync(path)) {
    const { db: file, manifest } = openDay(path)
    file.close()
    if (manifest.journal !== identity)
      throw new SluiceError(`${path} belongs to another journal; move it away, and archive again`)
    if (writtenSum(path) === sha256Of(path) && manifest.last_seq === day.lastSeq && manifest.blocks === day.blocks)
      return
  }
  const partial = `${path}.partial`
  rmSync(sumPath(path), { force: true })
  rmSync(partial, { force: true })
  refuseWithoutSpace(db.name, day)
  // Creates the file before SQLite does, because SQLite would create it with a mode that others can read.
  closeSync(openSync(partial, 'wx', 0o600))
  try {
    copyDay(db, identity, day, partial, step)
    flush(partial)
    refuseUnsound(partial, db.name, (done) => step(day.blocks + done))
    chmodSync(partial, 0o400)
    renameSync(partial, path)
  } finally {
    rmSync(partial, { force: true })
  }
  flush(dirname(path))
  writeSum(path)
}

/** Writes the SHA-256 of a day's file next to it. From then on, the blocks may leave the journal. */
export function writeSum(path: string): void {
  const partial = `${sumPath(path)}.partial`
  rmSync(partial, { force: true })
  writeFileSync(partial, `${sha256Of(path)}  ${basename(path)}\n`, { mode: 0o400 })
  flush(partial)
  renameSync(partial, sumPath(path))
  flush(dirname(path))
}

/** Deletes incomplete files that a killed command left. The caller must hold the lock of the archive. */
export function removePartials(folder: string): void {
  for (const name of readdirSync(folder)) if (name.endsWith('.partial')) rmSync(join(folder, name), { force: true })
}

/** Deletes the folder of the archive if no day is in it. */
export function removeEmpty(folder: string): void {
  const names = readdirSync(folder)
  if (names.some((name) => !name.startsWith('archive.lock'))) return
  for (const name of names) rmSync(join(folder, name), { force: true })
  rmdirSync(folder)
}

/** Copies the blocks of a day from one snapshot of the journal, because a running process may merge blocks
 *  meanwhile. */
function copyDay(journal: Database.Database, identity: string, day: ClosedDay, partial: string, step: Step): void {
  guarded(partial, () => {
    const db = new Database(partial)
    try {
      for (const pragma of [`page_size = ${PAGE_BYTES}`, 'journal_mode = OFF', 'synchronous = OFF']) db.pragma(pragma)
      db.transaction(() => {
        db.pragma(`application_id = ${DAY_APPLICATION_ID}`)
        db.pragma(`user_version = ${DAY_FORMAT}`)
        createTapeTables(db)
        db.exec(MANIFEST)
        const heads = journal.transaction(() => copyBlocks(journal, db, day, step))()
        insertManifest(db, { day: day.day, journal: identity, ...summaryOf(heads), tape: tapeOf(heads) })
      })()
    } finally {
      db.close()
    }
  })
}

function copyBlocks(from: Database.Database, to: Database.Database, day: ClosedDay, step: Step): BlockHead[] {
  const range = [day.firstSeq, day.lastSeq] as const
  const heads = from
    .prepare<[number, number], BlockHead>(`SELECT ${HEAD} FROM block WHERE last_seq BETWEEN ? AND ? ORDER BY last_seq`)
    .all(...range)
  const read = from.prepare<[number], unknown[]>(BLOCK_AS_STORED).raw()
  const write = to.prepare(insertSql('block', BLOCK_COLUMNS))
  for (const [index, { last_seq }] of heads.entries()) {
    write.run(...(read.get(last_seq) as unknown[]))
    if (index % BLOCKS_A_STEP === 0) step(index)
  }
  const runs = from.prepare<[number, number], unknown[]>('SELECT block, row, seq FROM run WHERE block BETWEEN ? AND ?')
  const writeRun = to.prepare(insertSql('run', ['block', 'row', 'seq']))
  for (const run of runs.raw().iterate(...range)) writeRun.run(...run)
  return heads
}

function summaryOf(heads: readonly BlockHead[]): Omit<Manifest, 'day' | 'journal' | 'tape'> {
  const [first, last] = [heads[0], heads.at(-1)]
  if (first === undefined || last === undefined)
    throw new SluiceError('the tape of the day left the journal during the copy; run the command again')
  return {
    ...{ first_seq: first.first_seq, last_seq: last.last_seq, first_time: first.first_time, last_time: latest(heads) },
    ...{ blocks: heads.length, rows: heads.reduce((sum, { rows }) => sum + rows, 0) },
  }
}

function latest(heads: readonly BlockHead[]): Millis {
  return heads.reduce((time, { last_time }) => Math.max(time, last_time), 0)
}

/** Returns the SQL that inserts a row with the given columns. */
export function insertSql(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
}

function insertManifest(db: Database.Database, manifest: Manifest): void {
  db.prepare(insertSql('manifest', Object.keys(manifest))).run(...Object.values(manifest))
}

/** Reads every byte of the new file. Throws SluiceError if the file is damaged. */
function refuseUnsound(partial: string, journal: string, step: Step): void {
  const { db } = openDay(partial)
  try {
    for (const problem of problemsOf(db, step))
      throw new SluiceError(
        `a day of ${journal} cannot be archived: ${problem}. \`sluice replay --journal ${journal}\` lists the damage`,
      )
  } finally {
    db.close()
  }
}

/** Reads every column of a day's file. Yields each damage that it finds, as a clause. */
export function* problemsOf(db: Database.Database, step: Step = () => {}): Generator<string, void, undefined> {
  const integrity = guarded(db.name, () => db.pragma('integrity_check(1)', { simple: true }))
  if (integrity !== 'ok') yield `SQLite finds damage (${integrity})`
  const places = db.prepare<[], number>('SELECT last_seq FROM block ORDER BY last_seq').pluck().all()
  const whole = db.prepare<[number], WholeBlock>(WHOLE_BLOCK)
  for (const [index, last] of places.entries()) {
    const row = whole.get(last)
    if (row === undefined || !isSound(row)) yield `the checksum of its tape block up to seq ${last} does not match`
    if (index % BLOCKS_A_STEP === 0) step(index)
  }
}

/** Estimate of the bytes of a market row in a day's file, on the safe side. A row takes somewhat less space there than
 *  in the journal. */
const ROW_BYTES = 160

function refuseWithoutSpace(journal: string, { day, rows }: ClosedDay): void {
  const needed = rows * ROW_BYTES + 2 ** 20 + SPACE_LIMITS.tapeBytes * COMES_BACK_ABOVE
  const free = freeBytesOf(dirname(journal))
  if (free >= needed) return
  throw new SluiceError(
    `the archive of ${day} needs ${inMebibytes(needed)} MiB of free disk space, but ${inMebibytes(free)} MiB are free: free some space, and archive again (${inMebibytes(SPACE_LIMITS.tapeBytes * COMES_BACK_ABOVE)} MiB remain free for a process that records)`,
    ExitCode.failed,
  )
}
