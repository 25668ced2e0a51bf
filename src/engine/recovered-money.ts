import { type Json, plainJson } from '../base/json.ts'
import { type Lamports, type Millis, ZERO } from '../base/units.ts'
import type { Position } from './accounting/position.ts'
import type { ConditionalOrder } from './exits/conditional-order.ts'
import type { DaySpend, Spend } from './limits/recent-buys.ts'
import type { Fill, Order, OrderState } from './order.ts'
import type { BotSettings } from './settings.ts'

/** Everything about money that a restart reads from the journal's rows. Decisions are read, never made again. */
export interface RecoveredMoney {
  readonly nextOrder: number
  readonly nextTimer: number
  readonly nextConditional: number
  readonly accounts: readonly AccountMoney[]
  readonly bots: readonly BotMoney[]
  /** Open orders, and ended ones that may still execute or that a fork may still remove. */
  readonly orders: readonly OpenOrder[]
  /** Positions that are not closed, and closed ones whose sale a fork may still remove. */
  readonly positions: readonly Position[]
  readonly timers: readonly Timer[]
  /** Conditional orders that wait, or whose order is open. */
  readonly conditionals: readonly ConditionalOrder[]
  /** The last fills that the engine has taken, oldest first; at most 500. They identify fills that are reported
   *  again. */
  readonly fills: readonly Fill[]
  /** Amounts requested by the buys of the last hour, oldest first. */
  readonly spends: readonly Spend[]
  /** Amounts requested by all buys of each bot on its last UTC day with buys. */
  readonly daySpends: readonly DaySpend[]
}

export const NO_MONEY: RecoveredMoney = {
  nextOrder: 1,
  nextTimer: 1,
  nextConditional: 1,
  accounts: [],
  bots: [],
  orders: [],
  positions: [],
  timers: [],
  conditionals: [],
  fills: [],
  spends: [],
  daySpends: [],
}

export interface AccountMoney {
  readonly account: string
  /** Balance of the wallet as last read (live) or computed (paper); null before the first reading. */
  lamports: Lamports | null
  /** Slot of that reading; fills of later slots are added to the balance. 0 for paper. */
  slot: number
  /** Entries are halted until `resume`. */
  halted: boolean
  /** Signatures of foreign transactions. Entries stop until each is accepted. */
  foreign?: readonly string[]
  /** Mints with fewer tokens in the wallet than in the books. Their entries stop until `resume`. */
  quarantined?: readonly string[]
  /** An attempt executed after it was refused or proved dead, or executed twice. Until `resume`, entries stop and
   *  refused attempts are not retried at once. */
  breached?: boolean
  /** Results of all bots of the account together; absent before the first fill. */
  results?: ResultSums
}

/** Whether entries of an account, including waiting ones, are stopped until an operator acts. */
export function isStopped({ halted, foreign = [], breached = false }: AccountMoney): boolean {
  return halted || breached || foreign.length > 0
}

/** Results of a bot, or of all bots of a wallet. */
export interface ResultSums {
  /** UTC day (days since 1970) that the next two belong to. */
  day: number
  /** Realized profit less fees since that day began. */
  dayRealizedLamports: Lamports
  /** Value less cost of the open positions when that day began. */
  dayStartUnrealizedLamports: Lamports
  /** Realized profit less fees, in total. */
  realizedLamports: Lamports
  /** Highest value of `realizedLamports`. `resume` lowers it to the result at that time, without unrealized losses that
   *  have not recovered since. */
  peakLamports: Lamports
  /** Positions closed at a loss since the last one that was not. */
  losses: number
  /** Entries are paused until this time; 0: no pause. */
  pausedUntil: Millis
}

export const NO_RESULTS: ResultSums = {
  ...{ day: -1, dayRealizedLamports: ZERO, dayStartUnrealizedLamports: ZERO },
  ...{ realizedLamports: ZERO, peakLamports: ZERO, losses: 0, pausedUntil: 0 },
}

export interface BotMoney extends ResultSums {
  readonly bot: string
  readonly account: string
  /** `exits-only` after the strategy threw: the bot only closes positions, until the next start. */
  status: 'active' | 'exits-only'
  /** State of the strategy, set by `bot.state = ...`. */
  state: Json
}

export interface OpenOrder {
  readonly order: Order
  state: OrderState
}

export interface Timer {
  readonly id: number
  readonly bot: string
  /** Name that the strategy chose, or `hold:<mint>`, `retry:<mint>` and similar for timers of exits. */
  readonly name: string
  readonly owner: 'strategy' | 'exits'
  readonly at: Millis
  /** 0: fires once. */
  readonly everyMs: number
  /** The strategy that set the timer; absent in older journals and for timers of exits. */
  readonly strategy?: string
  /** Set by the strategy's `start`. */
  readonly declared?: boolean
  /** Last firing of a repeating timer. The journal adds it from the inputs; `at` does not change. */
  readonly fired?: Millis
}

/** Initial state of a bot: restored from the journal, or empty. */
export function moneyOf(settings: BotSettings, restored: BotMoney | undefined): BotMoney {
  const { name, account } = settings
  const { state, day, dayRealizedLamports, dayStartUnrealizedLamports, ...later } = {
    ...{ state: null, ...NO_RESULTS },
    ...restored,
  }
  const { realizedLamports, peakLamports, losses, pausedUntil } = later
  return {
    ...{ bot: name, account: account.id, status: 'active', state: plainJson(state, 'state') },
    ...{ day, dayRealizedLamports, dayStartUnrealizedLamports, realizedLamports, peakLamports, losses, pausedUntil },
  }
}
