import type { Width } from '../../market/bar-width.ts'
import type { TokenId } from '../../market/block.ts'
import type { BarFigure } from '../indicators/indicator.ts'
import type { Arithmetic, Crossing, Term, Test } from './condition.ts'

/** A function that writes a number of a token to `to[at]`; NaN if the token has no such number yet. If the function
 *  returned the number, V8 would allocate memory for it. */
export type LoadNumber = (token: TokenId, to: Float64Array, at: number) => void

/** A function that returns the result of a condition for a token: `TRUE`, `FALSE` or `UNTOLD` (not known yet). */
export type RunTest = (token: TokenId) => number

export const TRUE = 1
const FALSE = 0
const UNTOLD = -1

/** Reads one number of a token's bars, for example the value of an indicator. */
export interface NumberReader {
  readonly load: LoadNumber
  /** Writes a fast estimate of the number to `to[at]`, and the largest possible error of this estimate to `to[at +
   *  1]`. */
  readonly estimate?: LoadNumber | undefined
}

/** Gives access to the numbers that conditions read. */
export interface NumberSource {
  indicator(name: string, field: string): NumberReader
  figure(width: Width, figure: BarFigure): NumberReader
}

/** A condition as functions that are created once and called at each bar. A missing number is NaN, which is neither
 *  above nor below nor equal to any number. A comparison for which none of the three is true is therefore unknown, and
 *  the numbers need no check of their own. */
export class TestCode {
  readonly #source: NumberSource
  /** The crossings that are part of the condition. Each crossing compares its two operands at every bar, even if
   *  another part of the condition has already decided the result. */
  readonly crossings: CrossingCode[] = []
  readonly run: RunTest

  constructor(test: Test, source: NumberSource) {
    this.#source = source
    this.run = this.#test(test)
  }

  #test(test: Test): RunTest {
    if ('of' in test)
      return combined(
        test.kind,
        test.of.map((part) => this.#test(part)),
      )
    const left = this.#number(test.left)
    const right = this.#number(test.right)
    if (test.kind === 'above') return isAbove(comparisonOf(left, right))
    if (test.kind === 'below') return isAbove(comparisonOf(right, left))
    const crossing = new CrossingCode(test.kind, comparisonOf(left, right))
    this.crossings.push(crossing)
    return () => crossing.result
  }

  #number(term: Term): NumberReader {
    if (term.kind === 'number') return { load: constant(term.value) }
    if (term.kind === 'indicator') return this.#source.indicator(term.name, term.field)
    if (term.kind === 'figure') return this.#source.figure(term.width, term.figure)
    return { load: arithmetic(term.kind, this.#number(term.left).load, this.#number(term.right).load) }
  }
}

function combined(kind: 'all' | 'any' | 'not', parts: readonly RunTest[]): RunTest {
  if (kind === 'not') {
    const [part] = parts as [RunTest]
    return (token) => {
      const one = part(token)
      return one === UNTOLD ? UNTOLD : TRUE - one
    }
  }
  const decisive = kind === 'all' ? FALSE : TRUE
  return (token) => {
    let result = TRUE - decisive
    for (let index = 0; index < parts.length; index++) {
      const one = (parts[index] as RunTest)(token)
      if (one === decisive) return one
      if (one === UNTOLD) result = one
    }
    return result
  }
}

/** Results of comparing one number with another; UNKNOWN if a number is NaN. */
const UNKNOWN = 0
const BELOW = 1
const EQUAL = 2
const ABOVE = 3

/** Returns a function that compares two numbers of a token. */
function comparisonOf(left: NumberReader, right: NumberReader): (token: TokenId) => number {
  const numbers = new Float64Array(4)
  const exact = (token: TokenId): number => {
    left.load(token, numbers, 0)
    right.load(token, numbers, 1)
    return compared(numbers[0] as number, numbers[1] as number)
  }
  if (left.estimate === undefined && right.estimate === undefined) return exact
  const one = left.estimate ?? exactEstimate(left)
  const other = right.estimate ?? exactEstimate(right)
  return (token) => {
    one(token, numbers, 0)
    other(token, numbers, 2)
    const difference = (numbers[0] as number) - (numbers[2] as number)
    const slack = (numbers[1] as number) + (numbers[3] as number)
    return difference > slack ? ABOVE : difference < -slack ? BELOW : exact(token)
  }
}

function compared(a: number, b: number): number {
  return a > b ? ABOVE : a < b ? BELOW : a === b ? EQUAL : UNKNOWN
}

function exactEstimate({ load }: NumberReader): LoadNumber {
  return (token, to, at) => {
    load(token, to, at)
    to[at + 1] = 0
  }
}

function constant(value: number): LoadNumber {
  return (_token, to, at) => {
    to[at] = value
  }
}

function isAbove(compare: (token: TokenId) => number): RunTest {
  return (token) => {
    const now = compare(token)
    return now === UNKNOWN ? UNTOLD : now === ABOVE ? TRUE : FALSE
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

/** Decides whether one number crosses another. Keeps one byte for each token. */
export class CrossingCode {
  readonly #kind: Crossing
  readonly #compare: (token: TokenId) => number
  /** For each token: how the two numbers compared at its last bar (UNKNOWN, BELOW, EQUAL or ABOVE). */
  #last = new Uint8Array(0)
  /** Result of the last `advance`. */
  result = UNTOLD

  constructor(kind: Crossing, compare: (token: TokenId) => number) {
    this.#kind = kind
    this.#compare = compare
  }

  /** Compares the two numbers at the token's new bar, and sets `result`. */
  advance(token: TokenId): void {
    if (token >= this.#last.length) this.#grow(token)
    const now = this.#compare(token)
    const before = this.#last[token] as number
    this.#last[token] = now
    if (now === UNKNOWN || before === UNKNOWN) this.result = UNTOLD
    else {
      const isUp = now === ABOVE && before !== ABOVE && this.#kind !== 'crossesBelow'
      const isDown = now === BELOW && before !== BELOW && this.#kind !== 'crossesAbove'
      this.result = isUp || isDown ? TRUE : FALSE
    }
  }

  forget(token: TokenId): void {
    if (token < this.#last.length) this.#last[token] = UNKNOWN
  }

  #grow(token: TokenId): void {
    const grown = new Uint8Array(Math.max(1024, 2 ** Math.ceil(Math.log2(token + 1))))
    grown.set(this.#last)
    this.#last = grown
  }
}
