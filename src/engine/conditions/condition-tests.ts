import type { TokenId } from '../../market/block.ts'
import type { Test } from './condition.ts'
import { ConditionNumbers, type NumberSource } from './condition-numbers.ts'
import type { ConditionPlan } from './condition-plan.ts'
import { lowestBit, SimpleTests } from './simple-tests.ts'

/** Results of a combined condition. */
const TRUE = 1
const FALSE = 0
const UNKNOWN = -1

/** A function that returns the result of a condition, after the simple conditions of a bar were tested. */
type Combined = () => number

/** Conditions that are tested together when a bar of one width closes. Conditions of several bots may read the same
 *  number or make the same comparison; this is then done once. */
export class ConditionTests<Owner> {
  readonly #owners: Owner[] = []
  /** For each condition, a list that contains only its name. */
  readonly #names: (readonly [string])[] = []
  readonly #numbers = new ConditionNumbers()
  readonly #simple = new SimpleTests(this.#numbers)
  /** For each simple test, the conditions that consist only of it. */
  readonly #conditions: number[][] = []
  readonly #combined: { readonly condition: number; readonly result: Combined }[] = []
  /** The conditions that `test` found to be true, in the order in which they were added. */
  #held = new Uint32Array(0)
  #heldCount = 0
  #hasBegun = false

  get isEmpty(): boolean {
    return this.#owners.length === 0
  }

  /** Adds a condition. All conditions must be added before the first test. */
  add(owner: Owner, { name, test }: Pick<ConditionPlan, 'name' | 'test'>, source: NumberSource): void {
    if (this.#hasBegun) throw new Error('invariant broken: a condition was added after the first test')
    const condition = this.#owners.push(owner) - 1
    this.#names.push([name])
    if ('of' in test) this.#combined.push({ condition, result: this.#combine(test, source) })
    else this.#conditions[this.#simpleTest(test, source)]?.push(condition)
  }

  /** Tests all conditions for a token whose bar has closed. Returns the number of those that are true; `ownerOf` and
   *  `nameOf` tell which. */
  test(token: TokenId): number {
    if (!this.#hasBegun) this.#begin()
    this.#numbers.load(token)
    this.#simple.test(token)
    this.#heldCount = 0
    const { truths } = this.#simple
    for (let word = 0; word < truths.length; word++)
      for (let bits = truths[word] as number; bits !== 0; bits &= bits - 1)
        this.#holdAll(this.#conditions[32 * word + lowestBit(bits)] as number[])
    const combined = this.#combined
    for (let index = 0; index < combined.length; index++) {
      const { condition, result } = combined[index] as { condition: number; result: Combined }
      if (result() === TRUE) this.#hold(condition)
    }
    return this.#heldCount
  }

  #holdAll(conditions: readonly number[]): void {
    for (let index = 0; index < conditions.length; index++) this.#hold(conditions[index] as number)
  }

  /** Adds a condition to `#held`, at the place that keeps the order. */
  #hold(condition: number): void {
    const held = this.#held
    let at = this.#heldCount++
    while (at > 0 && (held[at - 1] as number) > condition) {
      held[at] = held[at - 1] as number
      at--
    }
    held[at] = condition
  }

  /** Returns the bot of a condition that the last `test` found to be true. `index`: from 0 to the result of `test`. */
  ownerOf(index: number): Owner {
    return this.#owners[this.#held[index] as number] as Owner
  }

  /** Returns the name of this condition, as a list. */
  nameOf(index: number): readonly [string] {
    return this.#names[this.#held[index] as number] as readonly [string]
  }

  forget(token: TokenId): void {
    this.#simple.forget(token)
  }

  /** Prepares the first test: all conditions have been added. */
  #begin(): void {
    this.#hasBegun = true
    this.#numbers.begin()
    this.#simple.begin()
    this.#held = new Uint32Array(this.#owners.length)
  }

  #simpleTest({ kind, left, right }: Exclude<Test, { of: unknown }>, source: NumberSource): number {
    const numbers = this.#numbers
    const test = this.#simple.add({ kind, left: numbers.add(left, source), right: numbers.add(right, source) })
    this.#conditions[test] ??= []
    return test
  }

  #combine(test: Test, source: NumberSource): Combined {
    if (!('of' in test)) {
      const simple = this.#simpleTest(test, source)
      return () => (!this.#simple.isKnown(simple) ? UNKNOWN : this.#simple.isTrue(simple) ? TRUE : FALSE)
    }
    const parts = test.of.map((part) => this.#combine(part, source))
    if (test.kind === 'not') {
      const [part] = parts as [Combined]
      return () => {
        const one = part()
        return one === UNKNOWN ? UNKNOWN : TRUE - one
      }
    }
    const decisive = test.kind === 'all' ? FALSE : TRUE
    return () => {
      let result = TRUE - decisive
      for (let index = 0; index < parts.length; index++) {
        const one = (parts[index] as Combined)()
        if (one === decisive) return one
        if (one === UNKNOWN) result = one
      }
      return result
    }
  }
}
