import type { ErrorCode } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import type { Millis, Seq } from '../../base/units.ts'
import type { RpcUse } from '../../chain/rpc/rpc.ts'
import type { GateCode } from '../../engine/messages.ts'
import type { OrderClass, OrderState } from '../../engine/order.ts'
import type { Plan } from '../../engine/settings.ts'
import type { PositionRow } from '../../journal/reader/reader.ts'
import type { TradeSide } from '../../market/block.ts'
import type { AttemptState } from '../../orders/attempt.ts'
import type { Budget } from '../../orders/budget-status.ts'

// The view of the bots, as plain JSON. The live table, `sluice status --json` and the desk show it.

/** State of bots at a moment. */
export interface View extends Health, FeedStatus {
  /** `SEGMENT-N`: the number of the journal's segment (start of a process), and the number of changes that this process
   *  has announced. */
  readonly id: string
  /** Title of the run, a text for people. */
  readonly title: string
  /** `recorded`: the view of a journal that no process writes, so no command is possible. */
  readonly source: 'running' | 'recorded' | 'results'
  readonly startedAt: Millis
  readonly time: Millis
  /** Number of the last market row or input that the view contains. */
  readonly seq: Seq
  /** Number of market rows since this start; the counts of orders, fills and gaps also begin at this start. */
  readonly rows: number
  readonly decisions: number
  readonly orders: number
  readonly fills: number
  readonly totals: Totals
  readonly journal: JournalStatus
  /** The process that trades; null for a recorded journal. */
  readonly process: ProcessStatus | null
  /** Reasons for which bots open no positions; empty if entries are allowed. */
  readonly stops: readonly EntryStop[]
  /** Orders in doubt for more than a minute. */
  readonly undecided: readonly UndecidedStatus[]
  readonly bots: readonly BotStatus[]
  /** Time of the first start that the journal recorded; `startedAt` if this is the first one. */
  readonly beganAt: Millis
  readonly wallets: readonly WalletStatus[]
  /** Positions that are not closed, oldest first. */
  readonly positions: readonly PositionStatus[]
  /** Open orders, oldest first. */
  readonly openOrders: readonly OrderStatus[]
  /** The last fills, newest first. */
  readonly lastFills: readonly FillStatus[]
  /** The last alerts, warnings and errors of the process, newest first; empty for a recorded journal. The log lines of
   *  the bots are not among them, because the journal records those. */
  readonly notices: readonly Notice[]
}

/** An alert that was raised, or a warning or an error of the process that runs the bots. */
export interface Notice {
  readonly time: Millis
  readonly level: 'alert' | 'warn' | 'error'
  /** Kind of the alert, as in docs/operate.md; '' for a warning or an error. */
  readonly kind: string
  /** Name of the bot that an alert is about; '' if it is about every bot. */
  readonly bot: string
  readonly text: string
}

/** The part of the process's state that concerns all bots. */
export interface Health {
  /** State of the feed's connection; `recorded` for a recorded journal. */
  readonly feed: string
  readonly reconnects: number
  readonly plan: Plan
  /** Reason for which the limits of the plan are unknown; '' if they are known. */
  readonly planNotice: string
  readonly requests: Budget
  /** Problems of the files with filter lists. The last valid list stays in use. */
  readonly brokenLists: readonly string[]
  /** Problems of sources whose last answer was not valid. The strategies keep the last valid data. */
  readonly brokenSources: readonly string[]
  /** Decision time per market row, microseconds. */
  readonly decisionUs: { readonly p50: number; readonly p99: number }
}

/** What the feed missed, and how late it is. */
export interface FeedStatus {
  /** How much older than usual the last row was when it arrived, ms; null before the usual delay is known. */
  readonly feedLagMs: number | null
  /** Number of gaps of the feed that ended since this start. `gapSeconds`: their total duration. */
  readonly gaps: number
  readonly gapSeconds: number
}

