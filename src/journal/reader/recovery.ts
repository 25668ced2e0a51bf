import type { Database } from 'better-sqlite3'
import { decodeJson } from '../../base/json.ts'
import { dayOf, HOUR, lamports, type Millis, type Seq } from '../../base/units.ts'
import type { Position } from '../../engine/accounting/position.ts'
import { widenMarks } from '../../engine/accounting/trip-sums.ts'
import type { ConditionalOrder } from '../../engine/exits/conditional-order.ts'
import { asSpend, type DaySpend, doesCount, type Spend } from '../../engine/limits/spending.ts'
import type { Input } from '../../engine/messages.ts'
import { type Fill, type Order, type OrderState, orderNumber } from '../../engine/order.ts'
import {
  type AccountMoney,
  type BotMoney,
  NO_MONEY,
  type OpenOrder,
  type RecoveredMoney,
  type Timer,
  type TokenState,
} from '../../engine/recovered-money.ts'
import type { Attempt } from '../../orders/attempt.ts'
import type { WalletCursor, WalletTransaction, Watch } from '../../orders/audit-records.ts'
import type { Slot } from '../../orders/ports.ts'
import type { Learned } from '../../orders/service-facts.ts'
import { type FillTableRow, fillOf } from '../schema/fills.ts'

/** The state that a process restores at its start. It comes from recorded decisions, and no decision is made again. It
 *  contains all accounts of the journal; the caller restores only the accounts of its own bots. */
export interface Recovered {
  readonly money: RecoveredMoney
  /** First unused seq. */
  readonly nextSeq: Seq
  /** First unused report id. */
  readonly nextReport: number
  /** The reports that the engine has not processed yet, by id. They are delivered again. */
  readonly untaken: readonly Extract<Input, { kind: 'report' }>[]
  /** The orders that are open or have an attempt that may still execute, oldest first. */
  readonly orders: readonly OpenOrder[]
  /** All attempts of `orders`, in order. An undecided attempt is resumed, never sent again. */
  readonly attempts: readonly Attempt[]
  readonly slots: readonly Slot[]
  /** Evidence that was gathered about the attempts that may still execute. */
  readonly watches: readonly Watch[]
  /** State of the audit of each wallet, and the wallet's transactions that concern an attempt. */
  readonly wallets: readonly { readonly cursor: WalletCursor; readonly transactions: readonly WalletTransaction[] }[]
  /** Facts that Sluice has learned about the trading services. */
  readonly learned: readonly Learned[]
  /** Number of the last segment; 0 if there was none. */
  readonly lastSegment: number
  /** Time of the last row, input or output; 0 in a new journal. */
  readonly lastTime: Millis
  /** Whether the previous process ended in an orderly way; true in a new journal. */
  readonly clean: boolean
}

const FILLS_RESTORED = 500

const CLOSED_LOOKED_AT = 500

/** Keys that occur only in the JSON of a position that sold more tokens than Sluice had booked as bought. */
const OVERSOLD = /"(oversold|soldEarly)"/

/** Reads the state that a start restores. The time that this takes depends on the number of open orders and positions,
 *  not on the age of the journal. */
export function recover(db: Database): Recovered {
  return db.transaction(() => {
    const orders = unsettledOrders(db)
    const attempts = orders.flatMap(({ order }) => attemptsOf(db, order.id))
    const watches = recordsOf<Watch>(db, 'SELECT json FROM watch ORDER BY attempt_id')
    const segment = db.prepare('SELECT number, ended FROM segment ORDER BY number DESC LIMIT 1').get() as
      | { number: number; ended: number | null }
      | undefined
    return {
      money: moneyOf(db, orders, attempts),
      nextSeq: lastOf(db, 'seq') + 1,
      nextReport: Math.max(numberOf(db, 'SELECT max(id) FROM report WHERE taken = 0') + 1, counterOf(db, 'nextReport')),
      untaken: untakenReports(db),
      orders,
      attempts,
      slots: slotsOf(db),
      watches,
      wallets: walletsOf(db, [...attempts, ...watches.map(({ attempt }) => attempt)]),
      learned: recordsOf<Learned>(db, 'SELECT json FROM learned ORDER BY about, name'),
      lastSegment: segment?.number ?? 0,
      lastTime: lastOf(db, 'time'),
      clean: segment === undefined || segment.ended !== null,
    }
  })()
}

