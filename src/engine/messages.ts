import type { ErrorCode } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { Lamports, Millis, Seq, TokenAmount } from '../base/units.ts'
import type { PoolAnswer } from '../market/pool-price.ts'
import type { UnitSettings } from '../market/unit-proof.ts'
import type { MintFacts } from '../solana/mint.ts'
import type { Position } from './accounting/position.ts'
import type { ConditionalOrder } from './exits/conditional-order.ts'
import type { RecordedExitPrice } from './exits/exit-settings.ts'
import type { ExecutionReport, Order, OrderState } from './order.ts'
import type { AccountMoney, BotMoney, RecoveredMoney, Timer, TokenState } from './recovered-money.ts'
import type { BotSettings, Plan } from './settings.ts'
import type { SourceValue } from './sources.ts'

/** Everything that may change the engine's state, except market rows. Inputs are written to the journal, so that a
 *  replay can repeat them. */
export type Input =
  | StartInput
  | { kind: 'feed'; status: FeedStatus; confirmed: readonly string[] }
  /** The feed was interrupted between `from` and `to`, for the subscriptions of these keys. */
  | { kind: 'gap'; from: Millis; to: Millis; keys: readonly string[] }
  | { kind: 'timer'; id: number }
  | { kind: 'report'; id: number; report: ExecutionReport }
  /** Balance of a wallet, read from the chain at the Solana slot `slot`. */
  | { kind: 'wallet'; account: string; lamports: Lamports; slot: number }
  /** A condition that stops entries begins (`open: false`) or ends (`open: true`): for one account, or for every
   *  account if `account` is ''. `code` defaults to CHAIN_UNREAD. `single`: until the next input of this kind, the
   *  account may send only one entry; its result shows whether another process trades with the wallet. `single` is
   *  absent in older journals. See `EntryGates`. */
  | { kind: 'gate'; account: string; open: boolean; code?: GateCode; reason?: string; single?: boolean }
  /** The wallet signed a transaction that belongs to no order. `attemptId`: the attempt of an order that the
   *  transaction seems to execute, although Sluice expected no execution of this attempt. Absent if there is no such
   *  attempt, and in older journals. */
  | { kind: 'foreign'; account: string; signature: string; lamports: Lamports; attemptId?: string }
  /** The wallet holds this amount of a mint, which is less than the journal recorded. */
  | { kind: 'deficit'; account: string; mint: string; tokens: TokenAmount }
  /** An operator assigns the wallet's tokens of a mint to a bot (`sluice adopt`). */
  | { kind: 'adopt'; account: string; bot: string; mint: string; tokens: TokenAmount; decimals: number }
  /** Facts about a mint from the RPC, read before its first buy. */
  | { kind: 'mint'; mint: string; facts: MintFacts }
  /** Answer to a `poll` output. */
  | { kind: 'pool'; mint: string; answer: PoolAnswer }
  /** The file of a filter list changed. `name`: its path as written in the configuration. */
  | { kind: 'list'; name: string; entries: readonly string[] }
  | { kind: 'plan'; plan: Plan }
  /** A data source of a bot answered. `data`: the checked value; absent if it equals the last answer. */
  | { kind: 'source'; bot: string; name: string; data?: Json }
  /** An operator gave a command. `by`: where the command came from: `terminal`, `telegram:ID`, or the name of a session
   *  of the desk; absent in older journals. `update`: the Telegram update that confirmed the command; absent for every
   *  other command. */
  | { kind: 'command'; command: Command; by?: string; update?: number }

/** CHAIN_UNREAD: the state of the wallet is unknown. DISK_LOW: the disk that holds the journal is nearly full.
 *  UNIT_CONTRADICTED: the feed's amounts are not in SOL. */
export type GateCode = 'CHAIN_UNREAD' | 'DISK_LOW' | 'UNIT_CONTRADICTED'

/** The first input after the start of a process. It contains everything that a replay needs to begin. */
export interface StartInput {
  kind: 'start'
  segment: number
  /** Hash of the effective configuration. */
  config: string
  /** Hash of the code of Sluice that makes decisions, and of every strategy file. */
  code: string
  seed: number
  bots: readonly BotSettings[]
  plan: Plan
  units: UnitSettings
  /** The default window of the exit price. Absent in older journals, which used the median of 21 prints. */
  exitPrice?: RecordedExitPrice
  money: RecoveredMoney
  /** Filter lists, by the path of their file as written in the configuration. */
  lists?: Readonly<Record<string, readonly string[]>>
  /** The last answer, before the start, of each data source that a strategy declares (`sources`). Absent if there is
   *  none, and in older journals. */
  sources?: readonly SourceValue[]
  /** Sequence numbers of the recorded rows of the warm-up; if there are none, `from` is larger than `to`. */
  warm: { from: Seq; to: Seq }
  /** Interruptions of the feed within the warm-up. Absent if there are none, or if no bot uses bars. */
  warmGaps?: readonly WarmGap[]
  /** Time up to which an earlier process recorded the market, which may be later than the last row of the warm-up.
   *  Absent if no bot uses bars, and in older journals. */
  warmTo?: Millis
  /** Bots whose strategy is not started, because it failed in an earlier engine. They only close positions. */
  stopped?: readonly StoppedBot[]
  /** Whether the strategies ran in a thread whose built-in objects were frozen. */
  isolated?: boolean
}

