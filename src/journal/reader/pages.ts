import type { Database } from 'better-sqlite3'
import type { ErrorCode } from '../../base/errors.ts'
import { decodeJson } from '../../base/json.ts'
import { lamportsToSol, type Millis, type Seq } from '../../base/units.ts'
import type { ConditionalState } from '../../engine/exits/conditional-order.ts'
import type { Output } from '../../engine/messages.ts'
import type { OrderState } from '../../engine/order.ts'
import type { TradeSide } from '../../market/block.ts'
import { type FillRow, type FillTableRow, fillOf, fillRow } from '../schema/fills.ts'

/** An order as `sluice orders --json` prints it. */
export interface OrderRow {
  readonly id: string
  readonly bot: string
  readonly mint: string
  readonly side: TradeSide
  /** State of the order. `waiting` and `done` occur only in conditional orders. */
  readonly state: OrderState | ConditionalState
  readonly code: ErrorCode | ''
  /** Reason for the order. While Sluice still proves whether the order executed, this text describes the progress of
   *  the proof. */
  readonly reason: string
  readonly time: Millis
  /** Robust price at the decision, SOL per token. For a conditional order, the price that the order waits for. null if
   *  the order has no such price. */
  readonly price: number | null
  /** Tag that the strategy gave; '' if there is none. */
  readonly tag: string
}

/** Kinds of outputs that are lines of the log. */
export type LogKind = 'alarm' | 'log' | 'message' | 'refused' | 'note'

export interface LogRow {
  readonly seq: Seq
  readonly n: number
  readonly time: Millis
  /** Token that the output is about; '' if there is none. */
  readonly mint: string
  readonly output: Output
}

/** Filter for the lines of the log; an undefined field selects all. */
export interface LogFilter extends ListFilter {
  readonly kinds: readonly LogKind[]
  readonly code?: string | undefined
}

/** Filter for the rows of a list; an undefined field selects all. */
export interface ListFilter {
  readonly bot: string | undefined
  readonly mint: string | undefined
}

/** A page of a list. `before`: cursor of the next page; undefined on the last page. */
export interface Page<Row> {
  readonly rows: readonly Row[]
  readonly before: readonly number[] | undefined
}

/** A closed position, in the engine's accounting. Amounts are in SOL. */
export interface PastPosition {
  readonly account: string
  readonly bot: string
  readonly mint: string
  readonly openedAt: Millis
  readonly closedAt: Millis
  readonly realizedSol: number
  readonly feesSol: number
  readonly netSol: number
}

/** A period without market data. `keys`: subscription keys without data; empty if no rows were recorded at all. */
export interface MarketGap {
  readonly from: Millis
  readonly to: Millis
  readonly keys: readonly string[]
  readonly cause: 'feed' | 'disk'
}

/** SQL of the columns of `OrderRow`. While Sluice still proves whether an order executed, `reason` describes the
 *  progress of this proof. */
export const ORDER_COLUMNS = `'o' || number AS id, bot, mint, side, state, code, coalesce((SELECT progress FROM watch
  WHERE order_id = 'o' || number AND progress <> '' AND state IN ('working', 'held')), reason) AS reason,
  time, json_extract(json, '$.price') AS price, coalesce(json_extract(json, '$.tag'), '') AS tag`
export const CONDITIONAL_COLUMNS = 'id, bot, mint, side, state, code, reason, time, price, tag'

/** Maximum number of outputs that one page of the log reads. */
const MOST_READ = 20_000

/** Reads the journal's lists in pages, newest first. Each page reads a bounded number of rows. */
export class Pages {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  /** Returns the lines of the log from before a given output. `end`: the oldest output that was examined, from which
   *  the next page continues; undefined if there are no older lines. */
  log(
    { kinds, bot, mint, code }: LogFilter,
    before: readonly [Seq, number],
    limit: number,
  ): { readonly rows: LogRow[]; readonly end: readonly [Seq, number] | undefined } {
    const wanted = [`kind IN (${kinds.map((kind) => `'${kind}'`).join(', ')})`]
    if (bot !== undefined) wanted.push('bot = @bot')
    if (mint !== undefined) wanted.push('mint = @mint')
    if (code !== undefined) wanted.push('code = @code')
    const read = `FROM output WHERE (seq, n) < (@seq, @n) ORDER BY seq DESC, n DESC LIMIT ${MOST_READ}`
    const given = { seq: before[0], n: before[1], bot, mint, code, limit }
    const rows = this.#db
      .prepare<[object], Omit<LogRow, 'output'> & { readonly json: string }>(
        `SELECT seq, n, time, mint, json FROM (SELECT seq, n, time, kind, bot, mint, code, json ${read})
         WHERE ${wanted.join(' AND ')} LIMIT @limit`,
      )
      .all(given)
      .map(({ json, ...row }) => ({ ...row, output: decodeJson<Output>(json) }))
    const last = rows.at(-1)
    if (rows.length === limit && last !== undefined) return { rows, end: [last.seq, last.n] }
    const oldest = this.#db
      .prepare<[object], { seq: Seq; n: number }>(
        `SELECT seq, n ${read.replace(/LIMIT \d+/, 'LIMIT 1 OFFSET')} ${MOST_READ - 1}`,
      )
      .get({ seq: before[0], n: before[1] })
    return { rows, end: oldest && [oldest.seq, oldest.n] }
  }