function moneyOf(db: Database, orders: readonly OpenOrder[], attempts: readonly Attempt[]): RecoveredMoney {
  return {
    nextOrder: Math.max(lastOrder(db) + 1, counterOf(db, 'nextOrder')),
    nextTimer: Math.max(1, counterOf(db, 'nextTimer')),
    accounts: recordsOf<AccountMoney>(db, 'SELECT json FROM account ORDER BY account'),
    bots: recordsOf<BotMoney>(db, 'SELECT json FROM bot ORDER BY account, bot'),
    orders,
    positions: [...heldPositions(db), ...closedPositions(db, [...attempts, ...takenBack(db)])],
    nextConditional: Math.max(1, counterOf(db, 'nextConditional')),
    conditionals: recordsOf<ConditionalOrder>(db, 'SELECT json FROM conditional_order WHERE open = 1 ORDER BY number'),
    timers: recordsOf<Timer>(db, 'SELECT json FROM timer ORDER BY id'),
    fills: takenFills(db),
    ...spendsOf(db),
    tokenStates: recordsOf<TokenState>(db, 'SELECT json FROM token_state ORDER BY account, bot, mint'),
  }
}

function unsettledOrders(db: Database): OpenOrder[] {
  const rows = db
    .prepare(
      `WITH unsettled AS (SELECT number FROM "order" WHERE open = 1
         UNION SELECT CAST(substr(id, 2) AS INTEGER) FROM attempt WHERE undecided = 1)
       SELECT json, state FROM unsettled u JOIN "order" o ON o.open IN (0, 1) AND o.number = u.number ORDER BY u.number`,
    )
    .all()
  return (rows as { json: string; state: OrderState }[]).map(({ json, state }) => ({ order: decodeJson(json), state }))
}

/** Returns the amounts that buys requested: the individual amounts of the hour before the newest record, and the sums
 *  for the UTC day of that record. Orders are numbered by time, so the query need not read older orders. */
function spendsOf(db: Database): Pick<RecoveredMoney, 'spends' | 'daySpends'> {
  const last = lastOf(db, 'time')
  const spends: Spend[] = []
  const days = new Map<string, DaySpend>()
  const latest = db.prepare('SELECT time, side, state, json FROM "order" WHERE open = ? ORDER BY number DESC')
  for (const open of [0, 1])
    for (const row of latest.iterate(open)) {
      const { time, side, state, json } = row as Pick<Order, 'time' | 'side'> & { state: OrderState; json: string }
      if (time <= last - HOUR && dayOf(time) < dayOf(last)) break
      if (side !== 'buy') continue
      const spend = asSpend(decodeJson(json), doesCount(state))
      if (time > last - HOUR) spends.push(spend)
      if (spend.counts && dayOf(time) === dayOf(last)) addTo(days, spend)
    }
  spends.sort((one, other) => orderNumber({ id: one.orderId }) - orderNumber({ id: other.orderId }))
  return { spends, daySpends: [...days.values()] }
}

function addTo(days: Map<string, DaySpend>, { account, bot, time, lamports: amount }: Spend): void {
  const key = `${account}|${bot}`
  const before = days.get(key)?.lamports ?? 0
  days.set(key, { account, bot, day: dayOf(time), lamports: lamports(before + amount) })
}

type MarkedRow = { readonly json: string; readonly high: number | null } & (
  | { readonly best_lamports: null }
  | {
      readonly best_lamports: number
      readonly best_percent: number
      readonly worst_lamports: number
      readonly worst_percent: number
    }
)

