import type { Width } from '../../market/bar-width.ts'
import type { TokenId } from '../../market/block.ts'
import type { BarFigure } from '../indicators/indicator.ts'
import type { Arithmetic, Crossing, Term, Test } from './condition.ts'
import type { ConditionPlan } from './condition-plan.ts'

/** A function that writes a number of a token to `to[at]`; NaN if the token has no such number yet. If the function
 *  returned the number, V8 would allocate memory for it. */
export type LoadNumber = (token: TokenId, to: Float64Array, at: number) => void

/** Estimates several numbers of a token at once, which is faster than reading each of them. */
export interface Estimates {
  /** Writes an estimate of each of the numbers with these indexes, and the largest possible error of this estimate. The
   *  first estimate is written to `to[at]`, its error to `to[at + 1]`, and so on. */
  estimateAll(token: TokenId, indexes: readonly number[], to: Float64Array, at: number): void
}

/** Reads one number of a token's bars, for example the value of an indicator. */
export interface NumberReader {
  /** Identifies the number. Readers with the same key read the same number. */
  readonly key: string
  readonly load: LoadNumber
  /** Where an estimate of the number is found. Absent if there is none. */
  readonly estimated?: { readonly by: Estimates; readonly index: number }
}

/** Gives access to the numbers that conditions read. */
export interface NumberSource {
  indicator(name: string, field: string): NumberReader
  figure(width: Width, figure: BarFigure): NumberReader
}

/** Results of comparing one number with another; UNKNOWN if a number is NaN. */
const UNKNOWN = 0
const BELOW = 1
const EQUAL = 2
const ABOVE = 3
const RESULTS = [UNKNOWN, BELOW, EQUAL, ABOVE]

/** A change is the result of a comparison at the token's previous bar, times 4, plus the result at its newest bar. A
 *  simple condition is a set of changes, as one bit for each. */
const BITS_A_RESULT = 2

type SimpleKind = 'above' | 'below' | Crossing

/** For each kind of simple condition, whether it is true at a change. */
const IS_TRUE: Readonly<Record<SimpleKind, (before: number, now: number) => boolean>> = {
  above: (_before, now) => now === ABOVE,
  below: (_before, now) => now === BELOW,
  crossesAbove: (before, now) => before !== UNKNOWN && before !== ABOVE && now === ABOVE,
  crossesBelow: (before, now) => before !== UNKNOWN && before !== BELOW && now === BELOW,
  crosses: (before, now) => IS_TRUE.crossesAbove(before, now) || IS_TRUE.crossesBelow(before, now),
}

/** Returns the changes at which a simple condition has a result; at the others, it is unknown. */
function isKnown(kind: SimpleKind, before: number, now: number): boolean {
  return now !== UNKNOWN && (kind === 'above' || kind === 'below' || before !== UNKNOWN)
}

function changesWhere(holds: (before: number, now: number) => boolean): number {
  let bits = 0
  for (const before of RESULTS)
    for (const now of RESULTS) if (holds(before, now)) bits |= 1 << ((before << BITS_A_RESULT) | now)
  return bits
}

/** Whether a change is in a set of changes: 1 or 0. */
function has(changes: number, change: number): number {
  return (changes >>> change) & 1
}

/** Results of a condition. */
const TRUE = 1
const FALSE = 0
const UNTOLD = -1

/** A function that returns the result of a condition, after the comparisons of a bar. */
type Combined = () => number

/** Conditions that are tested together when a bar of one width closes. Conditions of several bots may read the same
 *  number or make the same comparison; this is then done once. The rest of a test takes a few operations on flat
 *  arrays for each condition.
 *
 *  A missing number is NaN, which is neither above nor below nor equal to any number. A comparison for which none of
 *  the three is true is therefore unknown. */
export class ConditionTests<Owner> {
  readonly #owners: Owner[] = []
  readonly #names: string[] = []
  readonly #readers: NumberReader[] = []
  /** Each comparison, as the two readers of its numbers. */
  readonly #pairs: { readonly left: number; readonly right: number }[] = []
  /** The numbers at the bar that is tested; undefined before the first test. */
  #numbers: BarNumbers | undefined
  /** For each comparison: the places of its numbers in `BarNumbers.values`, and the change at the bar that is
   *  tested. */
  #lefts = new Uint32Array(0)
  #rights = new Uint32Array(0)
  #changes = new Uint8Array(0)
  /** For each token, the result of each comparison at its last bar. */
  #last = new Uint8Array(0)
  /** The conditions. For a simple one, its comparison and the changes at which it is true; `#combined` has the
   *  function of another one. */
  readonly #comparisons: number[] = []
  readonly #truths: number[] = []
  readonly #combined: (Combined | undefined)[] = []
  /** The conditions that `test` found to be true, in the order in which they were added. */
  #held = new Uint32Array(0)
  /** Two numbers that are compared exactly. */
  readonly #exact = new Float64Array(2)