/** An interruption of the feed within the warm-up: between `from` and `to`, the rows of these subscription keys were
 *  not received. */
export interface WarmGap {
  readonly from: Millis
  readonly to: Millis
  readonly keys: readonly string[]
}

export interface StoppedBot {
  readonly bot: string
  /** Reason why the strategy was stopped. */
  readonly reason: string
  /** Whether an earlier engine has already emitted the alarm about this strategy. */
  readonly told: boolean
}

/** live: the subscriptions are confirmed and events arrive. stale: the feed was silent for too long. down: there is no
 *  connection. refused: the service refuses the API key. */
export type FeedStatus = 'live' | 'stale' | 'down' | 'refused'

/** A command of the operator, identified by its `name`. `sell` has the `mint`; `buy` has also the `bot` and the amount
 *  in SOL; `cancel` has the id of the `order`; `signal` has the name of the `signal` and its `data`; `accept` has the
 *  `signature` of a foreign transaction. If `account` is set, the command concerns only this account. */
export type Command =
  | { name: 'halt' | 'resume' | 'flatten'; account?: string }
  | { name: 'sell'; mint: string; account?: string }
  | { name: 'stop' }
  /** Buys for a bot, under its limits. The bot manages the position from then on. */
  | {
      name: 'buy'
      bot: string
      mint: string
      /** Amount in SOL, above 0. */
      sol: number
    }
  /** Cancels an order that was not sent yet, or a conditional order. */
  | { name: 'cancel'; order: string }
  /** Accepts a foreign transaction. */
  | { name: 'accept'; signature: string; account?: string }
  | { name: 'signal'; signal: string; data: Json }

/** A decision of the engine. Decisions are written to the journal in order. Before an order is sent, a commit that
 *  waits for the disk makes the order and all decisions before it durable. */
export type Output =
  | { kind: 'order'; order: Order }
  | { kind: 'orderState'; orderId: string; state: OrderState; code: ErrorCode | ''; reason: string }
  | { kind: 'cancel'; orderId: string; code: ErrorCode }
  | LogLine
  | Message
  | { kind: 'refused' | 'note'; bot: string; mint: string; code: ErrorCode | ''; reason: string }
  | { kind: 'conditional'; order: ConditionalOrder }
  | { kind: 'position'; position: Position }
  | { kind: 'timer'; timer: Timer }
  | { kind: 'timerCleared'; id: number }
  | { kind: 'bot'; money: BotMoney }
  | { kind: 'tokenState'; state: TokenState }
  | { kind: 'account'; money: AccountMoney }
  | { kind: 'keys'; want: readonly string[] }
  /** Requests a reading of the mint's pool over RPC. The answer is a `pool` input. */
  | { kind: 'poll'; bot: string; mint: string }
  /** An event that the operator should see, for example that a strategy threw an error or that a limit was reached. */
  | Alarm

/** A line of `bot.log`. Only warnings are recorded in the journal. */
export interface LogLine {
  readonly kind: 'log'
  readonly bot: string
  readonly level: 'debug' | 'info' | 'warn'
  readonly text: string
  readonly fields?: Readonly<Record<string, LogField>>
  /** Number of lines that were dropped before this one, because there were too many. */
  readonly dropped?: number
}

export type LogField = string | number | boolean | null

/** A text of `bot.message` for the operator. */
export interface Message {
  readonly kind: 'message'
  readonly bot: string
  readonly text: string
}

/** Whether the journal records an output. A replay compares only outputs that the journal records. */
export function isRecorded(output: Output): boolean {
  return output.kind !== 'log' || output.level === 'warn'
}

export interface Alarm {
  kind: 'alarm'
  bot: string
  code: ErrorCode | StrategyEnd
  reason: string
  thrownAt?: ThrownAt
}

/** The place at which a strategy threw an error, for display. A replay does not compare it, because paths differ
 *  between machines. */
export interface ThrownAt {
  /** Innermost place in the strategy's own code, for example `strategies/dips.ts:12:5`. */
  readonly place: string
  /** First stack frames outside of Sluice, innermost first, for example `onTrade (strategies/dips.ts:12:5)`. */
  readonly stack: readonly string[]
}

/** Reason why a strategy was ended; its bot then only closes positions. STRATEGY_THREW: a handler threw.
 *  STRATEGY_STOPPED: a handler did not return, or used too much memory. STRATEGY_STORM: the strategy's timers fired too
 *  often. */
export type StrategyEnd = 'STRATEGY_THREW' | 'STRATEGY_STOPPED' | 'STRATEGY_STORM'

export function isStrategyEnd(code: string): code is StrategyEnd {
  return code.startsWith('STRATEGY_')
}
