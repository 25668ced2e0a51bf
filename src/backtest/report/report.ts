import { existsSync, readFileSync } from 'node:fs'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Millis } from '../../base/units.ts'
import type { Plan } from '../../engine/settings.ts'
import type { BotExtras } from '../metrics/extras.ts'
import type { BotReport } from './bot-report.ts'

/** What report.json holds, and report.html shows: a function of tape, configuration, code and seed. Times are ms since
 *  1970, UTC. */
export interface Report {
  readonly version: 1
  /** Of Sluice. */
  readonly sluice: string
  readonly hashes: {
    readonly tape: string
    readonly config: string
    /** Of all of Sluice, ... */
    readonly sluice: string
    /** ... of its deciding code with all strategies, ... */
    readonly code: string
    /** ... and with each strategy alone, by bot. */
    readonly strategies: Readonly<Record<string, string>>
  }
  readonly tape: TapeReport
  readonly plan: Pick<Plan, 'name' | 'requestsPerMinute'>
  /** By what orders were filled: in numbers and in sentences. */
  readonly fillModel: {
    readonly numbers: Readonly<Record<string, unknown>>
    readonly assumed: readonly string[]
    readonly limits: readonly string[]
    /** With --calibrate only. */
    readonly calibration: CalibrationReport | null
  }
  readonly bots: readonly BotReport[]
  /** Of further runs over the same tape, by bot. */
  readonly extras: Readonly<Record<string, BotExtras>>
  /** What the entries that were missed would have made, SOL, by bot: see docs/metrics.md. */
  readonly missedSol: Readonly<Record<string, number>>
  /** Robust prices of the tokens that were traded: time and SOL a token. */
  readonly prices: Readonly<Record<string, readonly (readonly [Millis, number])[]>>
  /** What strangers call them, where the tape says it: as they wrote it, so escape it. */
  readonly names: Readonly<Record<string, { readonly symbol: string; readonly name: string }>>
  readonly alarms: readonly string[]
}

/** The model beside real fills. An error is how much better the fill was than predicted, percent; below 0 the model
 *  flatters. */
export interface CalibrationReport {
  /** What was measured; null: too few, and the assumption stays. */
  readonly measured: {
    readonly fills: number
    readonly decided: number
    readonly latencyMs: { readonly p50: number; readonly p95: number } | null
    readonly landingFailurePercent: number | null
    readonly autoPriorityFeeLamports: number | null
    readonly venueFeePercent: number | null
    readonly serviceFeePercent: number | null
  }
  /** How many times as often as alone at the usual fee the model has these attempts lost: by this the measured loss is
   *  divided. */
  readonly lossFactor: number
  readonly compared: number
  /** Fills that were under way while nobody heard the feed: of what they met nothing is known. */
  readonly unheard: number
  readonly medianErrorPercent: number | null
  readonly p10ErrorPercent: number | null
  readonly p90ErrorPercent: number | null
  /** Of the fills, how many were worse than predicted. */
  readonly flatteredPercent: number | null
}

export interface TapeReport {
  readonly from: Millis
  readonly to: Millis
  readonly rows: number
  readonly segments: number
  readonly gaps: number
  readonly gapSeconds: number
  /** Of the recorded time, by key. */
  readonly coveragePercent: Readonly<Record<string, number>>
  /** What the bots needed and it lacks; empty unless `--partial`. */
  readonly lacks: readonly string[]
  readonly watchedTokens: number
  readonly missingTokens: number
  readonly sizedPrints: number
  /** Of them, more than twice off the robust price. */
  readonly noisePercent: number | null
  /** Tokens that have a robust price, and how it changed from the first to the last of each: mean and median of
   *  them. */
  readonly pricedTokens: number
  readonly marketChangePercent: number | null
  readonly medianMarketChangePercent: number | null
}

/** A report.json. Throws SluiceError (exit 2) where it is none, or of another version. */
export function readReport(path: string): Report {
  const notOne = new SluiceError(`${path} is not the report of a backtest (backtest --out)`, ExitCode.usage)
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
    throw new SluiceError(`${path} is of another Sluice (version ${version}); make both again`, ExitCode.usage)
  return report as Report
}
