import { bitOf, lowestBit, WORD_BITS, wordOf, wordsFor } from '../../base/bits.ts'
import type { TokenId } from '../../market/block.ts'
import type { Test } from './condition.ts'
import { ConditionNumbers, type NumberSource } from './condition-numbers.ts'
import type { ConditionPlan } from './condition-plan.ts'
import { SimpleTests } from './simple-tests.ts'

/** Results of a combined condition. */
const TRUE = 1
const FALSE = 0
const UNKNOWN = -1

/** Returns the result of a combined condition. The simple tests of the bar must have run. */
type Combined = () => number

/** Conditions that are tested together when a bar of one width closes. Conditions of several bots may read the same
 *  number or contain the same simple condition; it is then read or tested once. */
export class ConditionTests<Owner> {
  readonly #owners: Owner[] = []
  /** For each condition, a list that contains only its name. */
  readonly #names: (readonly [string])[] = []
  readonly #numbers = new ConditionNumbers()
  readonly #simple = new SimpleTests(this.#numbers)
  /** For each simple test, the conditions that consist only of it. */
  readonly #conditions: number[][] = []
  readonly #combined: { readonly condition: number; readonly result: Combined }[] = []
  /** One bit for each condition, set while `test` runs if the condition is true. */
  #isTrue = new Int32Array(0)
  /** The conditions that `test` found to be true, in the order in which they were added. */
  #held = new Uint32Array(0)
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
    const { truths } = this.#simple
    for (let word = 0; word < truths.length; word++)
      for (let bits = truths[word] as number; bits !== 0; bits &= bits - 1)
        this.#markAll(this.#conditions[WORD_BITS * word + lowestBit(bits)] as number[])
    const combined = this.#combined
    for (let index = 0; index < combined.length; index++) {
      const { condition, result } = combined[index] as { condition: number; result: Combined }
      if (result() === TRUE) this.#mark(condition)
    }
    return this.#listMarked()
  }

  #markAll(conditions: readonly number[]): void {
    for (let index = 0; index < conditions.length; index++) this.#mark(conditions[index] as number)
  }

  #mark(condition: number): void {
    const word = wordOf(condition)
    this.#isTrue[word] = (this.#isTrue[word] as number) | bitOf(condition)
  }

  /** Writes the marked conditions to `#held`, in order, and removes the marks. Returns their number. */
  #listMarked(): number {
    const marked = this.#isTrue
    const held = this.#held
    let count = 0
    for (let word = 0; word < marked.length; word++) {
      for (let bits = marked[word] as number; bits !== 0; bits &= bits - 1)
        held[count++] = WORD_BITS * word + lowestBit(bits)
      marked[word] = 0
    }
    return count
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
    this.#isTrue = new Int32Array(wordsFor(this.#owners.length))
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
        const result = part()
        return result === UNKNOWN ? UNKNOWN : TRUE - result
      }
    }
    const decisive = test.kind === 'all' ? FALSE : TRUE
    return () => {
      let result = TRUE - decisive
      for (let index = 0; index < parts.length; index++) {
        const partResult = (parts[index] as Combined)()
        if (partResult === decisive) return decisive
        if (partResult === UNKNOWN) result = UNKNOWN
      }
      return result
    }
  }
}