export interface JournalStatus {
  readonly path: string
  /** Size of the journal's files. */
  readonly bytes: number
  /** Free space on the disk of the journal. */
  readonly freeBytes: number
  /** Age of the oldest commit that is not durable yet; 0 if there is none. */
  readonly waitingMs: number
}

/** Counts of the events since this start. None of them ever decreases. */
export interface Totals {
  /** Numbers of orders that have ended, by bot, side, state and code. An order counts again if it ends a second time,
   *  after a fork removed its fill or a late fill changed its state. */
  readonly endedOrders: readonly EndedOrders[]
  /** Time from the decision to the fill of the orders that were filled. */
  readonly fillTimes: Readonly<Record<OrderClass, Distribution>>
  readonly fills: readonly FillTotals[]
  /** Fees of transactions that failed on the chain, by bot. */
  readonly failedFeesSol: Readonly<Record<string, number>>
}

export interface EndedOrders {
  readonly bot: string
  readonly side: TradeSide
  readonly state: OrderState
  readonly code: ErrorCode | ''
  readonly count: number
}

/** Sums over the fills of a bot on one side. */
export interface FillTotals {
  readonly bot: string
  readonly side: TradeSide
  readonly count: number
  /** SOL paid or received for the tokens, including the fees of the venue and the service. */
  readonly tradedSol: number
  readonly venueFeesSol: number
  readonly serviceFeesSol: number
  readonly baseFeesSol: number
  readonly priorityFeesSol: number
  readonly tipsSol: number
  readonly rentPaidSol: number
  readonly rentReturnedSol: number
}

/** Counts of measured durations by size. */
export interface Distribution {
  /** Upper limits of the size classes into which the durations are sorted, seconds, ascending. */
  readonly bounds: readonly number[]
  /** For each class, the number of durations up to its limit and above the previous limit. The last entry is the number
   *  of durations above all limits. */
  readonly counts: readonly number[]
  readonly sumSeconds: number
}

/** State of the process. It is measured every five seconds. */
export interface ProcessStatus {
  /** Version of Sluice. `node`: version of Node. */
  readonly version: string
  readonly node: string
  readonly startedAt: Millis
  readonly cpuSeconds: number
  readonly residentBytes: number
  /** Memory of the JavaScript objects of the main thread. */
  readonly heapBytes: number
  /** Time for which the event loop of the main thread has been busy since the process started. */
  readonly busySeconds: number
  /** Delay of the event loop of the main thread within the last minute. */
  readonly delayMs: { readonly p99: number; readonly max: number }
  /** Decision time per market row, averaged over rows that arrived together. Empty if the engine runs in its own
   *  thread. */
  readonly decisions: Distribution
  /** Number of market rows that were dropped under overload. */
  readonly shedRows: number
  /** Use of each RPC provider, in the order of the configuration; empty without a live bot. */
  readonly rpc: readonly RpcUse[]
  /** Number of raised alerts by kind. `lostAlerts`: number of alerts that the webhook did not receive. */
  readonly alerts: Readonly<Record<string, number>>
  readonly lostAlerts: number
  /** Time of the last heartbeat that the receiver accepted, and the number of failed heartbeats; null if no receiver is
   *  configured. */
  readonly heartbeat: { readonly acceptedAt: Millis | null; readonly failures: number } | null
}

/** A reason for which bots open no positions at present, apart from the decisions of their strategies. Exits
 *  continue. */
export interface EntryStop {
  readonly code:
    | 'HALTED'
    | 'FOREIGN_TX'
    | 'UNEXPECTED_FILL'
    | 'QUARANTINED'
    | 'EXITS_ONLY'
    | 'LOSING_STREAK'
    | 'POSITIONS_LIMIT'
    | GateCode
  /** Names of the bots that open no positions for this reason. */
  readonly bots: readonly string[]
  /** Time since which this reason applies; null if it already applied before this process started. */
  readonly since: Millis | null
  /** Time at which the reason ends by itself; null if it does not. */
  readonly until: Millis | null
  /** Text about the reason, and about the way to end it. */
  readonly text: string
}

