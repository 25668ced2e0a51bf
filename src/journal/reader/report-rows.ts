import type { Database } from 'better-sqlite3'
import type { ErrorCode } from '../../base/errors.ts'
import { decodeJson } from '../../base/json.ts'
import type { Lamports, Millis } from '../../base/units.ts'
import type { Position } from '../../engine/accounting/position.ts'
import type { OrderState } from '../../engine/order.ts'
import type { TradeSide } from '../../market/block.ts'
import { type Segment, segmentsOf } from '../tape/recorded-segments.ts'
import { FAILED_COLUMNS } from './ledger.ts'

/** Rows from which `sluice report` is computed, for all segments, without the fills, which `movementsOf` returns. */
export interface ReportRows {
  readonly segments: readonly Segment[]
  /** Orders, oldest first. */
  readonly orders: readonly OrderOutcome[]
  /** Counts of the requests that the engine refused. Such a request became no order. */
  readonly refusals: readonly RefusalCount[]
  /** Our own transactions that landed and failed, oldest first. */
  readonly failed: readonly FailedRow[]
  /** Positions that are open, or whose first buy is not filled yet. */
  readonly positions: readonly Position[]
}

export interface OrderOutcome {
  readonly id: string
  readonly account: string
  readonly bot: string
  readonly side: TradeSide
  readonly state: OrderState
  readonly code: ErrorCode | ''
  readonly reason: string
}

export interface RefusalCount {
  readonly account: string
  readonly bot: string
  readonly code: ErrorCode
  readonly count: number
}

export interface FailedRow {
  readonly account: string
  readonly bot: string
  readonly mint: string
  readonly orderId: string
  readonly side: TradeSide
  /** Time of the transaction. If it is not known, a number that is later than every trade. */
  readonly time: Millis
  readonly feeLamports: Lamports
}

export function reportRows(db: Database): ReportRows {
  const segments = segmentsOf(db)
  const all = <T>(sql: string): T[] => db.prepare(sql).all() as T[]
  return {
    segments,
    orders: all<OrderOutcome>('SELECT id, account, bot, side, state, code, reason FROM orders ORDER BY seq, id'),
    refusals: segments.flatMap((segment) => refusalsOf(db, segment)),
    failed: all<FailedRow>(`SELECT ${FAILED_COLUMNS} FROM posting WHERE kind = 'failed' AND standing = 1 ORDER BY id`),
    positions: all<{ json: string }>('SELECT json FROM position ORDER BY opened_at, mint').map(({ json }) =>
      decodeJson<Position>(json),
    ),
  }
}

/** Counts the refusals of a segment. A refusal contains only the name of its bot. The account is taken from the start
 *  of the segment, because the bot may use another account in other segments. */
function refusalsOf(db: Database, { firstSeq, lastSeq, start }: Segment): RefusalCount[] {
  const accounts = new Map(start.bots.map(({ name, account }) => [name, account.id]))
  const counts = db
    .prepare<[number, number], Omit<RefusalCount, 'account'>>(
      `SELECT bot, code, count(*) AS count FROM output WHERE kind = 'refused' AND seq BETWEEN ? AND ? GROUP BY bot, code`,
    )
    .all(firstSeq, lastSeq)
  return counts.map((one) => ({ account: accounts.get(one.bot) ?? '', ...one }))
}
