import type { Plan } from '../core/settings.ts'
import type { Millis } from '../core/units.ts'
import type { BotReport } from './bot-report.ts'
import type { BotExtras } from './extras.ts'

/** What report.json holds, and report.html shows: a function of tape, configuration, code and seed. Times are ms since 1970, UTC. */
export interface Report {
  readonly version: 1
  /** Of Sluice. */
  readonly sluice: string
  readonly hashes: {
    readonly tape: string
    readonly config: string
    /** Of Sluice's deciding code and of all strategies, ... */
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
}
