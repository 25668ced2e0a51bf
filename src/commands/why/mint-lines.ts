import { counted } from '../../base/text.ts'
import { stampOf } from '../../runtime/time-text.ts'
import type { MintStory } from '../../runtime/why/mint-story.ts'
import { headLines, pageOf, paragraph, stepsJson } from './step-lines.ts'

/** Number of steps that the text shows; older steps are only in --json. */
const MAX_STEPS = 200

export function mintLines({ token, steps, counts }: MintStory, columns: number): string[] {
  const zero = steps[0]?.at ?? null
  const shown = steps.slice(-MAX_STEPS)
  const sums = [
    counted(counts.orders, 'order'),
    counted(counts.fills, 'fill'),
    counted(counts.refused, 'refusal'),
    counted(counts.notes, 'note'),
  ].join(', ')
  const head = [...headLines(token, columns), ...paragraph(sums, columns, 2)]
  const ask = 'No bot made a decision about this token. --at TIME shows the market and the state of each bot at a time.'
  if (shown.length === 0) return [...head, ...paragraph(ask, columns, 2)]
  const since = zero === null ? [] : paragraph(`since ${stampOf(zero)}`, columns, 2)
  const left = steps.length - shown.length
  const earlier = left === 0 ? [] : paragraph(`${left} earlier lines are omitted; --json contains all`, columns, 2)
  return [...head, ...since, ...earlier, '', ...pageOf(shown, zero ?? 0, columns)]
}

export function mintJson({ token, steps, counts }: MintStory): object {
  return { kind: 'mint', ...token, ...counts, steps: stepsJson(steps, steps[0]?.at ?? 0) }
}
