import type { Cancel, Clock } from '../../base/machine.ts'
import type { Millis } from '../../base/units.ts'
import type { NetResult } from '../../orders/ports.ts'

/** Time between two records. A position is often open for a few minutes only. */
const EVERY_MS = 60_000

export interface ResultRecordParts {
  readonly clock: Clock
  /** Reads the present results of the bots. */
  readonly read: (time: Millis) => readonly NetResult[]
  readonly write: (result: NetResult) => void
  /** Called if the results cannot be read. Trading goes on, and the next minute is tried again. */
  readonly failed: (error: unknown) => void
}

/** Records the results of running bots once a minute, open positions included, so that the desk can show them over
 *  time. A result that equals the last recorded result of its bot is not recorded again. */
export class ResultRecord {
  readonly #parts: ResultRecordParts
  /** The last recorded result of each bot, by account and bot. */
  readonly #last = new Map<string, number>()
  #cancel: Cancel = () => {}

  constructor(parts: ResultRecordParts) {
    this.#parts = parts
    this.#schedule()
  }

  close(): void {
    this.#cancel()
  }

  #schedule(): void {
    this.#cancel = this.#parts.clock.after(EVERY_MS, () => this.#schedule())
    try {
      this.#record()
    } catch (error) {
      this.#parts.failed(error)
    }
  }

  #record(): void {
    const { clock, read, write } = this.#parts
    for (const result of read(clock.now())) {
      const key = `${result.account} ${result.bot}`
      if (this.#last.get(key) === result.netLamports) continue
      this.#last.set(key, result.netLamports)
      write(result)
    }
  }
}
