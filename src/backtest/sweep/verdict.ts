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
          'There is no hold-out: the best of many param sets looks good even if all of them are random. Expect a lower result on the next tape.',
        ]),
  ]
}

function sampleLines([best]: readonly SetResult[], idle: number, where: string): string[] {
  if (best === undefined)
    return idle === 0 ? [] : [`No param set traded ${where}, so the sweep cannot show which set is best.`]
  return [
    ...(idle > 0
      ? [
          `${idle} param ${idle === 1 ? 'set' : 'sets'} did not trade ${where}, and ${idle === 1 ? 'ranks' : 'rank'} last.`,
        ]
      : []),
    ...(best.sampleLamports < 0
      ? ['Every param set that traded lost money: not trading would have been better than the best set.']
      : []),
  ]
}

function holdOutLines(traded: readonly SetResult[]): string[] {
  if (traded.length === 0) return []
  const best = traded.slice(0, 10)
  const earning = best.filter(({ netLamports, sampleLamports }) => netLamports > sampleLamports).length
  const correlation = rankCorrelation(traded)
  return [
    `Of the best ${best.length} param sets in the sample, ${earning} made a profit in the hold-out.`,
    ...(correlation === undefined
      ? []
      : [
          `Rank correlation between the results in the sample and in the hold-out: ${correlation.toFixed(2)} (1: same order, 0: unrelated).`,
        ]),
    'A position that is open at the split counts at its liquidation value at that time. If you choose a set by its result in the hold-out, the hold-out becomes a part of the sample and proves nothing any more.',
  ]
}
