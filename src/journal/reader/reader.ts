import type { Database } from 'better-sqlite3'
import { type ErrorCode, SluiceError } from '../../base/errors.ts'
import { decodeJson } from '../../base/json.ts'
import { lamportsToSol, wholeTokens } from '../../base/units.ts'
import type { Worth } from '../../engine/accounting/money.ts'
import type { TokenMovement } from '../../engine/accounting/movement.ts'
import { isUnsellable, type Position, type PositionState, sellingText } from '../../engine/accounting/position.ts'
import type { ConditionalState } from '../../engine/exits/conditional.ts'
import type { Fill, OrderState } from '../../engine/order.ts'
import type { Decision } from '../../engine/replay/verify.ts'
import type { Block, TradeSide } from '../../market/block.ts'
import { Mints } from '../../market/mints.ts'
import type { Attempt } from '../../orders/attempt.ts'
import { damageOf, guarded, openForReading, refusalOf } from '../database.ts'
import { type FillRow, type FillTableRow, fillOf, fillRow } from '../schema/fills.ts'
import { MappedScan } from '../tape/block-row.ts'
import { type Market, type MarketItem, MarketTape, rowsOf } from '../tape/market-tape.ts'
import { type Segment, type SegmentItem, SegmentReplay, segmentsOf } from '../tape/segments.ts'
import { type SeqRange, TapeReader } from '../tape/tape-reader.ts'
import { TapeSearch } from '../tape/tape-search.ts'
import { History } from './history.ts'
import { type AccountLedger, accountLedgers, type LedgerEntry, ledgerEntries, movementsOf } from './ledger.ts'
import { type Recovered, recover } from './recovery.ts'
import { type ReportRows, reportRows } from './report-rows.ts'

// Rows as the commands print them with --json; amounts in SOL and whole tokens. Those of fills are in fill-row.ts.

export interface OrderRow {
  readonly id: string
  readonly bot: string
  readonly mint: string
  readonly side: TradeSide
  /** waiting, done: of a conditional order. */
  readonly state: OrderState | ConditionalState
  readonly code: ErrorCode | ''
  /** Why it was decided; while its outcome is being proved, how far that is. */
  readonly reason: string
}

export interface PositionRow {
  readonly bot: string
  readonly mint: string
  readonly state: PositionState
  readonly tokens: number
  readonly costSol: number
  /** What selling all of it would bring; null where nobody knows. */
  readonly valueSol: number | null
  /** Why it is being sold, how often that was tried, and whether it seems that it cannot be; '' where it is not. */
  readonly selling: string
}

export interface Counters {
  /** Market rows on the tape. */
  readonly events: number
  /** Orders, refusals, cancellations, alarms, and decisions not to trade. */
  readonly decisions: number
  readonly orders: number
  readonly fills: number
  /** Positions held now. */
  readonly positions: number
  readonly realizedSol: number
  /** Base fees, priority fees and rent. */
  readonly feesSol: number
  /** Times that the feed came back within a segment. */
  readonly reconnects: number
}

export type { MarketItem }

/** Opens a journal read-only, also one that is being written. Throws SluiceError (exit 1) where there is none, or it is
 *  corrupt, newer or no journal; every method throws it when the file turns out corrupt. `mapped`: its tape is read as
 *  `MappedScan` does. */
export function openReader(path: string, { mapped = false } = {}): JournalReader {
  const db = openForReading(path)
  try {
    return guarded(path, () => new JournalReader(path, db, mapped ? new MappedScan(db) : undefined))
  } catch (error) {
    db.close()
    throw error
  }
}

export class JournalReader {
  readonly path: string
  readonly #db: Database
  readonly #tape: TapeReader
  readonly #replay: SegmentReplay

  constructor(path: string, db: Database, scan?: MappedScan) {
    this.path = path
    this.#db = db
    this.#tape = new TapeReader(path, db, scan && ((seq) => scan.from(seq)))
    this.#replay = new SegmentReplay(db, this.#tape)
  }

  /** After this, what was not read yet of blocks cannot be read any more: their texts, and numbers that few look at. */
  close(): void {
    this.#db.close()
  }

  recover(): Recovered {
    return this.#read(() => recover(this.#db))
  }

