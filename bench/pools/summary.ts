import { deviation, mean } from '../../src/backtest/metrics/statistics.ts'
import type { Comparison } from './compare.ts'
import type { EntryPlace } from './ledger.ts'
import { RANDOM_BOT } from './roster.ts'

/** Results of a bot over all seeds (one market for each seed). `place`: the assumed place of the bot's orders among the
 *  trades of their Solana slots. All numbers are means per seed; amounts are in SOL. */
export interface Summary {
  readonly bot: string
  readonly place: EntryPlace
  readonly fills: number
  readonly tradedSol: number
  readonly simulatedSol: number
  readonly exactSol: number
  /** Simulated minus exact profit. If it is above 0, the fill model flatters the bot. */
  readonly differenceSol: number
  /** Upper end of the two-sided 95 % confidence interval of `differenceSol`, by Student's t over the seeds. */
  readonly upperSol: number
  /** Number of buys that the model refused because of slippage although the exact pool would have filled them.
   *  `refusedSol`: result of these buys. */
  readonly refusedFillable: number
  readonly refusedSol: number
  /** Exact minus simulated profit, percent of the SOL traded. */
  readonly pessimismPercent: number
}

/** Largest accepted `pessimismPercent` of the bot with random entries. */
const MOST_PESSIMISM_PERCENT = 3

export function summaryOf(comparisons: readonly Comparison[]): Summary[] {
  const groups = Map.groupBy(comparisons, ({ bot, place }) => `${bot} ${place}`)
  return [...groups.values()].map((runs): Summary => {
    const { bot, place } = runs[0] as Comparison
    const average = (of: (run: Comparison) => number): number => mean(runs.map(of)) as number
    const difference = (run: Comparison): number => (run.simulatedLamports - run.exactLamports) / 1e9
    const [tradedSol, differenceSol] = [average((run) => run.tradedLamports) / 1e9, average(difference)]
    return {
      ...{ bot, place, tradedSol, differenceSol },
      fills: average((run) => run.fills),
      simulatedSol: average((run) => run.simulatedLamports) / 1e9,
      exactSol: average((run) => run.exactLamports) / 1e9,
      refusedFillable: average((run) => run.refusals.fillable),
      refusedSol: average((run) => run.refusals.resultLamports) / 1e9,
      upperSol: upperBound(runs.map(difference)),
      pessimismPercent: tradedSol === 0 ? 0 : (-differenceSol / tradedSol) * 100,
    }
  })
}

/** Returns one sentence for each limit that the figures exceed; an empty list means that the fill model passes. */
export function misses(summaries: readonly Summary[]): string[] {
  return summaries.flatMap(({ bot, place, upperSol, pessimismPercent }) => [
    ...(upperSol > 0
      ? [`${bot}, ${place} of the slot: the model may flatter the bot by ${upperSol.toFixed(4)} SOL per seed`]
      : []),
    ...(bot === RANDOM_BOT && pessimismPercent > MOST_PESSIMISM_PERCENT
      ? [
          `${bot}, ${place} of the slot: the model is too pessimistic by ${pessimismPercent.toFixed(2)} % of the SOL traded; ${MOST_PESSIMISM_PERCENT} % are allowed`,
        ]
      : []),
  ])
}

/** Maximum mean difference in a run with a few short markets, percent of the SOL traded. A larger difference shows a
 *  bug. Such a run has too few markets for a confidence interval. */
const ROUGH_PERCENT = 3

/** Returns one sentence for each limit that the figures exceed. For runs with too few markets for a confidence
 *  interval: the limit is `ROUGH_PERCENT`. */
export function roughMisses(summaries: readonly Summary[]): string[] {
  return summaries.flatMap(({ bot, place, pessimismPercent, fills }) => [
    ...(-pessimismPercent > ROUGH_PERCENT
      ? [
          `${bot}, ${place} of the slot: the model flatters the bot by ${(-pessimismPercent).toFixed(2)} % of the SOL traded`,
        ]
      : []),
    ...(bot === RANDOM_BOT && fills === 0 ? [`${bot} has no fill`] : []),
  ])
}

function upperBound(values: readonly number[]): number {
  const scatter = deviation(values) ?? 0
  return (mean(values) as number) + (studentT(values.length - 1) * scatter) / Math.sqrt(values.length)
}

/** 97.5th percentile of the normal distribution. */
const Z = 1.959964

/** 97.5th percentile of Student's t, by two terms of the Cornish-Fisher expansion. At 19 degrees of freedom it is 0.03
 *  % too low. */
function studentT(degrees: number): number {
  const first = (Z ** 3 + Z) / 4
  const second = (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96
  return Z + first / degrees + second / degrees ** 2
}
