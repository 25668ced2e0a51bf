import { type Json, plainJson } from '../base/json.ts'
import { type Lamports, type Millis, ZERO } from '../base/units.ts'
import type { Position } from './accounting/position.ts'
import type { ConditionalOrder } from './exits/conditional.ts'
import type { DaySpend, Spend } from './limits/spending.ts'
import type { Fill, Order, OrderState } from './order.ts'
import type { BotSettings } from './settings.ts'

/** Everything about money that a restart takes over from the journal's rows: what was decided, never decided again. */
export interface RecoveredMoney {
  readonly nextOrder: number
  readonly nextTimer: number
  readonly nextConditional: number
  readonly accounts: readonly AccountMoney[]
  readonly bots: readonly BotMoney[]
  /** Open ones, and ended ones of which an attempt may still execute or be taken back. */
  readonly orders: readonly OpenOrder[]
  /** Positions that are not closed, and those that a sale closed which a fork may still take back. */
  readonly positions: readonly Position[]
  readonly timers: readonly Timer[]
  /** Those that wait, or whose order is out. */
  readonly conditionals: readonly ConditionalOrder[]
  /** The last fills that the engine has taken, oldest first, at most 500: so that one which is reported again is not
   *  counted twice. */
  readonly fills: readonly Fill[]
  /** What buys of the last hour asked for, oldest first. */
  readonly spends: readonly Spend[]
  /** And all buys of a bot on the last UTC day on which there were any. */
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
  /** The wallet as last read (live) or computed (paper); null before the first reading. */
  lamports: Lamports | null
  /** Slot of that reading; fills of later slots are added to it. 0 for paper. */
  slot: number
  /** Entries stop until `resume`. */
  halted: boolean
  /** Signatures of what somebody else did with the wallet: entries stop until each is accepted. */
  foreign?: readonly string[]
  /** Mints of which the wallet held less than was booked: no entries there until `resume`. */
  quarantined?: readonly string[]
  /** Something executed that was refused or proved dead, or a second time: until `resume`, entries stop, and nothing is
   *  tried again at once on the word of a refusal. */
  breached?: boolean
  /** Of all its bots together; absent before the first. */
  results?: ResultSums
}

/** Entries stop, those that wait too, until a person says otherwise. */
export function isStopped({ halted, foreign = [], breached = false }: AccountMoney): boolean {
  return halted || breached || foreign.length > 0
}

/** What somebody has made. */
export interface ResultSums {
  /** UTC day (days since 1970) that the next two belong to. */
  day: number
  /** Realised profit less fees since that day began. */
  dayRealizedLamports: Lamports
  /** What open positions were worth less their cost when it began. */
  dayStartUnrealizedLamports: Lamports
  /** Realised profit less fees since ever. */
  realizedLamports: Lamports
  /** The highest that it was; or what it was when a person last let entries go on, less what was lost on what was held
   *  and has not come back since. */
  peakLamports: Lamports
  /** Positions closed at a loss since the last one that was not. */
  losses: number
  /** Nothing is bought before; 0: no pause. */
  pausedUntil: Millis
}

export const NO_RESULTS: ResultSums = {
  ...{ day: -1, dayRealizedLamports: ZERO, dayStartUnrealizedLamports: ZERO },
  ...{ realizedLamports: ZERO, peakLamports: ZERO, losses: 0, pausedUntil: 0 },
}

export interface BotMoney extends ResultSums {
  readonly bot: string
  readonly account: string
  /** `exits-only` after its strategy threw: it closes what it holds and opens nothing, until the next start. */
  status: 'active' | 'exits-only'
  /** What the strategy keeps; `bot.state = ...` replaces it. */
  state: Json
}

export interface OpenOrder {
  readonly order: Order
  state: OrderState
}

export interface Timer {
  readonly id: number
  readonly bot: string
  /** The strategy's own name for it, or `hold:<mint>`, `retry:<mint>` for those of exits. */
  readonly name: string
  readonly owner: 'strategy' | 'exits'
  readonly at: Millis
  /** 0: once. */
  readonly everyMs: number
  /** The strategy that set it; an older Sluice did not say, and exits have none. */
  readonly strategy?: string
  /** It was set in the strategy's `start`. */
  readonly declared?: boolean
  /** Of one that repeats: when it fired last. The journal adds it from the inputs; `at` stays what it was. */
  readonly fired?: Millis
}

/** What a bot begins with: what the journal holds of it, or nothing. */
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
