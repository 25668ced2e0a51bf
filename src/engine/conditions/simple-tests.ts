import { bitOf, lowestBit, WORD_BITS, wordOf, wordsFor } from '../../base/bits.ts'
import type { TokenId } from '../../market/block.ts'
import type { Crossing } from './condition.ts'
import type { ConditionNumbers } from './condition-numbers.ts'

export type SimpleKind = 'above' | 'below' | Crossing

/** A condition that compares two numbers, by their indexes in `ConditionNumbers`. */
interface SimpleTest {
  readonly left: number
  readonly right: number
  readonly kind: SimpleKind
}

/** Simple conditions, which compare two numbers. 32 of them share a word in each array below, so a few operations find
 *  which of them are true.
 *
 *  Two bits contain the result of a comparison, one in each of two words: whether the left number is at least as large
 *  as the right one, and whether it is at most as large. If both bits are 0, a number is missing, and the result is
 *  unknown. */
export class SimpleTests {
  readonly #numbers: ConditionNumbers
  readonly #tests: SimpleTest[] = []
  /** For each test, the places of its numbers in `ConditionNumbers.ranges`. */
  #lefts = new Uint32Array(0)
  #rights = new Uint32Array(0)
  /** For each word, the tests of a kind. A test for a crossing in either direction is in both sets of crossings. */
  #above = new Int32Array(0)
  #below = new Int32Array(0)
  #crossesAbove = new Int32Array(0)
  #crossesBelow = new Int32Array(0)
  /** For each token and each group of 32 tests, two words: the results at the token's last bar. */
  #last = new Int32Array(0)
  /** The tests that are true at the bar that was tested last. */
  truths = new Int32Array(0)
  /** The tests whose result is known at this bar. */
  #known = new Int32Array(0)
  /** Two numbers that are compared exactly. */
  readonly #exact = new Float64Array(2)

  constructor(numbers: ConditionNumbers) {
    this.#numbers = numbers
  }

  /** Adds a test unless there is an equal one. Returns its index. */
  add(test: SimpleTest): number {
    const known = this.#tests.findIndex(
      ({ left, right, kind }) => left === test.left && right === test.right && kind === test.kind,
    )
    return known >= 0 ? known : this.#tests.push(test) - 1
  }

  /** Prepares the first `test`. All tests must have been added, and `ConditionNumbers.begin` called. */
  begin(): void {
    const place = (number: number): number => this.#numbers.placeOf(number)
    this.#lefts = Uint32Array.from(this.#tests, ({ left }) => place(left))
    this.#rights = Uint32Array.from(this.#tests, ({ right }) => place(right))
    this.#above = this.#wordsOf('above')
    this.#below = this.#wordsOf('below')
    this.#crossesAbove = this.#wordsOf('crossesAbove', 'crosses')
    this.#crossesBelow = this.#wordsOf('crossesBelow', 'crosses')
    this.truths = this.#wordsOf()
    this.#known = this.#wordsOf()
  }

  /** Returns the bits of the tests of these kinds. */
  #wordsOf(...kinds: SimpleKind[]): Int32Array<ArrayBuffer> {
    const words = new Int32Array(wordsFor(this.#tests.length))
    for (const [test, { kind }] of this.#tests.entries())
      if (kinds.includes(kind)) words[wordOf(test)] = (words[wordOf(test)] as number) | bitOf(test)
    return words
  }

  isTrue(test: number): boolean {
    return ((this.truths[wordOf(test)] as number) & bitOf(test)) !== 0
  }

  isKnown(test: number): boolean {
    return ((this.#known[wordOf(test)] as number) & bitOf(test)) !== 0
  }

  /** Tests a token whose bar has closed. The ranges of its numbers must have been loaded. */
  test(token: TokenId): void {
    const words = this.truths.length
    const first = token * words * 2
    if (first >= this.#last.length) this.#grow(token)
    const last = this.#last
    for (let word = 0; word < words; word++) {
      const at = first + 2 * word
      const [atLeastBefore, atMostBefore] = [last[at] as number, last[at + 1] as number]
      this.#compare(token, word, last, at)
      const [atLeast, atMost] = [last[at] as number, last[at + 1] as number]
      const knownBefore = atLeastBefore | atMostBefore
      const isAbove = atLeast & ~atMost
      const isBelow = atMost & ~atLeast
      this.truths[word] =
        (isAbove & (this.#above[word] as number)) |
        (isBelow & (this.#below[word] as number)) |
        (isAbove & knownBefore & ~(atLeastBefore & ~atMostBefore) & (this.#crossesAbove[word] as number)) |
        (isBelow & knownBefore & ~(atMostBefore & ~atLeastBefore) & (this.#crossesBelow[word] as number))
      this.#known[word] =
        (atLeast | atMost) & ((this.#above[word] as number) | (this.#below[word] as number) | knownBefore)
    }
  }

  /** Makes the comparisons of a word, and writes their results to `to[at]` and `to[at + 1]`. The loop has no branch,
   *  because the processor could not predict it. V8 compiles `+(a > b)` without one, but not `a > b ? 1 : 0`. */
  #compare(token: TokenId, word: number, to: Int32Array, at: number): void {
    const lefts = this.#lefts
    const rights = this.#rights
    const { ranges } = this.#numbers
    const from = word * WORD_BITS
    const end = from + WORD_BITS < lefts.length ? from + WORD_BITS : lefts.length
    let above = 0
    let below = 0
    for (let test = from; test < end; test++) {
      const left = lefts[test] as number
      const right = rights[test] as number
      above |= +((ranges[left] as number) > (ranges[right + 1] as number)) << test
      below |= +((ranges[left + 1] as number) < (ranges[right] as number)) << test
    }
    to[at] = above
    to[at + 1] = below
    const undecided = ~(above | below) & (-1 >>> (from + WORD_BITS - end))
    if (undecided !== 0) this.#compareExactly(token, word, undecided, to, at)
  }

  /** Makes the comparisons of a word whose ranges overlap. `undecided`: their bits. */
  #compareExactly(token: TokenId, word: number, undecided: number, to: Int32Array, at: number): void {
    const { ranges } = this.#numbers
    for (let bits = undecided; bits !== 0; bits &= bits - 1) {
      const test = word * WORD_BITS + lowestBit(bits)
      const isMissing =
        Number.isNaN(ranges[this.#lefts[test] as number]) || Number.isNaN(ranges[this.#rights[test] as number])
      if (isMissing) continue
      const { left, right } = this.#tests[test] as SimpleTest
      const exact = this.#exact
      this.#numbers.loadExactly(left, token, exact, 0)
      this.#numbers.loadExactly(right, token, exact, 1)
      const [one, other] = [exact[0] as number, exact[1] as number]
      to[at] = (to[at] as number) | (+(one >= other) << test)
      to[at + 1] = (to[at + 1] as number) | (+(one <= other) << test)
    }
  }

  forget(token: TokenId): void {
    const words = this.truths.length * 2
    this.#last.fill(0, token * words, (token + 1) * words)
  }

  #grow(token: TokenId): void {
    const grown = new Int32Array(Math.max(1024, 2 ** Math.ceil(Math.log2(token + 1))) * this.truths.length * 2)
    grown.set(this.#last)
    this.#last = grown
  }
}
