import type { Lamports, Millis } from '../base/units.ts'
import type { Position } from '../engine/accounting/position.ts'
import type { Plan } from '../engine/settings.ts'
import type { Journal } from '../orders/ports.ts'
import type { FillModel } from '../simulation/fill-model.ts'
import type { DepthUse, Measurements } from '../simulation/measurements.ts'
import type { BotResult } from './bot-result.ts'
import type { KeyCoverage, WatchedMints } from './coverage.ts'
import type { Equity } from './equity.ts'
import type { ReplayedStart } from './replay/recorded-start.ts'

export interface BacktestOptions {
  /** Go on with a tape that does not cover what the bots need. */
  readonly partial: boolean
  /** Told now and then how many rows are done. */
  readonly progress?: (rows: number) => void
  /** Is told everything but the rows. */
  readonly journal?: Journal | undefined
  /** When so many rows are done, what each bot has made of them is noted. */
  readonly splitRow?: number | undefined
  /** A strategy that throws takes only its own bot out. */
  readonly tolerant?: boolean
  /** Keep what a report needs: each bot's orders, trips and equity. */
  readonly logged?: boolean
  /** Bots that draw on one budget, as live ones do; else each has the plan for itself, as on paper. */
  readonly oneBudget?: readonly string[]
  /** Bots that share their money and what they hold, as live ones do; else each has its own, as on paper. */
  readonly oneWallet?: OneWallet
  /** Fill by another model than the configuration's. */
  readonly model?: (model: FillModel) => FillModel
  /** What another run knows of the same attempts. */
  readonly measured?: Measurements
  /** Begin with what a start of a run had, instead of with nothing, and hear what it was told. */
  readonly replayed?: ReplayedStart | undefined
  /** At this time what each bot has made is noted, instead of at a row; and what positions of another run are worth. */
  readonly note?: { readonly at: Millis; readonly foreign: readonly Position[] }
}

export interface OneWallet {
  readonly bots: readonly string[]
  /** What it begins with; null: what the first of the bots has on paper. */
  readonly lamports: Lamports | null
}

export const NO_WALLET: OneWallet = { bots: [], lamports: null }

/** What came of a bot, and what it is worth. */
export interface BotOutcome {
  readonly result: BotResult
  readonly startLamports: number
  /** What selling its open positions at the end would bring. */
  readonly valueLamports: number
  /** Net result up to `splitRow`, or to the note, at what selling what was open then would have brought. */
  readonly splitLamports: number | undefined
  /** What selling the positions that it has in the other run would have brought at the note. */
  readonly foreignLamports: number
  /** What its strategy threw; '' where it did not. */
  readonly threw: string
  readonly model: FillModel
  /** How much of its fills hangs on depths that are only estimated. */
  readonly depth: DepthUse | undefined
  /** Empty unless `logged`. */
  readonly equity: Equity
}

/** All that a backtest says: a function of tape, configuration, code and seed. */
export interface Backtest {
  readonly rows: number
  readonly from: Millis
  readonly to: Millis
  readonly segments: number
  readonly gaps: number
  readonly gapMs: number
  readonly coverage: readonly KeyCoverage[]
  /** What the tape lacks of what the bots need; empty unless `partial`. */
  readonly lacks: readonly string[]
  readonly mints: Pick<WatchedMints, 'wanted' | 'absent'>
  readonly plan: Plan
  readonly bots: readonly BotOutcome[]
  readonly decisions: number
  readonly alarms: readonly string[]
}