/** Returns the open positions. Each contains the highest price and the best and worst profit that were recorded after
 *  its row was last written. */
export function heldPositions(db: Database): Position[] {
  const rows = db
    .prepare(
      `SELECT p.json, m.high_price AS high, t.best_lamports, t.best_percent, t.worst_lamports, t.worst_percent
       FROM position p LEFT JOIN mark m ON m.account = p.account AND m.mint = p.mint
       LEFT JOIN trip_mark t ON t.account = p.account AND t.mint = p.mint
       ORDER BY p.opened_at, p.mint`,
    )
    .all() as MarkedRow[]
  return rows.map(({ json, high, ...marks }) => {
    const position = decodeJson<Position>(json)
    position.highPrice = Math.max(position.highPrice, high ?? 0)
    if (marks.best_lamports === null) return position
    widenMarks(position, { lamports: marks.best_lamports, percent: marks.best_percent })
    widenMarks(position, { lamports: marks.worst_lamports, percent: marks.worst_percent })
    return position
  })
}

/** Returns the fills that a fork reversed, if the engine has not processed the report of the reversal yet. */
function takenBack(db: Database): Pick<Fill, 'signature' | 'orderId'>[] {
  return untakenReports(db).flatMap(({ report: { orderId, reversed } }) =>
    reversed === undefined ? [] : [{ orderId, signature: reversed }],
  )
}

/** Returns the closed positions that may still change, each in its last state. A position changes if a fork reverses
 *  the sale that closed it, or if the journal later learns of a buy of tokens that were already sold. Both happen soon
 *  after the sale, so only the last closed positions are read. */
function closedPositions(db: Database, sales: readonly Pick<Fill, 'signature' | 'orderId'>[]): Position[] {
  const since = provisionalSales(db, sales)
  const oldest = Math.min(...since.values())
  const [found, seen] = [[] as Position[], new Set<string>()]
  let left = CLOSED_LOOKED_AT
  const closed = db.prepare('SELECT closed_seq AS seq, account, mint, json FROM past_position ORDER BY rowid DESC')
  for (const row of closed.iterate()) {
    const { seq, account, mint, json } = row as { seq: Seq; account: string; mint: string; json: string }
    if (seq < oldest && left-- === 0) break
    const key = `${account}|${mint}`
    if (seen.has(key)) continue
    seen.add(key)
    if (seq >= (since.get(key) ?? Number.POSITIVE_INFINITY) || OVERSOLD.test(json)) found.push(decodeJson(json))
  }
  return found
}

/** Returns, by account and mint, the seq at which the engine processed the first sale that is not final. */
function provisionalSales(
  db: Database,
  sales: readonly Pick<Fill, 'signature' | 'orderId'>[],
): ReadonlyMap<string, Seq> {
  const sale = db.prepare(
    `SELECT taken, account, mint FROM fill
     WHERE signature = ? AND order_id = ? AND side = 'sell' AND final = 0 AND taken IS NOT NULL`,
  )
  const since = new Map<string, Seq>()
  for (const { signature, orderId } of sales) {
    const row = sale.get(signature, orderId) as { taken: Seq; account: string; mint: string } | undefined
    if (row === undefined) continue
    const key = `${row.account}|${row.mint}`
    since.set(key, Math.min(row.taken, since.get(key) ?? row.taken))
  }
  return since
}

/** Returns the last FILLS_RESTORED fills that the engine processed, oldest first. */
function takenFills(db: Database): Fill[] {
  const rows = db.prepare('SELECT * FROM fill WHERE taken IS NOT NULL ORDER BY taken DESC LIMIT ?').all(FILLS_RESTORED)
  return (rows as FillTableRow[]).map(fillOf).reverse()
}

