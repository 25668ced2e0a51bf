import type { MintStory } from './mint-story.ts'
import { headLines, stepsJson } from './order-page.ts'
import { pageOf, paragraph } from './page.ts'
import { stampOf } from './time.ts'

/** The last ones; --json has all. */
const MOST_STEPS = 200

export function mintLines({ token, steps, counts }: MintStory, columns: number): string[] {
  const zero = steps[0]?.at ?? null
  const shown = steps.slice(-MOST_STEPS)
  const sums = `${counts.orders} orders, ${counts.fills} fills, ${counts.refused} refusals, ${counts.notes} notes`
  const head = [...headLines(token, columns), ...paragraph(sums, columns, 2)]
  const ask =
    'No bot asked for anything of it. --at TIME says what there was to see then, and what each bot kept for it.'
  if (shown.length === 0) return [...head, ...paragraph(ask, columns, 2)]
  const since = zero === null ? [] : paragraph(`since ${stampOf(zero)}`, columns, 2)
  const left = steps.length - shown.length
  const earlier = left === 0 ? [] : paragraph(`${left} earlier lines are left out; --json has all`, columns, 2)
  return [...head, ...since, ...earlier, '', ...pageOf(shown, zero ?? 0, columns)]
}

export function mintJson({ token, steps, counts }: MintStory): object {
  return { kind: 'mint', ...token, ...counts, steps: stepsJson(steps, steps[0]?.at ?? 0) }
}
