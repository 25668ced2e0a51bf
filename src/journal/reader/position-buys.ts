import type { Database } from 'better-sqlite3'
import type { Millis, Seq } from '../../base/units.ts'
import { keyOf, type Owner } from '../../engine/accounting/by-mint.ts'
import type { Position } from '../../engine/accounting/position.ts'
import { isOpen, type OrderState } from '../../engine/order.ts'

/** A buy of a position, as the journal recorded it. */
export interface RecordedBuy extends Owner {
  readonly orderId: string
  readonly reason: string
  readonly state: OrderState
}

/** Maximum difference, in ms, between the journal's clock and the time on the chain. A position opens when its first
 *  buy is accepted, and its first fill then sets `openedAt` to the time on the chain. */
const CLOCKS_DIFFER_MS = 600_000

interface BuyRow extends RecordedBuy {
  readonly seq: Seq
  readonly time: Millis
  readonly side: string
}

/** Returns the open and the filled buy orders that belong to open positions, oldest first. Reads the orders back to the
 *  opening of the oldest position. */
export function buysOf(
  db: Database,
  positions: readonly Pick<Position, 'account' | 'mint' | 'openedAt'>[],
): RecordedBuy[] {
  if (positions.length === 0) return []
  const since = Math.min(...positions.map(({ openedAt }) => openedAt)) - CLOCKS_DIFFER_MS
  const opened = new Map(positions.map((position) => [keyOf(position), position.openedAt]))
  const latest = db.prepare<[number], BuyRow>(
    `SELECT 'o' || number AS orderId, seq, time, account, mint, side, reason, state FROM "order" WHERE open = ?
     ORDER BY number DESC`,
  )
  const found: BuyRow[] = []
  for (const open of [0, 1])
    for (const row of latest.iterate(open)) {
      if (row.time < since) break
      if (row.side === 'buy' && opened.has(keyOf(row)) && (row.state === 'filled' || isOpen(row.state))) found.push(row)
    }
  const closed = closings(db, opened, Math.min(...found.map(({ seq }) => seq)))
  return found
    .filter((row) => row.seq > (closed.get(keyOf(row)) ?? 0))
    .sort((one, other) => one.seq - other.seq)
    .map(({ account, mint, orderId, reason, state }) => ({ account, mint, orderId, reason, state }))
}

/** For each open position, returns the seq at which the previous position in the same mint closed. A closed position
 *  with the same opening time is the open position itself, which a fork has reopened, so it is not a previous one. */
function closings(db: Database, opened: ReadonlyMap<string, Millis>, since: Seq): ReadonlyMap<string, Seq> {
  const latest = db.prepare<[], Owner & { readonly seq: Seq; readonly openedAt: Millis }>(
    'SELECT account, mint, closed_seq AS seq, opened_at AS openedAt FROM past_position ORDER BY rowid DESC',
  )
  const closed = new Map<string, Seq>()
  for (const row of latest.iterate()) {
    if (row.seq < since) break
    const key = keyOf(row)
    if (opened.has(key) && opened.get(key) !== row.openedAt && !closed.has(key)) closed.set(key, row.seq)
  }
  return closed
}