  get isEmpty(): boolean {
    return this.#owners.length === 0
  }

  /** Adds a condition. All conditions must be added before the first test. */
  add(owner: Owner, { name, test }: Pick<ConditionPlan, 'name' | 'test'>, source: NumberSource): void {
    if (this.#numbers !== undefined) throw new Error('invariant broken: a condition was added after the first test')
    this.#owners.push(owner)
    this.#names.push(name)
    this.#comparisons.push('of' in test ? 0 : this.#comparisonOf(test, source))
    this.#truths.push('of' in test ? 0 : changesWhere(IS_TRUE[test.kind]))
    this.#combined.push('of' in test ? this.#combine(test, source) : undefined)
  }

  /** Tests all conditions for a token whose bar has closed. Returns the number of those that are true; `ownerOf` and
   *  `nameOf` tell which. */
  test(token: TokenId): number {
    this.#compareAll(token)
    const changes = this.#changes
    const comparisons = this.#comparisons
    const truths = this.#truths
    const held = this.#held
    let count = 0
    for (let index = 0; index < comparisons.length; index++) {
      const combined = this.#combined[index]
      const isTrue =
        combined === undefined
          ? has(truths[index] as number, changes[comparisons[index] as number] as number) === 1
          : combined() === TRUE
      if (isTrue) held[count++] = index
    }
    return count
  }

  /** Returns the bot of a condition that the last `test` found to be true. `index`: from 0 to the result of `test`. */
  ownerOf(index: number): Owner {
    return this.#owners[this.#held[index] as number] as Owner
  }

  nameOf(index: number): string {
    return this.#names[this.#held[index] as number] as string
  }

  forget(token: TokenId): void {
    const comparisons = this.#pairs.length
    this.#last.fill(UNKNOWN, token * comparisons, (token + 1) * comparisons)
  }

  #compareAll(token: TokenId): void {
    const numbers = this.#numbers ?? this.#begin()
    numbers.load(token)
    const { values } = numbers
    const lefts = this.#lefts
    const rights = this.#rights
    const changes = this.#changes
    const first = token * lefts.length
    if (first >= this.#last.length) this.#grow(token)
    const last = this.#last
    for (let index = 0; index < lefts.length; index++) {
      const left = lefts[index] as number
      const right = rights[index] as number
      const one = values[left] as number
      const other = values[right] as number
      const difference = one - other
      const error = (values[left + 1] as number) + (values[right + 1] as number)
      let now = UNKNOWN
      if (difference > error) now = ABOVE
      else if (difference < -error) now = BELOW
      else if (!(Number.isNaN(one) || Number.isNaN(other))) now = this.#compareExactly(token, index)
      changes[index] = ((last[first + index] as number) << BITS_A_RESULT) | now
      last[first + index] = now
    }
  }

  #compareExactly(token: TokenId, index: number): number {
    const exact = this.#exact
    const { left, right } = this.#pairs[index] as { left: number; right: number }
    this.#readers[left]?.load(token, exact, 0)
    this.#readers[right]?.load(token, exact, 1)
    const [one, other] = [exact[0] as number, exact[1] as number]
    return one > other ? ABOVE : one < other ? BELOW : one === other ? EQUAL : UNKNOWN
  }

  /** Prepares the first test: all conditions have been added. */
  #begin(): BarNumbers {
    const numbers = new BarNumbers(this.#readers)
    this.#numbers = numbers
    this.#lefts = Uint32Array.from(this.#pairs, ({ left }) => numbers.placeOf(left))
    this.#rights = Uint32Array.from(this.#pairs, ({ right }) => numbers.placeOf(right))
    this.#changes = new Uint8Array(this.#pairs.length)
    this.#held = new Uint32Array(this.#owners.length)
    return numbers
  }

  #comparisonOf({ left, right }: Exclude<Test, { of: unknown }>, source: NumberSource): number {
    const pair = { left: this.#indexOf(readerOf(left, source)), right: this.#indexOf(readerOf(right, source)) }
    const known = this.#pairs.findIndex((one) => one.left === pair.left && one.right === pair.right)
    return known >= 0 ? known : this.#pairs.push(pair) - 1
  }

