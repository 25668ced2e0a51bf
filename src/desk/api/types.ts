// JSON of the desk's API. The page imports only the types of this file and of runtime/view/view.ts. Times are ms since
// 1970, amounts are SOL, prices are SOL per token. Names and texts of tokens, strategies and services come from third
// parties: the page must show them as plain text.

import type { ListedRoundTrip } from '../../backtest/report/round-trips.ts'
import type { Millis } from '../../base/units.ts'
import type { OrderRow } from '../../journal/reader/reader.ts'
import type { FillRow } from '../../journal/schema/fills.ts'
import type { LogLine } from '../../runtime/view/view.ts'

/** The answer of each endpoint, by its path below `/api/`. */
export interface Answers {
  readonly orders: OrdersAnswer
  readonly fills: FillsAnswer
  readonly 'round-trips': RoundTripsAnswer
  readonly positions: PositionsAnswer
  readonly token: TokenAnswer
  readonly why: WhyAnswer
  readonly equity: EquityAnswer
  readonly money: MoneyAnswer
  readonly log: LogAnswer
  readonly refusals: RefusalsAnswer
  readonly results: ResultsAnswer
  readonly compare: CompareAnswer
}

/** A row with the symbol of its token; '' if the tape does not contain the token's launch. */
export type Named<Row> = Row & { readonly symbol: string }

/** A page of a list, newest rows first. */
interface ListPage {
  /** Value of `before` for the page with the next older rows; null if there are none. */
  readonly next: string | null
}

/** GET /api/orders?bot=&mint=&before=&limit= Orders and conditional orders, newest first. The rows are those of `sluice
 *  orders --json`. */
export interface OrdersAnswer extends ListPage {
  readonly orders: readonly Named<OrderRow>[]
}

/** GET /api/fills?bot=&mint=&before=&limit= The rows of `sluice fills --json`, newest first. */
export interface FillsAnswer extends ListPage {
  readonly fills: readonly Named<FillRow>[]
}

/** GET /api/round-trips?bot=&mint=&before=&limit= The rows of `sluice round-trips --json`. The round trip that closed
 *  last comes first. */
export interface RoundTripsAnswer extends ListPage {
  readonly roundTrips: readonly Named<ListedRoundTrip>[]
}

/** GET /api/positions?bot=&mint=&before=&limit= Closed positions. The position that closed last comes first. Open
 *  positions are in the view. */
export interface PositionsAnswer extends ListPage {
  readonly positions: readonly Named<ClosedPosition>[]
}

/**
 * A closed position in the engine's accounting, which uses the average cost. Its result does not include fees of failed
 * transactions; the result of a round trip does.
 */
export interface ClosedPosition {
  readonly account: string
  readonly bot: string
  readonly mint: string
  readonly openedAt: Millis
  readonly closedAt: Millis
  /** Proceeds of the sales minus the cost of the tokens sold. The fees of venue and service are subtracted. */
  readonly realizedSol: number
  /** Network fees and rent that was not returned. */
  readonly feesSol: number
  /** realizedSol - feesSol. */
  readonly netSol: number
}

/**
 * GET /api/token/MINT?from=&to=&span=&bars= Without `from`, the range is the last `span` seconds (default 3600) before
 * `to`, or before the token's last print. `bars` is a width such as 1m, 30 trades or 5 SOL. A series has at most 5,000
 * points. If there are more, the range is divided into equal parts, and only the lowest and the highest point of each
 * part are returned, so that no spike is lost.
 */
export interface TokenAnswer {
  readonly mint: string
  readonly symbol: string
  readonly name: string
  readonly from: Millis
  readonly to: Millis
  /** Time of the token's first and last print on the tape; null if there is none. */
  readonly first: Millis | null
  readonly last: Millis | null
  /** Robust price: times and prices. */
  readonly price: readonly [times: readonly Millis[], prices: readonly number[]]
  /** All trades of the token, as columns. */
  readonly prints: TokenPrints
  /** null without `bars`. */
  readonly bars: readonly TokenBar[] | null
  readonly fills: readonly TokenFill[]
  readonly refusals: readonly TokenWord[]
  readonly notes: readonly TokenWord[]
  /** Exits of the open positions, and conditional orders. */
  readonly exits: readonly TokenExit[]
  /** Times in which the feed or the recording was interrupted. */
  readonly gaps: readonly { readonly from: Millis; readonly to: Millis }[]
}

export interface TokenPrints {
  readonly t: readonly Millis[]
  readonly p: readonly number[]
  readonly sol: readonly number[]
  readonly side: readonly ('buy' | 'sell')[]
}

/** A bar of the robust price. `t`: time at which the bar ends; `v`: SOL traded in it. */
export interface TokenBar {
  readonly t: Millis
  readonly o: number
  readonly h: number
  readonly l: number
  readonly c: number
  readonly v: number
}

/**
 * An execution of an order of one of our bots. `p`: price including the fees of venue and service; null for a fill
 * without tokens.
 */
export interface TokenFill {
  readonly t: Millis
  readonly p: number | null
  readonly sol: number
  readonly side: 'buy' | 'sell'
  readonly orderId: string
  readonly bot: string
  readonly signature: string
}

/**
 * A refused request of a bot, or a note of a bot. If several with the same reason follow each other, one entry stands
 * for all of them. `count`: their number; `t`: time of the first one; `last`: time of the last one.
 */
export interface TokenWord {
  readonly t: Millis
  /** Id of the first one, which `/api/why/ID` explains. */
  readonly id: string
  readonly bot: string
  readonly code: string
  readonly text: string
  readonly count: number
  readonly last: Millis
}

