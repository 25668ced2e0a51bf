// The file of one archived day: a SQLite file of mode 0400 with the tables `block` and `run` of a journal, the views
// that decode them, and one row that identifies the journal and the part of its tape to which the file belongs.

import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { SluiceError } from '../../base/errors.ts'
import type { Millis, Seq } from '../../base/units.ts'
import { guarded } from '../database.ts'

/** Application id in the header of a day's file, `SLUD`. */
export const DAY_APPLICATION_ID = 0x534c5544
/** Version of the format of a day's file. */
export const DAY_FORMAT = 1

/** The record in a day's file that describes this file. */
export interface Manifest {
  /** UTC day, `2026-11-22`. */
  readonly day: string
  /** Identity of the journal that recorded the day. */
  readonly journal: string
  readonly first_seq: Seq
  readonly last_seq: Seq
  readonly first_time: Millis
  readonly last_time: Millis
  readonly blocks: number
  readonly rows: number
  /** Identity of the part of the tape in the file: SHA-256 of the numbers and checksums of its blocks. */
  readonly tape: string
}

/** What the journal records about an archived day. */
export interface TapeDay extends Omit<Manifest, 'tape'> {
  readonly bytes: number
  /** SHA-256 of the file. */
  readonly sha256: string
  /** 1 once all blocks are in the file; 0 while they move between the journal and the file. */
  readonly whole: 0 | 1
}

/** Columns of a block that stay in the journal when the block moves to a day's file. */
export interface BlockHead {
  readonly last_seq: Seq
  readonly segment: number
  readonly format: number
  readonly rows: number
  readonly rows_before: number
  readonly first_seq: Seq
  readonly runs: number
  readonly first_time: Millis
  readonly last_time: Millis
  readonly checksum: number
  readonly late_checksum: number | null
  readonly text_checksum: number
}

export const HEAD_COLUMNS = [
  ...(['last_seq', 'segment', 'format', 'rows', 'rows_before', 'first_seq', 'runs'] as const),
  ...(['first_time', 'last_time', 'checksum', 'late_checksum', 'text_checksum'] as const),
] satisfies readonly (keyof BlockHead)[]

export const HEAD = HEAD_COLUMNS.join(', ')

/** Thrown if the file of an archived day is missing, or is not the file that was archived. */
export class UnreadableDay extends SluiceError {
  readonly day: string

  constructor(journal: string, day: string, problem: string) {
    super(
      `${dayPath(journal, day)} ${problem}. It holds the tape of ${day}: put the file back from a backup, or read a part of the tape without this day. If the file is lost, \`sluice tape forget ${day} --journal ${journal}\` gives up the tape up to the end of that day`,
    )
    this.day = day
  }
}

/** Returns the folder of the archived days of a journal, next to the journal. */
export function archiveFolder(journal: string): string {
  const real = existsSync(journal) ? realpathSync(journal) : join(realpathSync(dirname(journal)), basename(journal))
  return `${real}.tape`
}

/** Returns the path of the file of a day. Names sort by day. */
export function dayPath(journal: string, day: string): string {
  return join(archiveFolder(journal), `${day}.db`)
}

/** Returns the path of the file with the SHA-256 of a day's file, in the form that `sha256sum --check` reads. This file
 *  is written last, so the day's file is complete if this file exists. */
export function sumPath(dayFile: string): string {
  return `${dayFile}.sha256`
}

/** Reads the SHA-256 that was written next to a day's file; undefined if it was not written. */
export function writtenSum(dayFile: string): string | undefined {
  const path = sumPath(dayFile)
  return existsSync(path) ? /^[0-9a-f]{64}/.exec(readFileSync(path, 'utf8'))?.[0] : undefined
}

const CHUNK_BYTES = 4 * 2 ** 20

/** Computes the SHA-256 of a file. */
export function sha256Of(path: string): string {
  const hash = createHash('sha256')
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  const file = openSync(path, 'r')
  try {
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) hash.update(chunk.subarray(0, read))
  } finally {
    closeSync(file)
  }
  return hash.digest('hex')
}

/** Returns the identity of a part of the tape. */
export function tapeOf(heads: Iterable<BlockHead>): string {
  const hash = createHash('sha256')
  for (const head of heads) hash.update(`${HEAD_COLUMNS.map((name) => head[name]).join(' ')}\n`)
  return hash.digest('hex')
}

/** SQL of records that never change in a journal: its first start or, in an imported tape, the first input or the first
 *  block. */
const FIRST_RECORDS = [
  'SELECT number, seq, time, config, code, seed, json FROM segment ORDER BY number LIMIT 1',
  'SELECT seq, time, kind, json FROM input ORDER BY seq LIMIT 1',
  `SELECT ${HEAD} FROM blocks ORDER BY last_seq LIMIT 1`,
]

/** Returns the identity of a journal. A copy of a journal has the same identity. */
export function journalIdentity(db: Database.Database): string {
  const known = db.prepare('SELECT journal FROM tape_day ORDER BY day LIMIT 1').pluck().get()
  if (known !== undefined) return known as string
  const first = FIRST_RECORDS.map((sql) => db.prepare(sql).get()).find((row) => row !== undefined)
  return createHash('sha256').update(JSON.stringify(first)).digest('hex')
}

const MANIFEST = 'SELECT day, journal, first_seq, last_seq, first_time, last_time, blocks, rows, tape FROM manifest'

/** A day's file that is open for reading. */
export interface OpenDay {
  readonly db: Database.Database
  readonly manifest: Manifest
}

/** Opens a day's file. Throws SluiceError if the file cannot be opened, or is not the file of an archived day. */
export function openDay(path: string): OpenDay {
  return guarded(path, () => {
    const db = new Database(path, { readonly: true, fileMustExist: true })
    try {
      if (db.pragma('application_id', { simple: true }) !== DAY_APPLICATION_ID)
        throw new SluiceError(`${path} is not an archived day`)
      const format = db.pragma('user_version', { simple: true }) as number
      if (format > DAY_FORMAT) throw new SluiceError(`${path} was written by a newer version of Sluice; update Sluice`)
      return { db, manifest: db.prepare(MANIFEST).get() as Manifest }
    } catch (error) {
      db.close()
      throw error
    }
  })
}

const IN_BOTH = ['day', 'journal', 'first_seq', 'last_seq', 'first_time', 'last_time', 'blocks', 'rows'] as const

/** Returns the reason why a file is not the file that was recorded for a day, as a clause; '' if no difference is
 *  found. Does not read the rows of the file. */
export function differenceOf(path: string, recorded: TapeDay): string {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size
  if (bytes === undefined) return 'is missing'
  if (bytes !== recorded.bytes) return `was changed: it has ${bytes} bytes, and the archived file had ${recorded.bytes}`
  try {
    const { db, manifest } = openDay(path)
    db.close()
    if (manifest.journal !== recorded.journal) return 'belongs to another journal'
    const other = IN_BOTH.find((name) => manifest[name] !== recorded[name])
    return other === undefined ? '' : `was changed: its ${other} is ${manifest[other]}, not ${recorded[other]}`
  } catch (error) {
    if (error instanceof SluiceError) return `was changed, or is damaged: ${error.message}`
    throw error
  }
}