function untakenReports(db: Database): Recovered['untaken'] {
  const rows = db.prepare('SELECT id, json FROM report WHERE taken = 0 ORDER BY id').all()
  return (rows as { id: number; json: string }[]).map(({ id, json }) => ({
    kind: 'report',
    id,
    report: decodeJson(json),
  }))
}

/** Returns the attempts of an order. The id of an attempt consists of the order's id, a dot and a number, so the
 *  attempts of an order are a range of the key. */
export function attemptsOf(db: Database, orderId: string): Attempt[] {
  const rows = db
    .prepare('SELECT json FROM attempt WHERE undecided IN (0, 1) AND id > ? AND id < ?')
    .pluck()
    .all(`${orderId}.`, `${orderId}/`)
  return (rows as string[])
    .map((json) => decodeJson<Attempt>(json))
    .sort((one, other) => tryOf(one.id) - tryOf(other.id))
}

function tryOf(attemptId: string): number {
  return Number(attemptId.slice(attemptId.indexOf('.') + 1))
}

/** Returns the state of the audit of each wallet, with the wallet's transactions since the oldest of the given
 *  attempts. */
function walletsOf(db: Database, attempts: readonly Attempt[]): Recovered['wallets'] {
  const rows = db.prepare('SELECT json FROM wallet_transaction WHERE account = ? AND slot > ? ORDER BY slot').pluck()
  return recordsOf<WalletCursor>(db, 'SELECT json FROM wallet ORDER BY account').map((cursor) => {
    const own = attempts.filter(({ account }) => account === cursor.account)
    const since = Math.min(cursor.slot, ...own.map(({ baseline }) => baseline?.slot ?? cursor.slot))
    return { cursor, transactions: rows.all(cursor.account, since).map((json) => decodeJson(json as string)) }
  })
}

function slotsOf(db: Database): Slot[] {
  const rows = db.prepare('SELECT key, id, boot, taken_at, done_at FROM slot ORDER BY key, id').safeIntegers().all()
  return (rows as { key: string; id: bigint; boot: string; taken_at: bigint; done_at: bigint | null }[]).map((row) => ({
    key: row.key,
    id: Number(row.id),
    boot: row.boot,
    takenAt: row.taken_at,
    doneAt: row.done_at,
  }))
}

/** Returns the highest seq or time of any record; 0 in a new journal. */
function lastOf(db: Database, what: 'seq' | 'time'): number {
  const last = (table: string, column: string, order: string) =>
    numberOf(db, `SELECT ${column} FROM ${table} ORDER BY ${order} DESC LIMIT 1`)
  return Math.max(
    last('block', `last_${what}`, 'last_seq'),
    last('input', what, 'seq'),
    last('output', what, 'seq'),
    last('segment', what, 'number'),
    last('missing', `last_${what}`, 'first_seq'),
  )
}

/** Returns the highest number of an order; 0 if there is none. */
function lastOrder(db: Database): number {
  const of = (open: 0 | 1) => numberOf(db, `SELECT max(number) FROM "order" WHERE open = ${open}`)
  return Math.max(of(0), of(1))
}

/** Returns the value of a counter; 0 if the journal does not have it. */
function counterOf(db: Database, name: string): number {
  return numberOf(db, `SELECT value FROM counter WHERE name = '${name}'`)
}

function recordsOf<T>(db: Database, sql: string): T[] {
  return (db.prepare(sql).pluck().all() as string[]).map((json) => decodeJson<T>(json))
}

/** Runs a query for one number. Returns 0 if there is no row. */
function numberOf(db: Database, sql: string): number {
  return (db.prepare(sql).pluck().get() as number | null | undefined) ?? 0
}

/** The recovered state of an empty journal. */
export const NO_PAST: Recovered = {
  ...{ money: NO_MONEY, nextSeq: 1, nextReport: 1, untaken: [], orders: [], attempts: [], slots: [], watches: [] },
  ...{ wallets: [], learned: [], lastSegment: 0, lastTime: 0, clean: true },
}
