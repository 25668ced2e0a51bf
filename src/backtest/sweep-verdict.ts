import { rankCorrelation, type SetResult } from './set-result.ts'
import type { Sweep } from './sweep.ts'

/** What a sweep says of choosing by it, in sentences. `valid`: the sets that have a result, best in the sample first. */
export function sweepVerdict({ holdOutPercent }: Sweep, valid: readonly SetResult[]): string[] {
  if (holdOutPercent === 0)
    return ['Nothing was held out: the best of many sets looks good by chance. Expect less of it on the next tape.']
  const best = valid.slice(0, Math.min(10, valid.length))
  const earning = best.filter(({ netLamports, sampleLamports }) => netLamports > sampleLamports).length
  const correlation = rankCorrelation(valid)
  return [
    `Of the best ${best.length} in the sample, ${earning} earned in the hold-out.`,
    ...(correlation === undefined
      ? []
      : [`Rank correlation of sample and hold-out: ${correlation.toFixed(2)} (1 the same order, 0 chance).`]),
    'What was open at the split counts at what selling it then would have brought. Choosing by the hold-out makes it a sample.',
  ]
}
