import type { Database } from 'better-sqlite3'
import { SluiceError } from '../../base/errors.ts'
import type { Seq } from '../../base/units.ts'
import { Mints } from '../../market/mints.ts'
import { TAPE_DROPPED } from '../schema/seals.ts'
import type { TapeReader } from '../tape/tape-reader.ts'
import type { Finding } from './finding.ts'

interface BlockHead {
  readonly segment: number
  readonly first_seq: Seq
  readonly last_seq: Seq
  readonly last_time: number
  readonly rows: number
  readonly rows_before: number
  readonly runs: number
  readonly day: string | null
}

const HEADS =
  'SELECT segment, first_seq, last_seq, last_time, rows, rows_before, runs, day FROM blocks ORDER BY last_seq'

/** Yields the blocks whose bytes were changed, or that do not continue the previous block. */
export function* damagedBlocks(db: Database, tape: TapeReader): Generator<Finding, void, undefined> {
  const segmentAt = db.prepare('SELECT coalesce(max(number), 0) FROM segment WHERE seq <= ?').pluck()
  const dropped = db.prepare(`SELECT value FROM counter WHERE name = '${TAPE_DROPPED}'`).pluck().get()
  const unreadable = unreadableDays(db, tape)
  for (const [day, problem] of unreadable)
    yield { table: 'tape_day', row: `day ${day}`, problem: `the file of the day ${problem}` }
  let before: BlockHead | undefined
  for (const head of db.prepare(HEADS).all() as BlockHead[]) {
    const rowsBefore = before === undefined ? undefined : before.rows_before + before.rows
    const isCounted = head.rows_before === (rowsBefore ?? (dropped === undefined ? 0 : head.rows_before))
    const problem = !isCounted
      ? 'column rows_before is not the number of rows of the tape before this block'
      : head.segment !== segmentAt.get(head.first_seq)
        ? 'column segment is not the segment that contains the seqs of this block'
        : head.day !== null && unreadable.has(head.day)
          ? ''
          : damageOf(tape, head)
    if (problem !== '') yield { table: 'block', row: `last_seq ${head.last_seq}`, problem }
    before = head
  }
  const lost = db.prepare('SELECT DISTINCT block FROM run WHERE block NOT IN (SELECT last_seq FROM blocks)').pluck()
  for (const block of lost.iterate())
    yield { table: 'run', row: `block ${block}`, problem: 'the row refers to a block that does not exist' }
}

/** Returns the archived days whose files cannot be read, each with the reason as a clause. The blocks of these days are
 *  not checked. */
function unreadableDays(db: Database, tape: TapeReader): Map<string, string> {
  const days = db.prepare('SELECT day FROM tape_day ORDER BY day').pluck().all() as string[]
  return new Map(days.map((day) => [day, tape.problemOf(day)] as const).filter(([, problem]) => problem !== ''))
}

/** Reads every byte of the block. Returns the damage as a clause; '' if there is none. */
function damageOf(tape: TapeReader, { first_seq, last_seq, last_time, rows, runs }: BlockHead): string {
  try {
    for (const block of tape.blocks(new Mints(), { from: last_seq, to: Math.max(first_seq, last_seq) })) {
      block.readRest()
      if (block.runs.length !== runs) return 'column runs is not the number of runs of consecutive seqs in this block'
      if (block.lastSeq !== last_seq) return 'column last_seq is not the seq of the last row of this block'
      return block.time[rows - 1] === last_time ? '' : 'column last_time is not the time of the last row of this block'
    }
    return 'the block cannot be read'
  } catch (error) {
    if (error instanceof SluiceError || error instanceof SyntaxError || error instanceof RangeError)
      return error.message
    throw error
  }
}
