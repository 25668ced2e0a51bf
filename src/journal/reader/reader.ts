import type { Database } from 'better-sqlite3'
import { SluiceError } from '../../base/errors.ts'
import { decodeJson } from '../../base/json.ts'
import { lamportsToSol, type Millis, type Seq, startOfDay, wholeTokens } from '../../base/units.ts'
import type { Worth } from '../../engine/accounting/money.ts'
import type { TokenMovement } from '../../engine/accounting/movement.ts'
import { isUnsellable, type Position, type PositionState, sellingText } from '../../engine/accounting/position.ts'
import type { Output, StartInput, WarmGap } from '../../engine/messages.ts'
import type { Fill } from '../../engine/order.ts'
import type { Decision } from '../../engine/replay/compare-decisions.ts'
import type { SourceValue } from '../../engine/sources.ts'
import type { Block } from '../../market/block.ts'
import { Mints } from '../../market/mints.ts'
import type { Attempt } from '../../orders/attempt.ts'
import type { NetResult } from '../../orders/ports.ts'
import type { Learned } from '../../orders/service-facts.ts'
import { damageOf, guarded, openForReading, refusalOf } from '../database.ts'
import type { Finding } from '../proof/finding.ts'
import { changedRows, findingsOf } from '../proof/findings.ts'
import { lackOf } from '../proof/missing-rows.ts'
import { type FillRow, type FillTableRow, fillOf, fillRow } from '../schema/fills.ts'
import { IS_FEED, SEEN_TO } from '../schema/stretches.ts'
import { MappedScan } from '../tape/block-row.ts'
import { LAST_SOURCES, type Market, type MarketItem, MarketTape, rowsOf, type SourceNews } from '../tape/market-tape.ts'
import { type Segment, type SegmentItem, SegmentReplay, segmentsOf } from '../tape/recorded-segments.ts'
import type { BlockKey, LoadRest } from '../tape/tape-block.ts'
import { TapeIndex } from '../tape/tape-index.ts'
import { type SeqRange, TapeReader } from '../tape/tape-reader.ts'
import { TapeSearch } from '../tape/tape-search.ts'
import { DecisionIndex } from './decision-index.ts'
import { History } from './history.ts'
import {
  type AccountLedger,
  accountLedgers,
  type BotLines,
  botLines,
  type LedgerEntry,
  ledgerEntries,
  type MovementCursor,
  type MovementNews,
  movementNews,
  movementsOf,
} from './ledger.ts'
import { CONDITIONAL_COLUMNS, ORDER_COLUMNS, type OrderRow, Pages } from './pages.ts'
import { buysOf, type RecordedBuy } from './position-buys.ts'
import { heldPositions, type Recovered, recover } from './recovery.ts'
import { type ReportRows, reportRows } from './report-rows.ts'
import { fillsFrom, messagesFrom, type SegmentMessage } from './segment-messages.ts'

// The interfaces below are rows of lists, in the form in which commands print them with --json: amounts are SOL and
// whole tokens. Rows of fills are in schema/fills.ts, those of orders in pages.ts.

export interface PositionRow {
  readonly bot: string
  readonly mint: string
  readonly state: PositionState
  readonly tokens: number
  readonly costSol: number
  /** Liquidation value; null if unknown. */
  readonly valueSol: number | null
  /** Text about the exit of the position that is open: its reason, its number of attempts, and whether the token seems
   *  unsellable; '' if no exit is open. */
  readonly selling: string
}

/** A position as `sluice positions --json` prints it. */
export interface ListedPosition extends PositionRow {
  /** Time at which the position opened. */
  readonly time: Millis
  /** Average price paid, SOL per token, including the fees of venue and service; 0 while opening. */
  readonly price: number
}

/** The best and the worst profit that a sale of a closed position could have given while the position was held. */
export interface ClosedMarks {
  readonly account: string
  readonly mint: string
  readonly openedAt: Millis
  /** Profit in lamports, and in percent of the amount paid for tokens. */
  readonly bestLamports: number
  readonly bestPercent: number
  readonly worstLamports: number
  readonly worstPercent: number
}

/** Results of each bot in each account, without the value of open positions. */
export interface PastResults {
  /** Time of the first start; null if there was no start. */
  readonly since: Millis | null
  readonly bots: readonly {
    readonly account: string
    readonly bot: string
    /** Profit of the sales before network fees and rent. */
    readonly realized: number
    /** Network fees and rent, including the fees of failed transactions. */
    readonly fees: number
    /** The part of `fees` since the present UTC day began. */
    readonly dayFees: number
    /** The part of `dayFees` that is rent. */
    readonly dayRent: number
    /** Number of positions that were bought and closed, and number of those that earned more than their fees and
     *  rent. */
    readonly trades: number
    readonly won: number
  }[]
}

