import type { Millis } from '../base/units.ts'

/** Equity at a time. `index`: its place among the samples. */
export interface Level {
  readonly index: number
  readonly time: Millis
  readonly lamports: number
}

/** A drawdown from a high to the low after it. */
export interface Drawdown {
  readonly high: Level
  readonly low: Level
}

export function fallOf({ high, low }: Drawdown): number {
  return high.lamports - low.lamports
}

/** Share of the high. */
export function shareOf({ high, low }: Drawdown): number {
  return high.lamports > 0 ? (high.lamports - low.lamports) / high.lamports : 1
}

/** Falls of an equity below its earlier high, from levels in order of time. */
export class Falls {
  #high: Level | undefined
  #deepest: Drawdown | undefined
  #largestShare = 0
  #longestMs: Millis = 0

  take(level: Level): void {
    if (this.#high === undefined || level.lamports >= this.#high.lamports) {
      this.#high = level
      return
    }
    const fall = { high: this.#high, low: level }
    if (this.#deepest === undefined || fallOf(fall) > fallOf(this.#deepest)) this.#deepest = fall
    this.#largestShare = Math.max(this.#largestShare, shareOf(fall))
    this.#longestMs = Math.max(this.#longestMs, level.time - this.#high.time)
  }

  /** The drawdown with the largest loss in lamports; undefined if the equity never fell. */
  get deepest(): Drawdown | undefined {
    return this.#deepest
  }

  /** Largest fall as a share of its high; may belong to another drawdown. */
  get largestShare(): number {
    return this.#largestShare
  }

  /** Longest time below an earlier high; until the last level if the high was not reached again. */
  get longestMs(): Millis {
    return this.#longestMs
  }
}