  /** The seqs of the last `seconds` of the tape, counted back from its last row; empty without a tape. */
  warmupRange(seconds: number): SeqRange {
    return this.#read(() => this.#tape.lastSeconds(seconds, new Mints()))
  }

  /** The tape, or the rows of a range of it, block by block; tokens are numbered by `mints`. */
  blocks(mints: Mints, range: SeqRange = { from: 0, to: Number.MAX_SAFE_INTEGER }): Generator<Block, void, undefined> {
    return this.#readEach(this.#tape.rows(mints, range))
  }

  /** As `blocks`, for strategies that are shown it before a start and keep what they like: they may look at all of it
   *  when the journal is closed, or the tape dropped. */
  warmup(mints: Mints, range: SeqRange): Generator<Block, void, undefined> {
    return this.#readEach(this.#tape.rows(mints, range, true))
  }

  /** What was recorded of the market, for those who decide anew. */
  market(): Market {
    const tape = this.#read(() => this.#db.transaction(() => new MarketTape(this.#db, this.#tape))())
    const { stretches, rows } = tape
    const items = (mints: Mints): Iterable<MarketItem> => this.#readEach(tape.items(mints))
    return { stretches, rows, items, history: () => this.#readEach(tape.history()) }
  }

  /** The part of it that one segment heard, with what its strategies were shown before; undefined where that is not
   *  there any more. */
  marketOf({ number, rows, complete, start: { warm } }: Segment): Market | undefined {
    const tape = this.#read(() => this.#db.transaction(() => new MarketTape(this.#db, this.#tape))())
    const stretches = tape.stretches.filter(({ segment }) => segment === number)
    if (!complete || stretches.length === 0) return undefined
    return {
      stretches,
      rows,
      items: (mints) => this.#readEach(tape.items(mints, stretches)),
      history: () => this.#readEach(tape.history(stretches)),
      warmup: (mints) => this.warmup(mints, warm),
    }
  }

  /** As of one moment, though a process may be writing. */
  segments(): Segment[] {
    return this.#read(() => this.#db.transaction(() => segmentsOf(this.#db))())
  }

  /** Looks something up of what became of orders and of mints, all of it as of one moment. */
  look<T>(run: (history: History, tape: TapeSearch) => T): T {
    const [history, tape] = [new History(this.#db), new TapeSearch(this.#db, this.#tape)]
    return this.#read(() => this.#db.transaction(() => run(history, tape))())
  }

  /** Everything that happened in a segment, in order. */
  replay(segment: Segment, mints: Mints): Generator<SegmentItem, void, undefined> {
    return this.#readEach(this.#replay.items(segment, mints))
  }

  /** Throws SluiceError where what a restart reads is damaged. */
  checkIntegrity(): void {
    const damage = this.#read(() => damageOf(this.#db))
    if (damage !== '') throw new SluiceError(`${this.path} is corrupt (${damage}); restore it from a copy`)
  }

  /** Oldest first. The reason of one that is being proved is how far the proof is. */
  orders(): OrderRow[] {
    const orders = this.#all<OrderRow>(
      `SELECT id, bot, mint, side, state, code, coalesce((SELECT progress FROM watch
         WHERE order_id = orders.id AND progress <> '' AND orders.state IN ('working', 'held')), reason) AS reason
       FROM orders ORDER BY seq, id`,
    )
    return orders.concat(this.#conditionalOrders())
  }

  /** Behind the orders, oldest first: those that wait, and what became of the others. */
  #conditionalOrders(): OrderRow[] {
    return this.#all('SELECT id, bot, mint, side, state, code, reason FROM conditional_orders ORDER BY time, id')
  }

  /** Oldest first; without those that a fork took back. */
  fills(): FillRow[] {
    const rows = this.#all<FillTableRow>('SELECT * FROM fill WHERE reversed = 0 ORDER BY time, order_id')
    return rows.map((row) => fillRow(fillOf(row)))
  }

  /** Attempts that were no simulation, oldest first, each with its fill where one stands. */
  executions(): { readonly attempt: Attempt; readonly fill: Fill | undefined }[] {
    const fills = this.#all<FillTableRow>('SELECT * FROM fill WHERE reversed = 0').map(fillOf)
    const byAttempt = new Map(fills.map((fill) => [fill.attemptId, fill]))
    const attempts = this.#all<{ json: string }>(
      `SELECT json FROM attempt WHERE executor <> 'paper' ORDER BY armed_at, id`,
    ).map(({ json }) => decodeJson<Attempt>(json))
    return attempts.map((attempt) => ({ attempt, fill: byAttempt.get(attempt.id) }))
  }

  /** Orders, refusals, cancellations, alarms and notes, one at a time, in order. */
  decisions(): Generator<Decision, void, undefined> {
    const sql = 'SELECT time, kind, bot, mint, code, reason FROM decisions ORDER BY seq, n'
    return this.#readEach(iterated<Decision>(this.#db, sql))
  }

  /** Those that are held, oldest first. `worth`: what selling so much of a mint would bring, as far as the caller
   *  knows. */
  positions(worth: Worth = () => undefined): PositionRow[] {
    const rows = this.#all<{ json: string }>('SELECT json FROM position ORDER BY opened_at, mint')
    return rows.map(({ json }) => {
      const position = decodeJson<Position>(json)
      const { bot, mint, state, tokens, decimals, costLamports } = position
      const value = isUnsellable(position) ? 0 : worth(mint, tokens, decimals)
      const valueSol = value === undefined ? null : lamportsToSol(value)
      const [costSol, whole] = [lamportsToSol(costLamports), wholeTokens(tokens, decimals)]
      return { bot, mint, state, tokens: whole, costSol, valueSol, selling: sellingText(position) }
    })
  }

  /** The books of each account. */
  ledger(): AccountLedger[] {
    return this.#read(() => this.#db.transaction(() => accountLedgers(this.#db))())
  }

  /** What was posted of an order. */
  ledgerEntries(orderId: string): LedgerEntry[] {
    return this.#read(() => ledgerEntries(this.#db, orderId))
  }

  /** What changed how many tokens the wallets hold. */
  movements(): TokenMovement[] {
    return this.#read(() => this.#db.transaction(() => movementsOf(this.#db))())
  }

  /** What is told of the bots of all starts, but for their fills. */
  report(): ReportRows {
    return this.#read(() => this.#db.transaction(() => reportRows(this.#db))())
  }

  counters(): Counters {
    const money = `(SELECT realized_lamports, fee_lamports FROM past_position
      UNION ALL SELECT realized_lamports, fee_lamports FROM position)`
    const [sums] = this.#all<Omit<Counters, 'events' | 'reconnects'>>(
      `SELECT (SELECT count(*) FROM decisions) AS decisions, (SELECT count(*) FROM "order") AS orders,
         (SELECT count(*) FROM fill WHERE reversed = 0) AS fills, (SELECT count(*) FROM position) AS positions,
         (SELECT coalesce(sum(realized_lamports), 0) / 1e9 FROM ${money}) AS realizedSol,
         (SELECT coalesce(sum(fee_lamports), 0) / 1e9 FROM ${money}) AS feesSol`,
    )
    const events = this.#read(() => rowsOf(this.#db))
    return { events, ...(sums as NonNullable<typeof sums>), reconnects: this.#reconnects() }
  }

  /** A feed that is live after it was down, and was live in the same segment before. */
  #reconnects(): number {
    const rows = this.#all<{ segment: number; status: string }>(
      `SELECT segment, json_extract(json, '$.status') AS status FROM input WHERE kind = 'feed' ORDER BY seq`,
    )
    let count = 0
    let wasLive = 0
    let isDown = false
    for (const { segment, status } of rows) {
      if (status === 'live' && isDown && wasLive === segment) count++
      if (status === 'live') wasLive = segment
      isDown = status === 'down'
    }
    return count
  }

  #all<T>(sql: string): T[] {
    return this.#read(() => this.#db.prepare(sql).all() as T[])
  }

  #read<T>(run: () => T): T {
    return guarded(this.path, run)
  }

  *#readEach<T>(items: Generator<T, void, undefined>): Generator<T, void, undefined> {
    try {
      yield* items
    } catch (error) {
      throw refusalOf(this.path, error)
    }
  }
}

function* iterated<T>(db: Database, sql: string): Generator<T, void, undefined> {
  yield* db.prepare<[], T>(sql).iterate()
}
