import { encodeJson } from '../core/json.ts'
import type { Input, Output } from '../core/messages.ts'
import type { Journal } from '../core/ports.ts'
import { deriveSeed } from '../core/random.ts'
import { compared } from '../core/thrown.ts'
import type { Millis, Seq } from '../core/units.ts'

/** Something that was decided, or that became of an order. */
export interface Entry {
  readonly seq: Seq
  readonly time: Millis
  /** As JSON. */
  readonly text: string
}

/** Everything that a run decides and everything that its executors report, in order: of each entry the hash of all up to it, so that two
 *  runs are compared without keeping either. */
export class DecisionRecord implements Journal {
  readonly #hashes: number[] = []
  readonly #wanted: number
  /** The entry that was asked for, once it has come. */
  entry: Entry | undefined

  /** `wanted`: the index of the one entry that is kept. */
  constructor(wanted = -1) {
    this.#wanted = wanted
  }

  /** How many there are by now. */
  get length(): number {
    return this.#hashes.length
  }

  /** The first of `length` entries that are not the same in both; undefined where all are. */
  firstDifference(other: DecisionRecord, length: number): number | undefined {
    const isEqual = (index: number): boolean => this.#hashes[index] === other.#hashes[index]
    if (length === 0 || isEqual(length - 1)) return undefined
    return Array.from({ length }, (_, index) => index).find((index) => !isEqual(index))
  }

  rows(): void {}

  write(): void {}

  commit(then: () => void): void {
    then()
  }

  input(seq: Seq, time: Millis, input: Input): void {
    if (input.kind === 'report') this.#add(seq, time, input.report)
  }

  output(seq: Seq, time: Millis, _index: number, output: Output): void {
    this.#add(seq, time, compared(output))
  }

  #add(seq: Seq, time: Millis, what: unknown): void {
    const text = encodeJson(what)
    const index = this.#hashes.length
    this.#hashes.push(deriveSeed(this.#hashes[index - 1] ?? 0, `${seq} ${time} ${text}`))
    if (index === this.#wanted) this.entry = { seq, time, text }
  }
}
