import type { Input } from '../engine/messages.ts'
import type { Block } from '../market/block.ts'
import type { Log } from '../runtime/log.ts'
import { UnitWitness } from '../runtime/unit-witness.ts'

/** Number of market rows before the first verdict on the unit of the amounts. The number doubles with each verdict. */
const FIRST_ROWS = 500

export interface UnitWatchParts {
  readonly post: (input: Input) => void
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  readonly alert: (text: string) => void
}

/** Stops entries while the rows of the feed show that its amounts are not SOL, and reports the evidence for the unit
 *  once. A unit that is only assumed does not stop entries. */
export class UnitWatch {
  readonly #parts: UnitWatchParts
  #witness: UnitWitness | undefined = new UnitWitness()
  #rows = 0
  #nextAt = FIRST_ROWS
  #stopped = false
  #told = ''

  constructor(parts: UnitWatchParts) {
    this.#parts = parts
  }

  /** Receives all rows of the feed. Once there is enough evidence, further rows are ignored. */
  observe(block: Block, from: number, to: number): void {
    if (this.#witness === undefined) return
    this.#witness.rows(block, from, to)
    this.#rows += to - from
    if (this.#rows < this.#nextAt) return
    this.#nextAt *= 2
    const { unit, text } = this.#witness.verdict()
    if (unit !== this.#told) this.#tell(unit, text)
    if (this.#witness.full && unit === 'sol') this.#witness = undefined
  }

  #tell(unit: 'sol' | 'assumed' | 'other', text: string): void {
    const { post, log, alert } = this.#parts
    this.#told = unit
    if (unit === 'sol') log.info(`the amounts of the feed are in SOL: ${text}`)
    if (unit === 'assumed') log.warn(`the amounts of the feed are assumed to be in SOL: ${text}`)
    if (unit === 'other') {
      const reason = `the amounts of the feed are not in SOL: ${text}`
      log.error(`UNIT_CONTRADICTED: ${reason}`)
      alert(reason)
      post({ kind: 'gate', account: '', open: false, code: 'UNIT_CONTRADICTED', reason })
    } else if (this.#stopped) post({ kind: 'gate', account: '', open: true, code: 'UNIT_CONTRADICTED' })
    this.#stopped = unit === 'other'
  }
}
