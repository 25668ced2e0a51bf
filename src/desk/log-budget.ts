import type { Millis } from '../base/units.ts'
import { TokenBucket } from './access/token-bucket.ts'
import type { DeskLevel, LogFields } from './messages.ts'

const BUDGET = { burst: 50, perSecond: 5 }

export type WriteLog = (level: DeskLevel, text: string, fields: LogFields) => void

/**
 * Writes at most a few lines per second to the log, because a client could otherwise fill the log and keep the main
 * thread busy. Counts the lines that are dropped.
 */
export class LogBudget {
  readonly #write: WriteLog
  readonly #rate: TokenBucket
  #dropped = 0

  constructor(write: WriteLog, now: () => Millis) {
    this.#write = write
    this.#rate = new TokenBucket(BUDGET, now)
  }

  write(level: DeskLevel, text: string, fields: LogFields): void {
    if (this.#rate.take()) this.#write(level, text, fields)
    else this.#dropped++
  }

  /** Writes one line with the number of lines dropped since the last call. Must be called at regular intervals. */
  flush(): void {
    if (this.#dropped === 0) return
    this.#write('warn', 'desk: some refused requests are not in the log, because there were too many', {
      dropped: this.#dropped,
    })
    this.#dropped = 0
  }
}
