import { existsSync, readFileSync } from 'node:fs'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Millis } from '../../base/units.ts'
import type { Plan } from '../../engine/settings.ts'
import type { UnitVerdict } from '../../runtime/unit-witness.ts'
import type { BotExtras } from '../metrics/extras.ts'
import type { BotReport } from './bot-report.ts'

/** Content of report.json, shown by report.html: a function of tape, configuration, code and seed. Times are ms since
 *  1970, UTC. */
export interface Report {
  readonly version: 1
  /** Version of Sluice. */
  readonly sluice: string
  readonly hashes: {
    readonly tape: string
    /** Version of the tape's identity (`TAPE_IDENTITY`); absent in reports of version 1. */
    readonly tapeIdentity?: number
    readonly config: string
    /** Hash of all code of Sluice. */
    readonly sluice: string
    /** Hash of the deciding code and all strategies. */
    readonly code: string
    /** Hashes of the deciding code and one strategy, by bot. */
    readonly strategies: Readonly<Record<string, string>>
  }
  readonly tape: TapeReport
  readonly plan: Pick<Plan, 'name' | 'requestsPerMinute'>
  /** Fill model, in numbers and in sentences. */
  readonly fillModel: {
    readonly numbers: Readonly<Record<string, unknown>>
    readonly assumed: readonly string[]
    readonly limits: readonly string[]
    /** With --calibrate only. */
    readonly calibration: CalibrationReport | null
    /** How far the model is off, in one line; absent in reports of earlier versions. */
    readonly error?: string
  }
  readonly bots: readonly BotReport[]
  /** Further runs over the same tape, by bot. */
  readonly extras: Readonly<Record<string, BotExtras>>
  /** Results that missed entries would have had, SOL, by bot: see docs/metrics.md. */
  readonly missedSol: Readonly<Record<string, number>>
  /** Robust prices of traded tokens: time, and SOL per token. */
  readonly prices: Readonly<Record<string, readonly (readonly [Millis, number])[]>>
  /** Names by their creators, unescaped. */
  readonly names: Readonly<Record<string, { readonly symbol: string; readonly name: string }>>
  readonly alarms: readonly string[]
}

/** How far the default fill model was off on seeded markets with exact pools (docs/exact-pools.md). */
export interface ExactPools {
  /** Date of the measurement. */
  readonly date: string
  /** Hash of the model's code then: a test fails if today's model is another one. */
  readonly code: string
  readonly seeds: number
  readonly bots: number
  readonly fills: number
  /** Bots that the model may flatter: the upper 95 % bound of simulated minus exact profit is above 0. */
  readonly flattered: readonly string[]
  /** Highest of these bounds, in percent of the SOL that the bot traded, and the bot. */
  readonly upperPercent: number
  readonly upperBot: string
  /** The bot that lost most with buys that the model refused for slippage and the exact pool fills; SOL a seed. */
  readonly refusedBot: string
  readonly refusedSol: number
  /** Exact minus simulated profit of random entries, in percent of the SOL traded. */
  readonly randomPessimismPercent: number
}

/** The model compared with real fills. An error is how much better the real fill was than predicted, percent; below 0
 *  the model is too optimistic. */
export interface CalibrationReport {
  /** Measured values; null: too few attempts, so the assumption stays. */
  readonly measured: {
    readonly fills: number
    readonly decided: number
    readonly latencyMs: { readonly p50: number; readonly p95: number } | null
    readonly landingFailurePercent: number | null
    readonly autoPriorityFeeLamports: number | null
    readonly venueFeePercent: number | null
    readonly serviceFeePercent: number | null
  }
  /** How many times more often than in a quiet market at the usual fee the model loses these attempts; the measured
   *  losses are divided by it. */
  readonly lossFactor: number
  readonly compared: number
  /** Fills during a gap of the feed, which cannot be compared. */
  readonly unheard: number
  readonly medianErrorPercent: number | null
  readonly p10ErrorPercent: number | null
  readonly p90ErrorPercent: number | null
  /** Share of the fills that were worse than predicted. */
  readonly flatteredPercent: number | null
}

export interface TapeReport {
  /** Unit of the amounts: `sol` if a second witness agrees, `assumed` without one, `other` if one contradicts; and the
   *  first line of the report about it. Absent in reports of earlier versions. */
  readonly unit?: { readonly is: UnitVerdict['unit']; readonly text: string }
  readonly from: Millis
  readonly to: Millis
  readonly rows: number
  readonly segments: number
  readonly gaps: number
  readonly gapSeconds: number
  /** Share of the recorded time, by key. */
  readonly coveragePercent: Readonly<Record<string, number>>
  /** Data that the bots need and the tape lacks; empty unless `--partial`. */
  readonly lacks: readonly string[]
  readonly watchedTokens: number
  readonly missingTokens: number
  readonly sizedPrints: number
  /** Prints more than twice off the robust price. */
  readonly noisePercent: number | null
  /** Tokens with a robust price, and the mean and median change from their first to their last. */
  readonly pricedTokens: number
  readonly marketChangePercent: number | null
  readonly medianMarketChangePercent: number | null
}

/** Reads report.json. Throws SluiceError (exit 2) if the file is not a report, or of another version. */
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