  /** Returns the orders and conditional orders whose numbers are below those of the cursor. */
  orders(filter: ListFilter, [order, conditional]: readonly number[], limit: number): Page<OrderRow> {
    const half = (open: 0 | 1): string => `SELECT * FROM (SELECT ${ORDER_COLUMNS} FROM "order"
      WHERE open = ${open} AND number < @order ${where(filter)} ORDER BY number DESC LIMIT @limit)`
    const given = { ...filter, order, conditional, limit: limit + 1 }
    const orders = this.#db.prepare<[object], OrderRow>(`${half(0)} UNION ALL ${half(1)}`).all(given)
    const conditionals = this.#db
      .prepare<[object], OrderRow>(
        `SELECT ${CONDITIONAL_COLUMNS} FROM conditional_orders
         WHERE CAST(substr(id, 2) AS INTEGER) < @conditional ${where(filter)} ORDER BY CAST(substr(id, 2) AS INTEGER) DESC LIMIT @limit`,
      )
      .all(given)
    const found = [...orders, ...conditionals].sort(newestFirst)
    const rows = found.slice(0, limit)
    const last = (kind: string, none: number | undefined): number =>
      rows.reduce((least, { id }) => (id.startsWith(kind) ? Number(id.slice(1)) : least), none ?? 0)
    return { rows, before: found.length > limit ? [last('o', order), last('c', conditional)] : undefined }
  }

  /** Returns the conditional orders of a token that wait for a price. */
  waiting(mint: string, limit: number): OrderRow[] {
    return this.#db
      .prepare<[string, number], OrderRow>(
        `SELECT ${CONDITIONAL_COLUMNS} FROM conditional_orders WHERE mint = ? AND state = 'waiting' AND price > 0 LIMIT ?`,
      )
      .all(mint, limit)
  }

  /** Returns the fills that no fork has reversed, in the order in which they were recorded. The numbers of their
   *  postings in the ledger give this order; the journal has no other index for it. */
  fills(filter: ListFilter, [before]: readonly number[], limit: number): Page<FillRow> {
    const found = this.#db
      .prepare<[object], FillTableRow & { readonly rowid: number }>(
        `SELECT f.*, p.id AS rowid FROM posting p CROSS JOIN fill f ON f.signature = p.signature AND f.order_id = p.order_id
         WHERE p.id < @before AND p.kind = 'fill' AND p.standing = 1 AND f.reversed = 0 ${where(filter, 'p.')}
         ORDER BY p.id DESC LIMIT @limit`,
      )
      .all({ ...filter, before, limit: limit + 1 })
    return pageOf(found, limit, (row) => fillRow(fillOf(row)))
  }

  /** Returns the last fills of a token in a range of time, oldest first. */
  fillsOf(mint: string, from: Millis, to: Millis, limit: number): FillRow[] {
    const rows = this.#db
      .prepare<[string, Millis, Millis, number], FillTableRow>(
        `SELECT * FROM fill WHERE mint = ? AND reversed = 0 AND time BETWEEN ? AND ? ORDER BY time DESC LIMIT ?`,
      )
      .all(mint, from, to, limit)
    return rows.map((row) => fillRow(fillOf(row))).reverse()
  }

  /** Returns the interruptions of the feed or of the recording that overlap a range of time, oldest first. */
  gaps(from: Millis, to: Millis, limit: number): MarketGap[] {
    const rows = this.#db
      .prepare<[Millis, Millis, number], { from: Millis; to: Millis; keys: string; cause: 'feed' | 'disk' }>(
        `SELECT "from", "to", keys, cause FROM gaps WHERE "to" >= ? AND "from" <= ? AND "to" > "from" ORDER BY seq DESC LIMIT ?`,
      )
      .all(from, to, limit)
    return rows.map(({ keys, ...gap }) => ({ ...gap, keys: JSON.parse(keys) as string[] })).reverse()
  }

  /** Returns the closed positions, in the order in which they closed. */
  positions(filter: ListFilter, [before]: readonly number[], limit: number): Page<PastPosition> {
    const found = this.#db
      .prepare<[object], ClosedRow>(
        `SELECT rowid, account, bot, mint, opened_at AS openedAt, realized_lamports AS realized, fee_lamports AS fees,
           coalesce((SELECT time FROM output WHERE output.seq = closed_seq LIMIT 1), opened_at) AS closedAt
         FROM past_position WHERE rowid < @before ${where(filter)} ORDER BY rowid DESC LIMIT @limit`,
      )
      .all({ ...filter, before, limit: limit + 1 })
    return pageOf(found, limit, ({ account, bot, mint, openedAt, closedAt, realized, fees }) => ({
      ...{ account, bot, mint, openedAt, closedAt, realizedSol: lamportsToSol(realized) },
      ...{ feesSol: lamportsToSol(fees), netSol: lamportsToSol(realized - fees) },
    }))
  }
}

interface ClosedRow extends Pick<PastPosition, 'account' | 'bot' | 'mint' | 'openedAt' | 'closedAt'> {
  readonly rowid: number
  readonly realized: number
  readonly fees: number
}

function where({ bot, mint }: ListFilter, table = ''): string {
  return `${bot === undefined ? '' : `AND ${table}bot = @bot `}${mint === undefined ? '' : `AND ${table}mint = @mint`}`
}

/** Sorts later rows first, and rows of the same time by their numbers. */
function newestFirst(one: OrderRow, other: OrderRow): number {
  return other.time - one.time || one.id.charCodeAt(0) - other.id.charCodeAt(0) || numberOf(other) - numberOf(one)
}

function numberOf({ id }: OrderRow): number {
  return Number(id.slice(1))
}

/** Returns the first `limit` rows as a page. If one more row was found, another page follows. */
function pageOf<Found extends { readonly rowid: number }, Row>(
  found: readonly Found[],
  limit: number,
  rowOf: (found: Found) => Row,
): Page<Row> {
  const shown = found.slice(0, limit)
  const last = found.length > limit ? shown.at(-1) : undefined
  return { rows: shown.map(rowOf), before: last && [last.rowid] }
}
