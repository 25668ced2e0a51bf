import type { Lamports, Millis } from '../base/units.ts'
import type { FillModel } from '../engine/accounting/fill-assumptions.ts'
import type { Position } from '../engine/accounting/position.ts'
import type { Plan } from '../engine/settings.ts'
import type { Journal } from '../orders/ports.ts'
import type { RunnerOptions } from '../runtime/runner.ts'
import type { DepthUse, Measurements } from '../simulation/measurements.ts'
import type { BotResult } from './bot-result.ts'
import type { KeyCoverage, WatchedMints } from './coverage.ts'
import type { Equity } from './equity.ts'
import type { ReplayedStart } from './replay/recorded-start.ts'

export interface BacktestOptions {
  /** Whether to run even if the tape lacks data that the bots need. */
  readonly partial: boolean
  /** Called from time to time with the number of market rows played so far. */
  readonly progress?: (rows: number) => void
  /** Receives the log lines and messages of the strategies. */
  readonly said?: RunnerOptions['said']
  /** Receives every record of the run except the market rows. */
  readonly journal?: Journal | undefined
  /** Number of market rows after which the interim result of each bot is taken. */
  readonly splitRow?: number | undefined
  /** Whether a strategy that throws ends only its own bot instead of the run. */
  readonly tolerant?: boolean
  /** Whether to keep the records for a report: orders, round trips and equity of each bot. */
  readonly logged?: boolean
  /** Bots that share one request budget, as live bots do. Every other bot has the whole plan, as on paper. */
  readonly oneBudget?: readonly string[]
  /** Bots that share money and positions, as live bots do. Every other bot has its own, as on paper. */
  readonly oneWallet?: OneWallet
  /** Returns the fill model to use in place of the configured one. */
  readonly model?: (model: FillModel) => FillModel
  /** Outcomes of attempts in another run, such as a recorded live run. They replace outcomes of the fill model. */
  readonly measured?: Measurements
  /** Recorded start of a process. The backtest begins with the state at this start, and receives the inputs that the
   *  process received. */
  readonly replayed?: ReplayedStart | undefined
  /** `at`: time at which the interim result of each bot is taken, in place of `splitRow`. `foreign`: positions of
   *  another run, which are valued then too. */
  readonly note?: { readonly at: Millis; readonly foreign: readonly Position[] }
}

export interface OneWallet {
  readonly bots: readonly string[]
  /** Starting balance; null for the paper balance of the first of these bots. */
  readonly lamports: Lamports | null
}

export const NO_WALLET: OneWallet = { bots: [], lamports: null }

/** Result of a bot, and the value of its positions. */
export interface BotOutcome {
  readonly result: BotResult
  readonly startLamports: number
  /** Liquidation value of the bot's open positions at the end. */
  readonly valueLamports: number
  /** Net result after the row `splitRow` or at the time `note.at`, including the liquidation value of the positions
   *  that were open then. */
  readonly splitLamports: number | undefined
  /** Liquidation value, at the time `note.at`, of those positions in `note.foreign` that belong to this bot; 0 without
   *  `note`. */
  readonly foreignLamports: number
  /** Error that the bot's strategy threw; '' if it threw none. */
  readonly threw: string
  readonly model: FillModel
  /** How much the bot's fills depend on pool depths that were estimated. */
  readonly depth: DepthUse | undefined
  /** Equity of the bot over time; empty unless `logged`. */
  readonly equity: Equity
}

/** Result of a backtest. It depends only on tape, configuration, code and seed. */
export interface Backtest {
  readonly rows: number
  readonly from: Millis
  readonly to: Millis
  readonly segments: number
  readonly gaps: number
  readonly gapMs: number
  readonly coverage: readonly KeyCoverage[]
  /** Data that the bots need but the tape lacks; empty unless `partial`. */
  readonly lacks: readonly string[]
  readonly mints: Pick<WatchedMints, 'wanted' | 'absent'>
  readonly plan: Plan
  readonly bots: readonly BotOutcome[]
  readonly decisions: number
  readonly alarms: readonly string[]
}