/** An exit of an open position. `price`: price at which it fires; null for an exit that depends on time only. */
export interface TokenExit {
  readonly bot: string
  readonly kind: string
  readonly price: number | null
  readonly at: Millis | null
}

/** GET /api/why/ORDER, /api/why/DECISION (a refusal or a note, such as d1204.2) or /api/why/MINT?bot= The explanation
 *  of `sluice why`. */
export interface WhyAnswer {
  readonly kind: 'order' | 'conditional' | 'decision' | 'token'
  readonly title: string
  readonly mint: string
  readonly symbol: string
  readonly name: string
  readonly lines: readonly WhyLine[]
  /** Number of earlier lines that the answer leaves out because the explanation is too long. */
  readonly omitted: number
}

/** A line of an explanation. `time`: null for a line about the present state. `what`: the kind of the line. */
export interface WhyLine {
  readonly time: Millis | null
  readonly what: string
  readonly text: string
  readonly level: 'info' | 'warn'
}

/** GET /api/equity?bot=&mode=&points= Profit of each bot in one mode. From `recordedFrom` on, it contains the open
 *  positions, as if they were sold at each time; before, each round trip counts when it closes. The last point is the
 *  result of the bot in `sluice report`. */
export interface EquityAnswer {
  readonly mode: MoneyMode
  readonly modes: readonly MoneyMode[]
  readonly times: readonly Millis[]
  /** For each bot: the time from which its curve contains the open positions, 0 if the whole curve does; null if only
   *  the last point does. */
  readonly recordedFrom: Readonly<Record<string, Millis | null>>
  readonly bots: Readonly<Record<string, readonly number[]>>
}

/** `sandbox`: live on a sandbox that Sluice started, without real money. */
export type MoneyMode = 'live' | 'sandbox' | 'paper' | 'backtest'

/** GET /api/money?bot=&mode= */
export interface MoneyAnswer {
  readonly mode: MoneyMode
  /**
   * Modes for which the journal has fills or balances, in the order live, sandbox, paper. If the request has no `mode`,
   * the answer is for the first of them.
   */
  readonly modes: readonly MoneyMode[]
  readonly bots: readonly string[]
  /** Steps from gross to net. The first row is the gross result, and the last one the net result of `sluice report`.
   *  The rows between are the costs; a cost that reduces the result is negative. The sum of all rows before the last
   *  equals the last. */
  readonly waterfall: readonly MoneyRow[]
  /** Results of the round trips that closed on a day (UTC). */
  readonly daily: readonly { readonly day: string; readonly netSol: number; readonly trades: number }[]
  /**
   * Result of the open positions, as if they were sold now. The net result is the sum of `daily`, `openSol` and
   * `straySol`.
   */
  readonly openSol: number
  /** Fees of failed transactions that belong to no round trip; at most 0. */
  readonly straySol: number
  readonly ledger: readonly LedgerRow[]
}

export interface MoneyRow {
  readonly key: string
  readonly label: string
  readonly lamports: number
  readonly sol: number
}

/** The ledger of an account, compared with the wallet. */
export interface LedgerRow {
  readonly account: string
  /** Name of the wallet; absent if it has none. */
  readonly wallet?: string
  readonly ledgerLamports: number
  /** Difference from the wallet's balance that no posting explains; null before the first comparison. */
  readonly remainderLamports: number | null
  readonly worstLamports: number | null
  readonly auditedAt: Millis | null
}

/** GET /api/log?level=&bot=&mint=&before=&limit= Lines of the log, newest first. `level`: the least important level
 *  that is wanted. A page may have fewer lines than `limit` even if `next` is not null, because one request reads only
 *  a limited part of the journal. */
export interface LogAnswer extends ListPage {
  readonly lines: readonly LogLine[]
}

export type { LogLine }
export type LogLevel = LogLine['level']

/** GET /api/refusals?bot=&mint=&code=&before=&limit= Refused requests of the bots, newest first. */
export interface RefusalsAnswer extends ListPage {
  readonly refusals: readonly Named<RefusedRequest>[]
}

/** A request of a bot that was refused before it became an order. `id`: `/api/why/ID` explains it. */
export interface RefusedRequest {
  readonly id: string
  readonly time: Millis
  readonly bot: string
  readonly mint: string
  readonly code: string
  readonly text: string
}

/** GET /api/results Newest first. */
export interface ResultsAnswer {
  readonly runs: readonly ResultRun[]
}

/** A folder of `backtest --out`, or of a sweep. `page`: path at which the desk serves its HTML report; null if it has
 *  no report. */
export interface ResultRun {
  readonly name: string
  readonly path: string
  readonly kind: 'backtest' | 'sweep'
  readonly time: Millis
  /** Net result of all bots; for a sweep, the net result of its best param set; null if no param set has a result. */
  readonly netSol: number | null
  readonly page: string | null
}

/** GET /api/compare?run=NAME The journal (a) and a backtest of `results` (b), as `sluice compare` shows them. */
export interface CompareAnswer {
  readonly run: string
  readonly differences: readonly { readonly what: string; readonly a: string | null; readonly b: string | null }[]
  readonly notes: readonly string[]
  readonly bots: readonly {
    readonly bot: string
    readonly results: readonly { readonly what: string; readonly a: number | null; readonly b: number | null }[]
  }[]
  /** Number of equal decisions at the beginning, and the first pair that differs; null if the run has no decisions. */
  readonly decisions: {
    readonly equal: number
    readonly a: ComparedDecision | null
    readonly b: ComparedDecision | null
  } | null
}

export interface ComparedDecision {
  readonly time: Millis
  readonly kind: string
  readonly bot: string
  readonly mint: string
  readonly code: string
  readonly reason: string
}
