import type { Lamports, Millis } from '../base/units.ts'
import type { FillModel } from '../engine/accounting/fill-assumptions.ts'
import type { Position } from '../engine/accounting/position.ts'
import type { Plan } from '../engine/settings.ts'
import type { Journal } from '../orders/ports.ts'
import type { DepthUse, Measurements } from '../simulation/measurements.ts'
import type { BotResult } from './bot-result.ts'
import type { KeyCoverage, WatchedMints } from './coverage.ts'
import type { Equity } from './equity.ts'
import type { ReplayedStart } from './replay/recorded-start.ts'

export interface BacktestOptions {
  /** Run although the tape does not cover what the bots need. */
  readonly partial: boolean
  /** Called from time to time with the number of rows done. */
  readonly progress?: (rows: number) => void
  /** Receives all events except the rows. */
  readonly journal?: Journal | undefined
  /** After this number of rows, the result of each bot is noted. */
  readonly splitRow?: number | undefined
  /** A strategy that throws ends its own bot only. */
  readonly tolerant?: boolean
  /** Keep the input of a report: orders, round trips and equity of each bot. */
  readonly logged?: boolean
  /** Bots that share one request budget, as live bots do; otherwise each has the whole plan, as on paper. */
  readonly oneBudget?: readonly string[]
  /** Bots that share money and positions, as live bots do; otherwise each has its own, as on paper. */
  readonly oneWallet?: OneWallet
  /** Fill model in place of the configured one. */
  readonly model?: (model: FillModel) => FillModel
  /** Outcomes of the same attempts in another run. */
  readonly measured?: Measurements
  /** Start with the state and inputs of a recorded start. */
  readonly replayed?: ReplayedStart | undefined
  /** Record the results at such a time instead of at a row, and value positions of another run then. */
  readonly note?: { readonly at: Millis; readonly foreign: readonly Position[] }
}

export interface OneWallet {
  readonly bots: readonly string[]
  /** Starting balance; null: the paper balance of the first of these bots. */
  readonly lamports: Lamports | null
}

export const NO_WALLET: OneWallet = { bots: [], lamports: null }

/** Result and value of a bot. */
export interface BotOutcome {
  readonly result: BotResult
  readonly startLamports: number
  /** Liquidation value of its open positions at the end. */
  readonly valueLamports: number
  /** Net result at `splitRow` or at the note, including the liquidation value of positions open then. */
  readonly splitLamports: number | undefined
  /** Liquidation value at the note of the positions that it has in the other run. */
  readonly foreignLamports: number
  /** Error of its strategy; '' if it threw none. */
  readonly threw: string
  readonly model: FillModel
  /** Dependence of its fills on estimated depths. */
  readonly depth: DepthUse | undefined
  /** Empty unless `logged`. */
  readonly equity: Equity
}

/** Result of a backtest: a function of tape, configuration, code and seed. */
export interface Backtest {
  readonly rows: number
  readonly from: Millis
  readonly to: Millis
  readonly segments: number
  readonly gaps: number
  readonly gapMs: number
  readonly coverage: readonly KeyCoverage[]
  /** Data that the bots need and the tape lacks; empty unless `partial`. */
  readonly lacks: readonly string[]
  readonly mints: Pick<WatchedMints, 'wanted' | 'absent'>
  readonly plan: Plan
  readonly bots: readonly BotOutcome[]
  readonly decisions: number
  readonly alarms: readonly string[]
}