/** A live order that may or may not have executed. */
export interface UndecidedStatus {
  readonly orderId: string
  readonly bot: string
  readonly mint: string
  readonly side: TradeSide
  /** Time at which the order was sent. */
  readonly since: Millis
  /** The event that is needed next to prove whether the order executed. */
  readonly text: string
}

/** Result of a bot over a period, in SOL: `netSol = realizedSol - feesSol + unrealizedSol`. */
export interface Result {
  /** Proceeds of the sales minus the average cost of the tokens sold, fees of venue and service included. */
  readonly realizedSol: number
  /** Network fees and rent that was not returned. */
  readonly feesSol: number
  /** Unrealized profit (liquidation value minus cost) of the open positions, minus the unrealized profit at the
   *  beginning of the period. A position without a price counts with its cost as its value; in a recorded journal, its
   *  value counts as 0. */
  readonly unrealizedSol: number
  readonly netSol: number
}

export interface BotStatus {
  readonly name: string
  readonly mode: string
  readonly executor: string
  /** Name of the wallet in the configuration; absent if it has none. */
  readonly wallet?: string
  /** Name or path of the strategy. `params`: its parameters. */
  readonly strategy: string
  readonly params: Json
  /** Widths of the bars that the strategy declares; absent if it declares none, and in older journals. */
  readonly bars?: readonly string[]
  readonly positions: number
  readonly openOrders: number
  /** The same as `sinceStart.realizedSol`. `feesSol`: the same as `sinceStart.feesSol`. */
  readonly realizedSol: number
  readonly feesSol: number
  /** Results of the bot in its account. After a change of its wallet, a bot begins with results of 0. */
  readonly sinceStart: Result
  readonly sinceBeginning: Result
  /** Result since the present UTC day began. */
  readonly today: Result
  /** Number of positions that were closed since the first start of the journal. */
  readonly trades: number
  /** Percentage of the closed positions that earned more than their network fees and rent; null if no position was
   *  closed. */
  readonly winPercent: number | null
  /** Number of refused requests since this start, by code. */
  readonly refusals: Readonly<Record<string, number>>
  /** Codes of the reasons for which the bot opens no positions. */
  readonly ownStops: readonly string[]
  /** The last action of the bot; null if there was none. The text may contain text of a third party. */
  readonly last: { readonly time: Millis; readonly text: string } | null
}

/** An account of the bots. A live wallet may serve several bots. */
export interface WalletStatus {
  /** Name in the configuration; absent if the wallet has none. */
  readonly name?: string
  readonly mode: string
  readonly bots: readonly string[]
  /** Balance as last read (live) or computed (paper); null before it is known. */
  readonly solBalance: number | null
  /** Liquidation value of the positions. The cost is used for a position without a price. */
  readonly positionsSol: number
}

export interface PositionStatus extends PositionRow {
  /** `ACCOUNT/MINT`. */
  readonly id: string
  /** Name of the wallet that holds the tokens; absent if it has none. The bot may use another wallet now. */
  readonly wallet?: string
  /** Symbol that the creator gave to the token; '' if the tape does not contain it. */
  readonly symbol: string
  readonly openedAt: Millis
  /** Whether the position seems to be unsellable. */
  readonly unsellable: boolean
  /** Price that the exits use, SOL per token; null before the first print. */
  readonly price: number | null
  /** Change of the position's value from its cost, percent; null if the value or the cost is unknown. */
  readonly changePercent: number | null
  /** Reason of the buy that opened the position. `orderId`: id of this buy. Both are '' for a position without such a
   *  buy. */
  readonly entryReason: string
  readonly orderId: string
  /** The position's exits that can act, in the order in which the engine tests them. */
  readonly exits: readonly ExitStatus[]
}