export interface Counters {
  /** Number of market rows on the tape. */
  readonly events: number
  /** Number of orders, refusals, cancellations, alarms and notes. */
  readonly decisions: number
  readonly orders: number
  readonly fills: number
  /** Number of open positions. */
  readonly positions: number
  readonly realizedSol: number
  /** Sum of base fees, priority fees and rent. */
  readonly feesSol: number
  /** Number of reconnects of the feed within segments. */
  readonly reconnects: number
}

export type { MarketItem, OrderRow }

const PAST_RESULTS = `
  SELECT account, bot, sum(realized) AS realized, sum(fees) AS fees, sum(iif(time >= @day, fees, 0)) AS dayFees,
    sum(iif(time >= @day, rent, 0)) AS dayRent,
    sum(trade) AS trades, sum(won) AS won
  FROM (
    SELECT account, bot, realized_lamports AS realized, 0 AS fees, 0 AS rent, 0 AS time,
      json_extract(json, '$.averagePrice') > 0 AS trade,
      json_extract(json, '$.averagePrice') > 0 AND realized_lamports > fee_lamports AS won FROM past_position
    UNION ALL SELECT account, bot, realized_lamports, 0, 0, 0, 0, 0 FROM position
    UNION ALL SELECT account, bot, 0, fee_lamports + rent_lamports, rent_lamports, time, 0, 0 FROM fill WHERE reversed = 0
    UNION ALL SELECT account, bot, 0, -wallet, 0, time, 0, 0 FROM posting WHERE kind = 'failed' AND standing = 1
  ) GROUP BY account, bot`

const TELEGRAM_UPDATES = `
  SELECT telegram_update AS "update" FROM commands WHERE time >= ? AND telegram_update IS NOT NULL`

