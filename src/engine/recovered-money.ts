import { type Json, plainJson } from '../base/json.ts'
import { type Lamports, type Millis, ZERO } from '../base/units.ts'
import type { Position } from './accounting/position.ts'
import type { ConditionalOrder } from './exits/conditional-order.ts'
import type { DaySpend, Spend } from './limits/spending.ts'
import type { Fill, Order, OrderState } from './order.ts'
import type { BotSettings } from './settings.ts'

/** Everything about money that a restart reads from the journal. A restart restores the recorded decisions and never
 *  makes them again. */
export interface RecoveredMoney {
  readonly nextOrder: number
  readonly nextTimer: number
  readonly nextConditional: number
  readonly accounts: readonly AccountMoney[]
  readonly bots: readonly BotMoney[]
  /** Open orders, and those ended orders that may still execute or whose execution a fork may still remove. */
  readonly orders: readonly OpenOrder[]
  /** Positions that are not closed, and closed positions whose sale a fork may still remove. */
  readonly positions: readonly Position[]
  readonly timers: readonly Timer[]
  /** Conditional orders that wait, or that have an open order. */
  readonly conditionals: readonly ConditionalOrder[]
  /** The last fills that the engine has processed, oldest first; at most 500. They identify fills that are reported
   *  again. */
  readonly fills: readonly Fill[]
  /** SOL that each buy of the last hour requested, oldest first. */
  readonly spends: readonly Spend[]
  /** For each bot, the SOL that its buys requested on the last UTC day on which it bought. */
  readonly daySpends: readonly DaySpend[]
  /** Values of `token.durable` of tokens that are not freed. Absent in older journals. */
  readonly tokenStates?: readonly TokenState[]
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
  tokenStates: [],
}

export interface AccountMoney {
  readonly account: string
  /** Balance of the wallet as last read (live) or computed (paper); null before the first reading. */
  lamports: Lamports | null
  /** Solana slot at which the balance was last read. Fills in later slots are added to the balance. 0 for paper. */
  slot: number
  /** Whether entries are halted until `resume`. */
  halted: boolean
  /** Signatures of foreign transactions. Entries stop until each of these is accepted. */
  foreign?: readonly string[]
  /** Mints that are not bought until `resume`, because the wallet holds fewer of their tokens than the books show. */
  quarantined?: readonly string[]
  /** Whether an attempt executed twice, or executed although it was refused or proved unable to execute. If so, entries
   *  are stopped until `resume`, and a refused attempt is not retried immediately. */
  breached?: boolean
  /** Results of all bots of the account together; absent before the first fill of the account. */
  results?: ResultSums
}

/** Whether entries of an account, including waiting ones, are stopped until an operator resumes them. */
export function isStopped({ halted, foreign = [], breached = false }: AccountMoney): boolean {
  return halted || breached || foreign.length > 0
}

/** Results of a bot, or of all bots of a wallet. */
export interface ResultSums {
  /** UTC day (days since 1970) to which the next two fields belong. */
  day: number
  /** Realized profit minus fees since this day began. */
  dayRealizedLamports: Lamports
  /** Liquidation value of the open positions minus their cost, when this day began. */
  dayStartUnrealizedLamports: Lamports
  /** Realized profit minus fees, in total. */
  realizedLamports: Lamports
  /** Highest value of `realizedLamports`; the drawdown is measured from it. `resume` lowers it to the result at that
   *  time. It rises again when open positions recover their losses. */
  peakLamports: Lamports
  /** Number of positions that closed at a loss since the last one that closed without a loss. */
  losses: number
  /** Time until which entries are paused; 0 if they are not paused. */
  pausedUntil: Millis
}

export const NO_RESULTS: ResultSums = {
  ...{ day: -1, dayRealizedLamports: ZERO, dayStartUnrealizedLamports: ZERO },
  ...{ realizedLamports: ZERO, peakLamports: ZERO, losses: 0, pausedUntil: 0 },
}

export interface BotMoney extends ResultSums {
  readonly bot: string
  readonly account: string
  /** `exits-only` after the strategy threw an error. The bot then only closes positions, until the next start. */
  status: 'active' | 'exits-only'
  /** State of the strategy, set by `bot.state = ...`. */
  state: Json
}

/** Value of `token.durable`, which a bot keeps for a token across restarts. */
export interface TokenState {
  readonly account: string
  readonly bot: string
  readonly mint: string
  /** Time at which the bot first saw the token. */
  readonly seenAt: Millis
  /** UTC day (days since 1970) of the token's last event. */
  readonly day: number
  /** The value of `token.durable`; null if the token was freed or the value was deleted. */
  readonly value: Json
}

export interface OpenOrder {
  readonly order: Order
  state: OrderState
}

export interface Timer {
  readonly id: number
  /** The bot; '' for timers that close bars, which all bots share. */
  readonly bot: string
  /** Name of the timer: for timers of a strategy, the name that the strategy chose; for timers of exits, `hold:<mint>`,
   *  `retry:<mint>` and similar; for timers that close bars, the width of the bars. */
  readonly name: string
  readonly owner: 'strategy' | 'exits' | 'bars'
  readonly at: Millis
  /** Interval of a repeating timer; 0 if the timer fires once. */
  readonly everyMs: number
  /** The strategy that set the timer; absent in older journals and for timers of exits. */
  readonly strategy?: string
  /** Whether the strategy's `start` set the timer. */
  readonly declared?: boolean
  /** Time at which a repeating timer last fired. The journal computes it from the inputs. `at` remains the time of the
   *  first firing. */
  readonly fired?: Millis
}

/** Returns the initial state of a bot: restored from the journal, or empty. */
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
