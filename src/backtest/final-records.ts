import type { Millis, Seq } from '../base/units.ts'
import type { Input, Output } from '../engine/messages.ts'
import { type Attempt, isUndecided } from '../orders/attempt.ts'
import type { Journal, JournalRecord } from '../orders/ports.ts'

/** Passes the records of a simulated run on to a journal, but leaves out states that a later record replaces. Only a
 *  restart after a crash would read these states, and a simulated run is never restarted. An attempt is written once
 *  its outcome is decided. A report and a fill are written in the form in which the engine received them. */
export class FinalRecords implements Journal {
  readonly #journal: Journal
  readonly #attempts = new Map<string, Attempt>()
  readonly #reports = new Map<number, JournalRecord>()
  /** Fills on the simulated chain whose report the engine has not received yet, by signature. */
  readonly #fills = new Map<string, JournalRecord>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  rows(...args: Parameters<Journal['rows']>): void {
    this.#journal.rows(...args)
  }

  commit(then: () => void): void {
    this.#journal.commit(then)
  }

  output(seq: Seq, time: Millis, index: number, output: Output): void {
    this.#journal.output(seq, time, index, output)
  }

  input(seq: Seq, time: Millis, input: Input): void {
    if (input.kind === 'report') {
      const { attemptId, fill, feeLamports } = input.report
      this.#reports.delete(input.id)
      if (fill !== undefined) this.#fills.delete(fill.signature)
      // The journal books the fee of an attempt from the attempt's row, so this row must be written first.
      if (feeLamports !== undefined) this.#writeAttempt(attemptId)
    }
    this.#journal.input(seq, time, input)
  }

  write(record: JournalRecord): void {
    if (record.kind === 'report') this.#reports.set(record.id, record)
    else if (record.kind === 'fill') this.#fills.set(record.fill.signature, record)
    else if (record.kind !== 'attempt') this.#journal.write(record)
    else {
      this.#attempts.set(record.attempt.id, record.attempt)
      if (!isUndecided(record.attempt.state)) this.#writeAttempt(record.attempt.id)
    }
  }

  /** Writes, at the end of the run, the last states that were left out before. */
  end(): void {
    for (const id of [...this.#attempts.keys()]) this.#writeAttempt(id)
    for (const record of [...this.#fills.values(), ...this.#reports.values()]) this.#journal.write(record)
  }

  #writeAttempt(id: string): void {
    const attempt = this.#attempts.get(id)
    if (attempt === undefined) return
    this.#attempts.delete(id)
    this.#journal.write({ kind: 'attempt', attempt })
  }
}