/** Opens a journal read-only; another process may be writing it. Throws SluiceError (exit 1) if the file is missing,
 *  corrupt, newer, or not a journal. Every method throws SluiceError if it finds the file corrupt. `mapped`: whether to
 *  read the tape through a memory map, see `MappedScan`. */
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
  #index: DecisionIndex | undefined

  constructor(path: string, db: Database, scan?: MappedScan) {
    this.path = path
    this.#db = db
    this.#tape = new TapeReader(path, db, scan && ((seq) => scan.from(seq)))
    this.#replay = new SegmentReplay(db, this.#tape)
  }

  /** Closes the journal. After that, blocks that were read before cannot load any more columns and texts. */
  close(): void {
    this.#tape.close()
    this.#db.close()
  }

  recover(): Recovered {
    return this.#read(() => recover(this.#db))
  }

  /** Returns the range of seqs of the last `seconds` of the tape, counted back from its last row; empty if there is no
   *  tape. */
  warmupRange(seconds: number): SeqRange {
    return this.#read(() => this.#tape.lastSeconds(seconds, new Mints()))
  }

  /** Returns the times without market data that ended after the row `seq`, in order: interruptions of the feed or of
   *  the recording. */
  gapsSince(seq: Seq): WarmGap[] {
    const rows = this.#read(() =>
      this.#db
        .prepare<[Seq], { from: Millis; to: Millis; keys: string }>(
          `SELECT "from", "to", keys FROM gaps WHERE seq > ? AND "to" > "from" ORDER BY seq`,
        )
        .all(seq),
    )
    return rows.map(({ from, to, keys }) => {
      const missed = JSON.parse(keys) as string[]
      return { from, to, keys: missed.length === 0 ? ['trades'] : missed }
    })
  }

  /** Returns the time up to which the last recording contains market data. This is the end of the recording or, if the
   *  feed was interrupted at that time, the start of the interruption; 0 without a tape. */
  seenTo(): Millis {
    return this.#read(() => this.#db.prepare<[], Millis>(SEEN_TO).pluck().get() ?? 0)
  }

  /** Yields the rows of the tape, or of a range of seqs, block by block. `mints` gives each token its number. */
  blocks(mints: Mints, range: SeqRange = { from: 0, to: Number.MAX_SAFE_INTEGER }): Generator<Block, void, undefined> {
    return this.#readEach(this.#tape.rows(mints, range))
  }

  /** Yields blocks for the warm-up of strategies. Strategies may keep these blocks: unlike the blocks of `blocks`, all
   *  their columns stay readable after `close` and after the tape is dropped. */
  warmup(mints: Mints, range: SeqRange): Generator<Block, void, undefined> {
    return this.#readEach(this.#tape.rows(mints, range, true))
  }

  /** Returns the recorded market without decisions, for a backtest. */
  market(): Market {
    const tape = this.#read(() => this.#db.transaction(() => new MarketTape(this.#db, this.#tape))())
    const { stretches, rows } = tape
    const items: Market['items'] = (mints, span) => this.#readEach(tape.items(mints, stretches, span))
    return { stretches, rows, items, history: () => this.#readEach(tape.history()) }
  }

  /** Returns functions that load the columns of a block that a scan leaves out, see `TapeReader.restOf`. */
  restOf(key: BlockKey): LoadRest {
    return this.#tape.restOf(key)
  }

  /** Returns the market of one recorded segment (one start of one process), with the tape of the segment's warm-up;
   *  undefined if a part of the segment was dropped. */
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

  /** Returns all segments, read in one snapshot, because a process may be writing. */
  segments(): Segment[] {
    return this.#read(() => this.#db.transaction(() => segmentsOf(this.#db))())
  }

  /** Runs lookups of orders and mints on one snapshot. */
  look<T>(run: (history: History, tape: TapeSearch) => T): T {
    const tape = new TapeSearch(this.#db, this.#tape)
    return this.#read(() => this.#db.transaction(() => run(new History(this.#db, this.#index), tape))())
  }

  /** Returns a number that changes each time that another connection has written to the journal. */
  get version(): number {
    return this.#read(() => this.#db.pragma('data_version', { simple: true }) as number)
  }

  /** Runs several readings on one snapshot. */
  snapshot<T>(run: () => T): T {
    return this.#read(() => this.#db.transaction(run)())
  }

  /** Reads pages of lists on one snapshot. */
  pages<T>(run: (pages: Pages) => T): T {
    return this.#read(() => this.#db.transaction(() => run(new Pages(this.#db)))())
  }

  /** Yields the market rows, inputs and outputs of a segment, in order. */
  replay(segment: Segment, mints: Mints): Generator<SegmentItem, void, undefined> {
    return this.#readEach(this.#replay.items(segment, mints))
  }

  /** Yields the inputs and outputs from a seq on, in order. Of an output whose kind is in `bare`, and of a report
   *  without a fee, only the kind is read. */
  messagesFrom(seq: Seq, bare: ReadonlySet<Output['kind']>): Generator<SegmentMessage, void, undefined> {
    return this.#readEach(messagesFrom(this.#db, seq, bare))
  }

  /** Returns the fills that the engine processed from a seq on, in order. */
  fillsFrom(seq: Seq): Fill[] {
    return this.#read(() => fillsFrom(this.#db, seq))
  }

  /** Opens a snapshot that lasts until `close`: all later reads see the journal in its present state, even if a process
   *  is writing it. */
  hold(): void {
    this.#read(() => this.#db.exec('BEGIN; SELECT 1 FROM segment LIMIT 1'))
  }

  /** Returns the reason why a segment with missing records cannot be replayed. */
  lackOf({ firstSeq, lastSeq }: Segment): string {
    return this.#read(() => lackOf(this.#db, firstSeq, lastSeq))
  }

  /** Yields the rows of the journal that contradict other rows. */
  findings(): Generator<Finding, void, undefined> {
    return this.#readEach(findingsOf(this.#db, this.#tape))
  }

  /** Yields the rows that were changed after they were written, and those that are missing. This is a part of
   *  `findings` that takes seconds instead of minutes. */
  changedRows(): Generator<Finding, void, undefined> {
    return this.#readEach(changedRows(this.#db, this.#tape))
  }

  /** Throws SluiceError if a table that a restart reads is damaged. */
  checkIntegrity(): void {
    const damage = this.#read(() => damageOf(this.#db))
    if (damage !== '') throw new SluiceError(`${this.path} is corrupt (${damage}); restore it from a backup`)
  }

  /** Returns all orders, oldest first. While Sluice still proves whether an order executed, `reason` describes the
   *  progress of this proof. */
  orders(): OrderRow[] {
    const orders = this.#all<OrderRow>(`SELECT ${ORDER_COLUMNS} FROM "order" ORDER BY seq, number`)
    return orders.concat(this.#conditionalOrders())
  }

  /** Returns all conditional orders, oldest first. */
  #conditionalOrders(): OrderRow[] {
    return this.#all(`SELECT ${CONDITIONAL_COLUMNS} FROM conditional_orders ORDER BY time, id`)
  }

  /** Returns the last data of each source, oldest first. */
  lastSources(): SourceValue[] {
    const rows = this.#read(() => this.#db.prepare(LAST_SOURCES).all(Number.MAX_SAFE_INTEGER)) as {
      time: Millis
      json: string
    }[]
    return rows.map(({ time, json }) => {
      const { bot, name, data = null } = decodeJson<SourceNews>(json)
      return { bot, name, data, time }
    })
  }

  /** Returns the ids of the Telegram updates that have confirmed a command since `since`. */
  telegramUpdates(since: Millis): number[] {
    const rows = this.#read(() => this.#db.prepare(TELEGRAM_UPDATES).all(since)) as { update: number }[]
    return rows.map(({ update }) => update)
  }

  /** Returns all fills, oldest first, without those that a fork reversed. */
  fills(): FillRow[] {
    const rows = this.#all<FillTableRow>('SELECT * FROM fill WHERE reversed = 0 ORDER BY time, order_id')
    return rows.map((row) => fillRow(fillOf(row)))
  }

  /** Returns all attempts of live trading, oldest first, each with its fill if it was filled. */
  executions(): { readonly attempt: Attempt; readonly fill: Fill | undefined }[] {
    const fills = this.#all<FillTableRow>('SELECT * FROM fill WHERE reversed = 0').map(fillOf)
    const byAttempt = new Map(fills.map((fill) => [fill.attemptId, fill]))
    const attempts = this.#all<{ json: string }>(
      `SELECT json FROM attempt WHERE executor <> 'paper' ORDER BY armed_at, id`,
    ).map(({ json }) => decodeJson<Attempt>(json))
    return attempts.map((attempt) => ({ attempt, fill: byAttempt.get(attempt.id) }))
  }

  /** Yields orders, refusals, cancellations, alarms and notes, in order. */
  decisions(): Generator<Decision, void, undefined> {
    const sql = 'SELECT time, kind, bot, mint, code, reason FROM decisions ORDER BY seq, n'
    return this.#readEach(iterated<Decision>(this.#db, sql))
  }

  /** Returns the number of rows that `decisions` yields. */
  decisionCount(): number {
    const [row] = this.#all<{ count: number }>('SELECT count(*) AS count FROM decisions')
    return row?.count ?? 0
  }

  /** Returns the open positions, oldest first. `worth` returns the liquidation value of a position if the caller knows
   *  it. */
  positions(worth: Worth = () => undefined): ListedPosition[] {
    const rows = this.#all<{ json: string }>('SELECT json FROM position ORDER BY opened_at, mint')
    return rows.map(({ json }) => {
      const position = decodeJson<Position>(json)
      const { bot, mint, state, tokens, decimals, costLamports, openedAt: time, averagePrice: price } = position
      const value = isUnsellable(position) ? 0 : worth(position)
      const valueSol = value === undefined ? null : lamportsToSol(value)
      const [costSol, whole] = [lamportsToSol(costLamports), wholeTokens(tokens, decimals)]
      return { bot, mint, state, tokens: whole, costSol, valueSol, selling: sellingText(position), time, price }
    })
  }

  /** Returns the best and worst profit of each closed position, in the order of closing. A position that a fork
   *  reopened is listed again when it closes again. Positions that older versions opened have no such values. */
  closedMarks(after = 0): (ClosedMarks & { readonly row: number })[] {
    const sql = `SELECT rowid AS row, account, mint, opened_at AS openedAt,
         json_extract(json, '$.best.lamports') AS bestLamports, json_extract(json, '$.best.percent') AS bestPercent,
         json_extract(json, '$.worst.lamports') AS worstLamports, json_extract(json, '$.worst.percent') AS worstPercent
       FROM past_position WHERE rowid > ? AND json_type(json, '$.best') IS NOT NULL
         AND json_type(json, '$.worst') IS NOT NULL ORDER BY rowid`
    return this.#read(() => this.#db.prepare<[number], ClosedMarks & { readonly row: number }>(sql).all(after))
  }

  /** Returns the recorded results of the bots after a row, at most `most` of them, oldest first. */
  netResultsAfter(row: number, most: number): (NetResult & { readonly row: number })[] {
    const sql = `SELECT rowid AS row, time, account, bot, net_lamports AS netLamports FROM net_result
      WHERE rowid > ? ORDER BY rowid LIMIT ?`
    return this.#read(() =>
      this.#db.prepare<[number, number], NetResult & { readonly row: number }>(sql).all(row, most),
    )
  }

  /** Returns the results of all bots so far, and separately the fees and rent of the UTC day of `now`. */
  pastResults(now: Millis): PastResults {
    const [first] = this.#all<Pick<PastResults, 'since'>>('SELECT min(time) AS since FROM segment')
    const bots = this.#read(() =>
      this.#db.prepare<[object], PastResults['bots'][number]>(PAST_RESULTS).all({ day: startOfDay(now) }),
    )
    return { since: first?.since ?? null, bots }
  }

  /** Returns the buys that may have opened the given positions or added to them, oldest first. */
  buysOf(positions: readonly Pick<Position, 'account' | 'mint' | 'openedAt'>[]): RecordedBuy[] {
    return this.#read(() => this.#db.transaction(() => buysOf(this.#db, positions))())
  }

  /** Returns the ledger of each account. */
  ledger(): AccountLedger[] {
    return this.#read(() => this.#db.transaction(() => accountLedgers(this.#db))())
  }

  /** Returns the postings of an order. */
  ledgerEntries(orderId: string): LedgerEntry[] {
    return this.#read(() => ledgerEntries(this.#db, orderId))
  }

  /** Returns every change of the wallets' tokens. */
  movements(): TokenMovement[] {
    return this.#read(() => this.#db.transaction(() => movementsOf(this.#db))())
  }

  /** Returns the token movements and the fees of failed transactions that have changed since a cursor. `most`: maximum
   *  number of postings to read. */
  movementsSince(cursor: MovementCursor, most = Number.POSITIVE_INFINITY): MovementNews {
    return this.#read(() => this.#db.transaction(() => movementNews(this.#db, cursor, most))())
  }

  /** Returns the ledger's lines of each bot, summed over a range of postings; see `botLines`. */
  botLines(after: number, upTo: number): BotLines[] {
    return this.#read(() => botLines(this.#db, after, upTo))
  }

  /** Returns the open positions with the highest price and the best and worst profit so far, oldest first. */
  heldPositions(): Position[] {
    return this.#read(() => heldPositions(this.#db))
  }

  /** Returns the facts with this name that Sluice has learned about services, ordered by subject. */
  learned(name: string): Learned[] {
    const rows = this.#read(() =>
      this.#db.prepare<[string], { json: string }>('SELECT json FROM learned WHERE name = ? ORDER BY about').all(name),
    )
    return rows.map(({ json }) => decodeJson<Learned>(json))
  }

  /** Returns the start of the last segment; undefined if no process has run. */
  lastStart(): StartInput | undefined {
    const [last] = this.#all<{ json: string }>('SELECT json FROM segment ORDER BY number DESC LIMIT 1')
    return last && decodeJson<StartInput>(last.json)
  }

  /** Returns the names of the wallets, by account. A wallet without a name is left out. */
  walletNames(): Map<string, string> {
    const rows = this.#all<{ account: string; name: string }>(
      `SELECT json_extract(bot.value, '$.account.id') AS account, json_extract(bot.value, '$.wallet') AS name
       FROM segment, json_each(segment.json, '$.bots') AS bot WHERE name IS NOT NULL ORDER BY segment.number`,
    )
    return new Map(rows.map(({ account, name }) => [account, name]))
  }

  /** From now on, `look` uses an index of decisions. This helps a reader that looks up many decisions. */
  indexDecisions(): void {
    this.#read(() => this.#decisionIndex())
  }

  /** Adds new records to the index of decisions, at most `most` seqs. Returns whether the index is complete now. */
  indexMoreDecisions(most: number): boolean {
    return this.snapshot(() => this.#decisionIndex().refresh(most))
  }

  #decisionIndex(): DecisionIndex {
    this.#index ??= new DecisionIndex(this.#db)
    return this.#index
  }

  /** Returns an index of the tape's tokens, for a reader that looks up many tokens while the tape grows. */
  tapeIndex(): TapeIndex {
    return new TapeIndex(this.#db, this.#tape, (run) => this.#read(run))
  }

  /** Returns the rows from which `sluice report` is computed, for all segments, without the movements of tokens. */
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

  /** Counts how often the feed became live again after it was down in the same segment. */
  #reconnects(): number {
    const rows = this.#all<{ segment: number; status: string }>(
      `SELECT segment, json_extract(json, '$.status') AS status FROM input WHERE ${IS_FEED} ORDER BY seq`,
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