  #indexOf(reader: NumberReader): number {
    const known = this.#readers.findIndex(({ key }) => key === reader.key)
    return known >= 0 ? known : this.#readers.push(reader) - 1
  }

  #combine(test: Test, source: NumberSource): Combined {
    if (!('of' in test)) return this.#simple(test, source)
    const parts = test.of.map((part) => this.#combine(part, source))
    if (test.kind === 'not') {
      const [part] = parts as [Combined]
      return () => {
        const one = part()
        return one === UNTOLD ? UNTOLD : TRUE - one
      }
    }
    const decisive = test.kind === 'all' ? FALSE : TRUE
    return () => {
      let result = TRUE - decisive
      for (let index = 0; index < parts.length; index++) {
        const one = (parts[index] as Combined)()
        if (one === decisive) return one
        if (one === UNTOLD) result = one
      }
      return result
    }
  }

  #simple(test: Exclude<Test, { of: unknown }>, source: NumberSource): Combined {
    const comparison = this.#comparisonOf(test, source)
    const truths = changesWhere(IS_TRUE[test.kind])
    const known = changesWhere((before, now) => isKnown(test.kind, before, now))
    return () => {
      const change = this.#changes[comparison] as number
      return has(known, change) === 0 ? UNTOLD : has(truths, change)
    }
  }

  #grow(token: TokenId): void {
    const grown = new Uint8Array(Math.max(1024, 2 ** Math.ceil(Math.log2(token + 1))) * this.#lefts.length)
    grown.set(this.#last)
    this.#last = grown
  }
}

/** Numbers that are estimated together, and the place of the first of them. */
interface Estimated {
  readonly by: Estimates
  readonly indexes: readonly number[]
  readonly at: number
}

/** The numbers that the conditions read, at the bar of one token. */
class BarNumbers {
  /** Two places for each number: an estimate of the number, and the largest error of the estimate; 0 if the number is
   *  exact. */
  readonly values: Float64Array
  /** For each reader, the place of its number in `values`. */
  readonly #places: number[] = []
  readonly #estimates: Estimated[] = []
  readonly #loads: { readonly load: LoadNumber; readonly at: number }[] = []

  constructor(readers: readonly NumberReader[]) {
    let size = 0
    for (const [by, group] of Map.groupBy(readers.entries(), ([, { estimated }]) => estimated?.by)) {
      const indexes = group.map(([, { estimated }]) => estimated?.index ?? 0)
      if (by !== undefined) this.#estimates.push({ by, indexes, at: size })
      for (const [reader, { load }] of group) {
        if (by === undefined) this.#loads.push({ load, at: size })
        this.#places[reader] = size
        size += 2
      }
    }
    this.values = new Float64Array(size)
  }

  placeOf(reader: number): number {
    return this.#places[reader] as number
  }

  load(token: TokenId): void {
    const { values } = this
    const estimates = this.#estimates
    for (let index = 0; index < estimates.length; index++) {
      const { by, indexes, at } = estimates[index] as Estimated
      by.estimateAll(token, indexes, values, at)
    }
    const loads = this.#loads
    for (let index = 0; index < loads.length; index++) {
      const { load, at } = loads[index] as { load: LoadNumber; at: number }
      load(token, values, at)
    }
  }
}

function readerOf(term: Term, source: NumberSource): NumberReader {
  if (term.kind === 'number') return { key: `${term.value}`, load: constant(term.value) }
  if (term.kind === 'indicator') return source.indicator(term.name, term.field)
  if (term.kind === 'figure') return source.figure(term.width, term.figure)
  const [left, right] = [readerOf(term.left, source), readerOf(term.right, source)]
  return { key: `${term.kind}(${left.key}, ${right.key})`, load: arithmetic(term.kind, left.load, right.load) }
}

function constant(value: number): LoadNumber {
  return (_token, to, at) => {
    to[at] = value
  }
}

function arithmetic(kind: Arithmetic, left: LoadNumber, right: LoadNumber): LoadNumber {
  const numbers = new Float64Array(2)
  return (token, to, at) => {
    right(token, numbers, 1)
    const b = numbers[1] as number
    if (kind === 'over' && b === 0) {
      to[at] = Number.NaN
      return
    }
    left(token, numbers, 0)
    to[at] = computed(kind, numbers[0] as number, b)
  }
}

function computed(kind: Arithmetic, a: number, b: number): number {
  if (kind === 'plus') return a + b
  if (kind === 'minus') return a - b
  return kind === 'times' ? a * b : a / b
}
