import type { Sweep } from './sweep.ts'
import { rankCorrelation, type SetResult, tradedInSample } from './sweep.ts'

/** What a sweep says of choosing by it, in sentences. `valid`: the sets that have a result, ranked. */
export function sweepVerdict({ holdOutPercent }: Sweep, valid: readonly SetResult[]): string[] {
  const traded = valid.filter(tradedInSample)
  return [
    ...sampleLines(traded, valid.length - traded.length, holdOutPercent > 0 ? 'in the sample' : 'at all'),
    ...(holdOutPercent > 0
      ? holdOutLines(traded)
      : ['Nothing was held out: the best of many sets looks good by chance. Expect less of it on the next tape.']),
  ]
}

function sampleLines([best]: readonly SetResult[], idle: number, where: string): string[] {
  if (best === undefined) return idle === 0 ? [] : [`No set traded ${where}: there is nothing to choose by.`]
  return [
    ...(idle > 0
      ? [`${idle} ${idle === 1 ? 'set' : 'sets'} did not trade ${where}, and ${idle === 1 ? 'stands' : 'stand'} last.`]
      : []),
    ...(best.sampleLamports < 0 ? ['Every set that traded lost: not to trade was better than the best of them.'] : []),
  ]
}

function holdOutLines(traded: readonly SetResult[]): string[] {
  if (traded.length === 0) return []
  const best = traded.slice(0, 10)
  const earning = best.filter(({ netLamports, sampleLamports }) => netLamports > sampleLamports).length
  const correlation = rankCorrelation(traded)
  return [
    `Of the best ${best.length} in the sample, ${earning} earned in the hold-out.`,
    ...(correlation === undefined
      ? []
      : [`Rank correlation of sample and hold-out: ${correlation.toFixed(2)} (1 the same order, 0 chance).`]),
    'What was open at the split counts at what selling it then would have brought. Choosing by the hold-out makes it a sample.',
  ]
}
