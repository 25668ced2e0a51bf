import { existsSync, readFileSync } from 'node:fs'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Millis } from '../../base/units.ts'
import type { Plan } from '../../engine/settings.ts'
import type { UnitVerdict } from '../../runtime/unit-witness.ts'
import type { BotExtras } from '../metrics/extras.ts'
import type { BotReport } from './bot-report.ts'

/** Content of report.json, which report.html shows. It depends only on tape, configuration, code and seed. Times are ms
 *  since 1970, UTC. */
export interface Report {
  readonly version: 1
  /** Version of Sluice. */
  readonly sluice: string
  readonly hashes: {
    readonly tape: string
    /** Version of the method that computed the hash of the tape (`TAPE_IDENTITY`); absent in reports of version 1. */
    readonly tapeIdentity?: number
    readonly config: string
    /** Hash of all code of Sluice. */
    readonly sluice: string
    /** Hash of the code that makes decisions, together with all strategies. */
    readonly code: string
    /** For each bot, the hash of the code that makes decisions together with the bot's strategy. */
    readonly strategies: Readonly<Record<string, string>>
  }
  readonly tape: TapeReport
  readonly plan: Pick<Plan, 'name' | 'requestsPerMinute'>
  /** The fill model, in numbers and in sentences. */
  readonly fillModel: {
    readonly numbers: Readonly<Record<string, unknown>>
    readonly assumed: readonly string[]
    readonly limits: readonly string[]
    /** Comparison with real fills; null without --calibrate. */
    readonly calibration: CalibrationReport | null
    /** One line that states how far the fill model may be wrong; absent in reports of earlier versions. */
    readonly error?: string
  }
  readonly bots: readonly BotReport[]
  /** Results of repeated backtests with other assumptions (such as other costs, sizes or random entries), by bot. */
  readonly extras: Readonly<Record<string, BotExtras>>
  /** Results that missed entries would have had, SOL, by bot; see docs/metrics.md. */
  readonly missedSol: Readonly<Record<string, number>>
  /** Robust prices of the traded tokens: time, and SOL per token. */
  readonly prices: Readonly<Record<string, readonly (readonly [Millis, number])[]>>
  /** Volume of the traded tokens: for each step of a token's chart, its time, the SOL of the buys, and the SOL of the
   *  sales. Absent in reports of earlier versions. */
  readonly volumes?: Readonly<Record<string, readonly (readonly [Millis, number, number])[]>>
  /** Names that the creators gave to the tokens, not escaped. */
  readonly names: Readonly<Record<string, { readonly symbol: string; readonly name: string }>>
  readonly alarms: readonly string[]
}

/** Error of the default fill model on seeded markets with exact pools (docs/exact-pools.md). */
export interface ExactPools {
  /** Date of the measurement. */
  readonly date: string
  /** Hash of the model's code at that time. A test fails if the model has changed since. */
  readonly code: string
  readonly seeds: number
  readonly bots: number
  readonly fills: number
  /** Bots whose simulated profit may be too high: the upper end of the 95 % interval of simulated minus exact profit is
   *  above 0. */
  readonly flattered: readonly string[]
  /** The highest upper end, over all bots, of the 95 % interval of simulated minus exact profit, in percent of the SOL
   *  that the bot traded. `upperBot`: the bot with this value. */
  readonly upperPercent: number
  readonly upperBot: string
  /** The bot for which certain buys would have had the lowest result: buys that the model refuses because of slippage,
   *  although the exact pool fills them. `refusedSol`: this result, SOL per simulated market (seed). */
  readonly refusedBot: string
  readonly refusedSol: number
  /** Exact minus simulated profit of random entries, in percent of the SOL traded. */
  readonly randomPessimismPercent: number
}

/** Comparison of the model with real fills. The error is the advantage of the real fill over the prediction, in
 *  percent. If it is negative, the model is too optimistic. */
export interface CalibrationReport {
  /** Measured values. A value is null if there were too few attempts; the assumed value is then kept. */
  readonly measured: {
    readonly fills: number
    readonly decided: number
    readonly latencyMs: { readonly p50: number; readonly p95: number } | null
    readonly landingFailurePercent: number | null
    readonly autoPriorityFeeLamports: number | null
    readonly venueFeePercent: number | null
    readonly serviceFeePercent: number | null
  }
  /** Competition by other traders raises the share of lost transactions. This is the factor of this increase in the
   *  model, relative to a quiet market at the usual fee: its mean over the measured attempts. The measured share is
   *  divided by the factor, because the model multiplies the share by the factor of each order. */
  readonly lossFactor: number
  readonly compared: number
  /** Number of fills during a gap of the feed. They cannot be compared. */
  readonly unheard: number
  readonly medianErrorPercent: number | null
  readonly p10ErrorPercent: number | null
  readonly p90ErrorPercent: number | null
  /** Percentage of the fills that were worse than predicted. */
  readonly flatteredPercent: number | null
}

export interface TapeReport {
  /** Unit of the amounts: `sol` if a source other than the quoted price confirms it, `assumed` if there is no such
   *  source, `other` if a source contradicts it. `text`: the first sentence of the report, which states the unit.
   *  Absent in reports of earlier versions. */
  readonly unit?: { readonly is: UnitVerdict['unit']; readonly text: string }
  readonly from: Millis
  readonly to: Millis
  readonly rows: number
  readonly segments: number
  readonly gaps: number
  readonly gapSeconds: number
  /** For each subscription key, the percentage of the recorded time that it covers. */
  readonly coveragePercent: Readonly<Record<string, number>>
  /** Descriptions of data that the bots need but the tape lacks; empty unless `--partial`. */
  readonly lacks: readonly string[]
  readonly watchedTokens: number
  readonly missingTokens: number
  readonly sizedPrints: number
  /** Percentage of the prints whose price differs from the robust price by more than a factor of two. */
  readonly noisePercent: number | null
  /** Number of tokens with a robust price. The next two fields are the mean and the median of their price changes, each
   *  from the first to the last price of the token. */
  readonly pricedTokens: number
  readonly marketChangePercent: number | null
  readonly medianMarketChangePercent: number | null
}

/** Reads report.json. Throws SluiceError (exit 2) if the file is not a report, or is of another version. */
export function readReport(path: string): Report {
  const notOne = new SluiceError(`${path} is not a backtest report (backtest --out)`, ExitCode.usage)
  if (!existsSync(path)) throw notOne
  let report: unknown
  try {
    report = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    throw notOne
  }
  const { version, hashes, bots } = (report ?? {}) as Partial<Report>
  if (hashes === undefined || !Array.isArray(bots)) throw notOne
  if (version !== 1)
    throw new SluiceError(
      `${path} was written by another version of Sluice (report version ${version}); run both backtests again`,
      ExitCode.usage,
    )
  return report as Report
}
