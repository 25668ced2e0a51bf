import type { Sweep } from './sweep.ts'
import { rankCorrelation, type SetResult, tradedInSample } from './sweep.ts'

/** Returns the conclusions from a sweep, in sentences. `valid`: the ranked sets that have a result. */
export function sweepVerdict({ holdOutPercent }: Sweep, valid: readonly SetResult[]): string[] {
  const traded = valid.filter(tradedInSample)
  return [
    ...sampleLines(traded, valid.length - traded.length, holdOutPercent > 0 ? 'in the sample' : 'at all'),
    ...(holdOutPercent > 0
      ? holdOutLines(traded)
      : [
          'There is no hold-out: the best of many sets looks good even if all are random. Expect a lower result on the next tape.',
        ]),
  ]
}

function sampleLines([best]: readonly SetResult[], idle: number, where: string): string[] {
  if (best === undefined) return idle === 0 ? [] : [`No set traded ${where}: the sweep is no basis for a choice.`]
  return [
    ...(idle > 0
      ? [`${idle} ${idle === 1 ? 'set' : 'sets'} did not trade ${where}, and ${idle === 1 ? 'ranks' : 'rank'} last.`]
      : []),
    ...(best.sampleLamports < 0
      ? ['Every set that traded lost: not trading would have been better than the best set.']
      : []),
  ]
}

function holdOutLines(traded: readonly SetResult[]): string[] {
  if (traded.length === 0) return []
  const best = traded.slice(0, 10)
  const earning = best.filter(({ netLamports, sampleLamports }) => netLamports > sampleLamports).length
  const correlation = rankCorrelation(traded)
  return [
    `Of the best ${best.length} in the sample, ${earning} made a profit in the hold-out.`,
    ...(correlation === undefined
      ? []
      : [`Rank correlation of sample and hold-out: ${correlation.toFixed(2)} (1: same order, 0: unrelated).`]),
    'Positions that are open at the split count with their liquidation value at that time. A hold-out that is used to choose a set becomes a part of the sample.',
  ]
}
