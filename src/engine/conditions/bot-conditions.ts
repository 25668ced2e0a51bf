import type { TokenId } from '../../market/block.ts'
import type { ConditionPlan } from './condition-plan.ts'
import { type NumberSource, TestCode, TRUE } from './test-code.ts'

const NONE: readonly string[] = Object.freeze([])

/** The conditions of one bot that are tested when a bar of one width closes. */
export class BotConditions {
  readonly #names: readonly string[]
  readonly #codes: readonly TestCode[]

  constructor(plans: readonly ConditionPlan[], source: NumberSource) {
    this.#names = plans.map(({ name }) => name)
    this.#codes = plans.map(({ test }) => new TestCode(test, source))
  }

  /** Tests the conditions for a token whose bar has closed. Returns the names of the conditions that are true, in the
   *  order of their declaration. */
  heldBy(token: TokenId): readonly string[] {
    const codes = this.#codes
    let held: string[] | undefined
    for (let index = 0; index < codes.length; index++) {
      const { crossings, run } = codes[index] as TestCode
      for (let crossing = 0; crossing < crossings.length; crossing++) crossings[crossing]?.advance(token)
      if (run(token) !== TRUE) continue
      held ??= []
      held.push(this.#names[index] as string)
    }
    return held ?? NONE
  }

  forget(token: TokenId): void {
    for (const { crossings } of this.#codes) for (const crossing of crossings) crossing.forget(token)
  }
}
