import type { ErrorCode } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { Lamports, Millis, Seq, TokenAmount } from '../base/units.ts'
import type { PoolAnswer } from '../market/pool-price.ts'
import type { UnitSettings } from '../market/unit-proof.ts'
import type { MintFacts } from '../solana/mint.ts'
import type { Position } from './accounting/position.ts'
import type { ConditionalOrder } from './exits/conditional.ts'
import type { ExecutionReport, Order, OrderState } from './order.ts'
import type { AccountMoney, BotMoney, RecoveredMoney, Timer } from './recovered-money.ts'
import type { BotSettings, Plan } from './settings.ts'

/** Everything that may change state and is not a market row; journaled as rows. */
export type Input =
  | StartInput
  | { kind: 'feed'; status: FeedStatus; confirmed: readonly string[] }
  /** The feed was not live in between, for these keys. */
  | { kind: 'gap'; from: Millis; to: Millis; keys: readonly string[] }
  | { kind: 'timer'; id: number }
  | { kind: 'report'; id: number; report: ExecutionReport }
  /** The wallet as read from the chain. */
  | { kind: 'wallet'; account: string; lamports: Lamports; slot: number }
  /** A condition that stops entries begins (`open: false`) or ends: of one account, or of every account where `account`
   *  is ''. Without a code it is CHAIN_UNREAD. `single`: until the next gate, one entry of the account may go, so that
   *  it shows whether another process trades with the wallet; absent from older versions. See Gates. */
  | { kind: 'gate'; account: string; open: boolean; code?: GateCode; reason?: string; single?: boolean }
  /** The wallet signed something that no order explains. `attemptId`: it looks like an execution of this attempt, which
   *  was not waiting for one; absent where it looks like none, and from older versions. */
  | { kind: 'foreign'; account: string; signature: string; lamports: Lamports; attemptId?: string }
  /** The wallet holds so much of a mint, less than was booked. */
  | { kind: 'deficit'; account: string; mint: string; tokens: TokenAmount }
  /** An operator gives a bot what the wallet holds of a mint. */
  | { kind: 'adopt'; account: string; bot: string; mint: string; tokens: TokenAmount; decimals: number }
  /** What our RPC says of a mint that is about to be bought. */
  | { kind: 'mint'; mint: string; facts: MintFacts }
  /** What came of a `poll`. */
  | { kind: 'pool'; mint: string; answer: PoolAnswer }
  /** The file of a list, named by its path as written, changed. */
  | { kind: 'list'; name: string; entries: readonly string[] }
  | { kind: 'plan'; plan: Plan }
  | { kind: 'command'; command: Command }

/** CHAIN_UNREAD: the audit does not know the state of the wallet. DISK_LOW: the disk that holds the journal is nearly
 *  full. */
export type GateCode = 'CHAIN_UNREAD' | 'DISK_LOW'

/** First input of a segment: all that a replay needs to start from. */
export interface StartInput {
  kind: 'start'
  segment: number
  /** Hash of the effective configuration. */
  config: string
  /** Hash of Sluice and of every strategy file. */
  code: string
  seed: number
  bots: readonly BotSettings[]
  plan: Plan
  units: UnitSettings
  money: RecoveredMoney
  /** What filters go by, by the path of their file as written. */
  lists?: Readonly<Record<string, readonly string[]>>
  /** Rows that the strategies were shown before this start; empty where from > to. */
  warm: { from: Seq; to: Seq }
  /** Bots that only close what they hold, because their strategies could not be let go on; these are not even
   *  started. */
  stopped?: readonly StoppedBot[]
  /** Its strategies were kept from changing what all code stands on. */
  isolated?: boolean
}

export interface StoppedBot {
  readonly bot: string
  /** What it did. */
  readonly reason: string
  /** An engine before this one has said so. */
  readonly told: boolean
}

/** live: confirmed and fresh. stale: silent too long. down: no connection. refused: the key is refused. */
export type FeedStatus = 'live' | 'stale' | 'down' | 'refused'

export type Command =
  | { name: 'halt' | 'resume' | 'flatten' | 'stop' }
  | { name: 'sell'; mint: string }
  /** What somebody else did with the wallet is all right. */
  | { name: 'accept'; signature: string }
  | { name: 'signal'; signal: string; data: Json }

/** What the engine decides. Journaled in order; an order forces a FULL commit and takes everything before it along. */
export type Output =
  | { kind: 'order'; order: Order }
  | { kind: 'orderState'; orderId: string; state: OrderState; code: ErrorCode | ''; reason: string }
  | { kind: 'cancel'; orderId: string; code: ErrorCode }
  | { kind: 'refused' | 'note'; bot: string; mint: string; code: ErrorCode | ''; reason: string }
  | { kind: 'conditional'; order: ConditionalOrder }
  | { kind: 'position'; position: Position }
  | { kind: 'timer'; timer: Timer }
  | { kind: 'timerCleared'; id: number }
  | { kind: 'bot'; money: BotMoney }
  | { kind: 'account'; money: AccountMoney }
  | { kind: 'keys'; want: readonly string[] }
  /** The pool of a mint is to be read over RPC. */
  | { kind: 'poll'; bot: string; mint: string }
  /** A person should see it: a strategy that threw, a limit reached. */
  | Alarm

export interface Alarm {
  kind: 'alarm'
  bot: string
  code: ErrorCode | StrategyEnd
  reason: string
  thrownAt?: ThrownAt
}

/** Where a strategy threw, for people. It is no decision: paths differ between machines, so a replay does not compare
 *  it. */
export interface ThrownAt {
  /** The innermost place in the strategy's own code: `strategies/dips.ts:12:5`. */
  readonly place: string
  /** The first frames outside of Sluice, innermost first: `onTrade (strategies/dips.ts:12:5)`. */
  readonly stack: readonly string[]
}

/** How a strategy ends that may not go on: its bot only closes what it holds. STRATEGY_STORM: its timers fire too
 *  often. */
export type StrategyEnd = 'STRATEGY_THREW' | 'STRATEGY_STOPPED' | 'STRATEGY_STORM'

export function isStrategyEnd(code: string): code is StrategyEnd {
  return code.startsWith('STRATEGY_')
}
