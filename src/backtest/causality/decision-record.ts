import { encodeJson } from '../../base/json.ts'
import { deriveSeed } from '../../base/random.ts'
import type { Millis, Seq } from '../../base/units.ts'
import { compared } from '../../engine/bots/thrown-value.ts'
import type { Input, Output } from '../../engine/messages.ts'
import type { Journal } from '../../orders/ports.ts'

/** A decision or its outcome. */
export interface Entry {
  readonly seq: Seq
  readonly time: Millis
  /** JSON. */
  readonly text: string
}

/** The first entry that another run does not have. */
export interface Departure {
  readonly index: number
  /** undefined if this run has fewer entries. */
  readonly entry: Entry | undefined
}

/** All decisions and execution reports of a run, in order, as a hash chain: two runs are compared without keeping
 *  their entries. */
export class DecisionRecord implements Journal {
  /** Rows that caused an entry, counted from 1. */
  readonly decidingRows: number[] = []
  readonly #hashes: number[] = []
  /** Rows after which the number of entries had changed, and that number. */
  readonly #passed: { readonly rows: number; readonly length: number }[] = []
  readonly #expected: DecisionRecord | undefined
  readonly #wanted: number
  #inputSeq: Seq = 0
  #isDeciding = false
  #departure: Departure | undefined
  /** The wanted entry, once it has occurred. */
  entry: Entry | undefined

  /** `expected`: the run that this one is compared with. `wanted`: index of an entry to keep. */
  constructor({ expected, wanted = -1 }: { expected?: DecisionRecord; wanted?: number } = {}) {
    this.#expected = expected
    this.#wanted = wanted
  }

  get length(): number {
    return this.#hashes.length
  }

  /** Call it after each row, before any later event. */
  passed(rows: number): void {
    if (this.#isDeciding) this.decidingRows.push(rows)
    this.#isDeciding = false
    if (this.length > (this.#passed.at(-1)?.length ?? 0)) this.#passed.push({ rows, length: this.length })
  }

  /** Number of entries when a number of rows had passed. */
  lengthAt(rows: number): number {
    return this.#passed.findLast((one) => one.rows <= rows)?.length ?? 0
  }

  /** Number of rows that had passed when the entry was complete. */
  rowsAt(index: number): number {
    return this.#passed.find(({ length }) => length > index)?.rows ?? this.#passed.at(-1)?.rows ?? 0
  }

  /** First difference to the expected run among the entries up to a row; without a row, among all. */
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
