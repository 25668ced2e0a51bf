import type { Width } from '../../market/bar-width.ts'
import type { TokenId } from '../../market/block.ts'
import type { BarFigure } from '../indicators/indicator.ts'
import type { Arithmetic, Term } from './condition.ts'

/** A function that writes a number of a token to `to[at]`; NaN if the token has no such number yet. If the function
 *  returned the number, V8 would allocate memory for it. */
export type LoadNumber = (token: TokenId, to: Float64Array, at: number) => void

/** Estimates several numbers of a token at once, which is faster than reading each of them. */
export interface Estimates {
  /** Writes the lowest and the highest possible value of each of the numbers with these indexes; NaN if the token has
   *  no such number yet. The first two are written to `to[at]` and `to[at + 1]`, and so on. */
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

/** Numbers that are estimated together, and the place of the first of them. */
interface Estimated {
  readonly by: Estimates
  readonly indexes: readonly number[]
  readonly at: number
}

/** The numbers that conditions read, at the bar of one token. Equal numbers are read once. */
export class ConditionNumbers {
  readonly #readers: NumberReader[] = []
  /** For each number, its lowest and its highest possible value; NaN if it is missing. The two values are equal if the
   *  number is exact. */
  ranges = new Float64Array(0)
  /** For each number, its place in `ranges`. */
  readonly #places: number[] = []
  #estimates: readonly Estimated[] = []
  #loads: readonly { readonly load: LoadNumber; readonly at: number }[] = []

  /** Adds a number. Returns its index. */
  add(term: Term, source: NumberSource): number {
    const reader = readerOf(term, source)
    const known = this.#readers.findIndex(({ key }) => key === reader.key)
    return known >= 0 ? known : this.#readers.push(reader) - 1
  }

  /** Prepares the first `load`. All numbers must have been added. */
  begin(): void {
    const estimates: Estimated[] = []
    const loads: { load: LoadNumber; at: number }[] = []
    let size = 0
    for (const [by, group] of Map.groupBy(this.#readers.entries(), ([, { estimated }]) => estimated?.by)) {
      const indexes = group.map(([, { estimated }]) => estimated?.index ?? 0)
      if (by !== undefined) estimates.push({ by, indexes, at: size })
      for (const [number, { load }] of group) {
        if (by === undefined) loads.push({ load, at: size })
        this.#places[number] = size
        size += 2
      }
    }
    this.ranges = new Float64Array(size)
    this.#estimates = estimates
    this.#loads = loads
  }

  /** Returns the place of a number's lowest value in `ranges`; its highest value follows. */
  placeOf(number: number): number {
    return this.#places[number] as number
  }

  /** Writes the ranges of all numbers of a token. */
  load(token: TokenId): void {
    const { ranges } = this
    const estimates = this.#estimates
    for (let index = 0; index < estimates.length; index++) {
      const { by, indexes, at } = estimates[index] as Estimated
      by.estimateAll(token, indexes, ranges, at)
    }
    const loads = this.#loads
    for (let index = 0; index < loads.length; index++) {
      const { load, at } = loads[index] as { load: LoadNumber; at: number }
      load(token, ranges, at)
      ranges[at + 1] = ranges[at] as number
    }
  }

  /** Writes the exact value of a number to `to[at]`. */
  loadExactly(number: number, token: TokenId, to: Float64Array, at: number): void {
    this.#readers[number]?.load(token, to, at)
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
