import { encodeJson } from '../../base/json.ts'
import { deriveSeed } from '../../base/random.ts'
import type { Millis, Seq } from '../../base/units.ts'
import { compared } from '../../engine/bots/thrown-value.ts'
import type { Input, Output } from '../../engine/messages.ts'
import type { Journal } from '../../orders/ports.ts'

/** A decision or an execution report of a run. */
export interface Entry {
  readonly seq: Seq
  readonly time: Millis
  /** The decision or report as JSON. */
  readonly text: string
}

/** The first entry in which a run differs from the expected run. */
export interface Departure {
  readonly index: number
  /** The record entry (a decision or a report) of this run; undefined if this run has no entry at `index`, but the
   *  expected run has one. */
  readonly entry: Entry | undefined
}

/** All decisions and execution reports of a run, in order, as a chain of hashes. Two runs can be compared by their
 *  records, without keeping their entries in memory. */
export class DecisionRecord implements Journal {
  /** Numbers of the rows that caused an entry, counted from 1. */
  readonly decidingRows: number[] = []
  readonly #hashes: number[] = []
  /** For each row that added entries: the number of rows of the tape up to and including it, and the length of the
   *  record after it. */
  readonly #passed: { readonly rows: number; readonly length: number }[] = []
  readonly #expected: DecisionRecord | undefined
  readonly #wanted: number
  #inputSeq: Seq = 0
  #isDeciding = false
  #departure: Departure | undefined
  /** The entry with the index `wanted`; undefined until it is reached. */
  entry: Entry | undefined

  /** `expected`: the record of the run that this run is compared with. `wanted`: index of an entry to keep. */
  constructor({ expected, wanted = -1 }: { expected?: DecisionRecord; wanted?: number } = {}) {
    this.#expected = expected
    this.#wanted = wanted
  }

  get length(): number {
    return this.#hashes.length
  }

  /** Called after each row, before any later event. `rows`: number of rows that the run has processed so far. */
  passed(rows: number): void {
    if (this.#isDeciding) this.decidingRows.push(rows)
    this.#isDeciding = false
    if (this.length > (this.#passed.at(-1)?.length ?? 0)) this.#passed.push({ rows, length: this.length })
  }

  /** Length of this record after the first `rows` rows of the tape. */
  lengthAt(rows: number): number {
    return this.#passed.findLast((one) => one.rows <= rows)?.length ?? 0
  }

  /** Number of rows that the run had processed when the entry with this index was in the record. */
  rowsAt(index: number): number {
    return this.#passed.find(({ length }) => length > index)?.rows ?? this.#passed.at(-1)?.rows ?? 0
  }

  /** First difference from the expected run among the entries of the first `rows` rows, or among all entries if `rows`
   *  is not given; undefined if there is no difference. */
  departure(rows?: number): Departure | undefined {
    const [own, other] = [this, this.#expected as DecisionRecord].map((record) =>
      rows === undefined ? record.length : record.lengthAt(rows),
    ) as [number, number]
    const found = this.#departure
    if (found !== undefined && found.index < Math.max(own, other)) return found
    return own < other ? { index: own, entry: undefined } : undefined
  }

  rows(): void {}

  write(): void {}

  commit(then: () => void): void {
    then()
  }

  input(seq: Seq, time: Millis, input: Input): void {
    this.#inputSeq = seq
    if (input.kind === 'report') this.#add(seq, time, input.report)
  }

  output(seq: Seq, time: Millis, _index: number, output: Output): void {
    if (seq !== this.#inputSeq) this.#isDeciding = true
    this.#add(seq, time, compared(output))
  }

  #add(seq: Seq, time: Millis, what: unknown): void {
    const text = encodeJson(what)
    const index = this.#hashes.length
    const hash = deriveSeed(this.#hashes[index - 1] ?? 0, `${seq} ${time} ${text}`)
    this.#hashes.push(hash)
    if (index === this.#wanted) this.entry = { seq, time, text }
    if (this.#expected === undefined || this.#departure !== undefined || this.#expected.#hashes[index] === hash) return
    this.#departure = { index, entry: { seq, time, text } }
  }
}