/** An exit of a position. It acts at a price or at a time. */
export interface ExitStatus {
  /** Key of the exit in the configuration; `conditional` for a conditional order. */
  readonly kind: string
  /** Price at which the exit acts, SOL per token; null if it acts at a time. */
  readonly price: number | null
  /** Distance from the position's price to `price`, percent of the position's price; null if one of the prices is
   *  unknown. */
  readonly distancePercent: number | null
  /** Time at which the exit acts; null if it acts at a price. */
  readonly at: Millis | null
}

/** Stage of an open order: the state of its last attempt, or one of the following. `queued`: the order waits for a
 *  request. `retrying`: an attempt has ended, and the next one follows. `held`: contradictory evidence keeps it
 *  undecided. */
export type OrderStage = AttemptState | 'queued' | 'retrying' | 'held'

export interface OrderStatus {
  readonly id: string
  readonly bot: string
  readonly mint: string
  /** Symbol that the creator gave to the token; '' if the tape does not contain it. */
  readonly symbol: string
  readonly side: TradeSide
  readonly kind: 'entry' | 'exit'
  /** Size of a buy; null for a sale. */
  readonly sol: number | null
  /** Share of the position that is sold; null for a buy, and for a sale of an amount of tokens. */
  readonly percent: number | null
  readonly state: OrderState
  readonly stage: OrderStage
  /** Time at which the stage began. */
  readonly stageSince: Millis
  /** Number of attempts so far. */
  readonly attempts: number
  /** Reason of the decision. */
  readonly reason: string
  /** Code that explains the state; '' if none is needed. */
  readonly code: ErrorCode | ''
  /** Progress of the proof of an attempt whose outcome is unknown; null for every other order. */
  readonly proof: ProofStatus | null
}

export interface ProofStatus {
  /** The event that will prove whether the order executed. */
  readonly text: string
  /** Number of blocks that have passed, of the `of` blocks that the proof needs. Both are null while the last block in
   *  which the order may execute is unknown. */
  readonly block: number | null
  readonly of: number | null
}

export interface FillStatus {
  readonly time: Millis
  readonly bot: string
  readonly side: TradeSide
  readonly mint: string
  readonly sol: number
  readonly final: boolean
  readonly signature: string
}

/** A line of the log: a decision or an event that the journal records and that a person may want to read. */
export interface LogLine {
  readonly time: Millis
  readonly seq: Seq
  /** Index of the output that the line shows, among the outputs of the input or row `seq`. */
  readonly n: number
  readonly level: 'info' | 'warn' | 'error'
  /** Name of the bot; '' for a line that concerns every bot. */
  readonly bot: string
  readonly mint: string
  /** Id of the refusal or note that the line shows, which `sluice why` explains; '' for another line. */
  readonly decision: string
  readonly code: string
  readonly text: string
}

/** The lists of a view whose members have a key. A change contains only the members that changed. */
type Keyed = 'positions' | 'openOrders' | 'bots'

/** The changes from one view to the next. */
export interface Change {
  /** Id of the view after the change. */
  readonly id: string
  /** Id of the view before the change. */
  readonly from: string
  readonly set: Partial<Omit<View, Keyed | 'id'>>
  /** Changed positions by their id; null for a position that no longer exists. `openOrders`: the same for open orders.
   *  Each field is absent if it has no changes. */
  readonly positions?: Readonly<Record<string, PositionStatus | null>>
  readonly openOrders?: Readonly<Record<string, OrderStatus | null>>
  /** Changed bots by their name. */
  readonly bots?: Readonly<Record<string, BotStatus>>
  /** The log lines since the previous view. */
  readonly log?: readonly LogLine[]
}

/** A view that changes. */
export interface ViewSource {
  /** The view on which the next change is based, while there is a listener. */
  readonly view: View
  /** Calls `run` with every later change of `view`. Returns a function that stops this. */
  listen(run: (change: Change) => void): () => void
}
