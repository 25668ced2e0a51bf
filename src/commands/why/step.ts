import type { Millis } from '../../core/units.ts'

/** One link of the chain that an answer is: when, what kind of thing, and what happened, in words. `text` may hold a stranger's. */
export interface Step {
  /** null: it is as it is now. */
  readonly at: Millis | null
  readonly what: string
  readonly text: string
}

/** In the order of time, those of now last; what happened at once stays as it was told. */
export function inOrder(steps: readonly Step[]): Step[] {
  const timeOf = ({ at }: Step): number => at ?? Number.POSITIVE_INFINITY
  return [...steps].sort((one, other) => {
    const [first, second] = [timeOf(one), timeOf(other)]
    return first === second ? 0 : first - second
  })
}
