import type { TokenId } from '../../market/block.ts'
import type { ConditionPlan } from './condition-plan.ts'
import { type NumberSource, TestCode } from './test-code.ts'

/** The conditions of one bot that are tested when a bar of one width closes. */
export class BotConditions {
  readonly #names: readonly string[]
  readonly #codes: readonly TestCode[]
  /** Names of the conditions that are true; reused. */
  readonly #held: string[] = []

  constructor(plans: readonly ConditionPlan[], source: NumberSource) {
    this.#names = plans.map(({ name }) => name)
    this.#codes = plans.map(({ test }) => new TestCode(test, source))
  }

  /** Tests the conditions for a token whose bar has closed. Returns the names of those that are true, in the order of
   *  their declaration. The list is valid until the next call. */
  heldBy(token: TokenId): readonly string[] {
    const codes = this.#codes
    const held = this.#held
    held.length = 0
    for (let index = 0; index < codes.length; index++) {
      const { crossings, run } = codes[index] as TestCode
      for (let crossing = 0; crossing < crossings.length; crossing++) crossings[crossing]?.advance(token)
      if (run(token) === 1) held.push(this.#names[index] as string)
    }
    return held
  }

  forget(token: TokenId): void {
    for (const { crossings } of this.#codes) for (const crossing of crossings) crossing.forget(token)
  }
}
