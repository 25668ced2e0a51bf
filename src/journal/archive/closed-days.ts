import type { Database } from 'better-sqlite3'
import { decodeJson } from '../../base/json.ts'
import type { Millis, Seq } from '../../base/units.ts'
import { isUnsellable, type Position } from '../../engine/accounting/position.ts'
import type { StartInput } from '../../engine/messages.ts'

/** A UTC day of the tape whose blocks are in the journal. It is closed if the tape already has rows of a later day. */
export interface ClosedDay {
  readonly day: string
  readonly firstSeq: Seq
  readonly lastSeq: Seq
  readonly blocks: number
  readonly rows: number
}

/** Why a closed day stays in the journal. */
export interface KeptDay {
  readonly day: string
  readonly why: string
}

interface JournalBlock {
  readonly firstSeq: Seq
  readonly lastSeq: Seq
  readonly time: Millis
  readonly rows: number
}

/** Returns the UTC day of a time: `2026-11-22`. */
function dayText(time: Millis): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** Finds the days that may leave the journal, oldest first, and the days that must stay, each with the reason. A block
 *  belongs to the day of its last row. The day of the tape's last row is never closed, because new rows and their
 *  orders must be committed to the same file. `held`: whether days that open positions and orders still need may leave
 *  too. */
export function closedDays(db: Database, held: boolean): { readonly closed: ClosedDay[]; readonly kept: KeptDay[] } {
  const recorded = new Set(db.prepare('SELECT day FROM tape_day').pluck().all())
  const blocks = db
    .prepare<[], JournalBlock>(
      'SELECT first_seq AS firstSeq, last_seq AS lastSeq, last_time AS time, rows FROM block ORDER BY last_seq',
    )
    .all()
  const needs = needsOf(db, held)
  const closed: ClosedDay[] = []
  const kept: KeptDay[] = []
  for (const day of daysOf(blocks).slice(0, -1)) {
    if (recorded.has(day.day)) continue // a few blocks that were merged while the day was archived
    const need = needs.find(({ since }) => day.day >= dayText(since))
    if (need === undefined) closed.push(day)
    else kept.push({ day: day.day, why: need.why })
  }
  return { closed, kept }
}

/** Groups blocks by day. The days never go back: if the clock was set back, later blocks stay in the newest day so
 *  far. */
function daysOf(blocks: readonly JournalBlock[]): ClosedDay[] {
  const days: ClosedDay[] = []
  for (const { firstSeq, lastSeq, time, rows } of blocks) {
    const last = days.at(-1)
    const day = dayText(time)
    if (last === undefined || day > last.day) days.push({ day, firstSeq, lastSeq, blocks: 1, rows })
    else days[days.length - 1] = { ...last, lastSeq, blocks: last.blocks + 1, rows: last.rows + rows }
  }
  return days
}

interface Need {
  readonly since: Millis
  readonly why: string
}

const OLDEST_OPEN = `SELECT min(time) FROM (SELECT time FROM "order" WHERE open = 1
  UNION ALL SELECT armed_at FROM attempt WHERE undecided = 1 UNION ALL SELECT time FROM conditional_order WHERE open = 1)`

/** Returns the times since which rows of the tape are still needed, each with its reason. A position that seems
 *  unsellable may stay open for ever, so its rows do not count as needed. */
function needsOf(db: Database, held: boolean): Need[] {
  const warm = warmSince(db)
  const needs: Need[] = warm === undefined ? [] : [{ since: warm, why: 'the warm-up of the bots needs it' }]
  if (held) return needs
  const order = db.prepare(OLDEST_OPEN).pluck().get() as Millis | null
  if (order !== null) needs.push({ since: order, why: 'an open order still needs it' })
  const positions = db.prepare('SELECT json FROM position').pluck().all() as string[]
  for (const position of positions.map((json) => decodeJson<Position>(json)))
    if (!isUnsellable(position))
      needs.push({ since: position.openedAt, why: `the open position in ${position.mint} still needs it` })
  return needs.toSorted((one, other) => one.since - other.since)
}

/** Returns the beginning of the warm-up of the next start, assuming that it is as long as the warm-up of the last
 *  start; undefined if the last start had no warm-up. */
function warmSince(db: Database): Millis | undefined {
  const json = db.prepare('SELECT json FROM segment ORDER BY number DESC LIMIT 1').pluck().get() as string | undefined
  const warm = json === undefined ? undefined : decodeJson<StartInput>(json).warm
  if (warm === undefined || warm.from > warm.to) return undefined
  const time = (column: string, where: string, order: string): Millis | undefined =>
    db.prepare(`SELECT ${column} FROM blocks WHERE ${where} ORDER BY last_seq ${order} LIMIT 1`).pluck().get() as
      | Millis
      | undefined
  const from = time('first_time', `last_seq >= ${warm.from}`, 'ASC')
  const to = time('last_time', `first_seq <= ${warm.to}`, 'DESC')
  const last = time('last_time', '1', 'DESC')
  return from === undefined || to === undefined || last === undefined ? undefined : last - Math.max(0, to - from)
}
