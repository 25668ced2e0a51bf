import type { Millis } from '../base/units.ts'

/** The equity at one time. `index`: number of the sample. */
export interface Level {
  readonly index: number
  readonly time: Millis
  readonly lamports: number
}

/** A drawdown: the fall from a high to the lowest level after it. */
export interface Drawdown {
  readonly high: Level
  readonly low: Level
}

export function fallOf({ high, low }: Drawdown): number {
  return high.lamports - low.lamports
}

/** The drawdown as a share of its high. */
export function shareOf({ high, low }: Drawdown): number {
  return high.lamports > 0 ? (high.lamports - low.lamports) / high.lamports : 1
}

/** Computes the drawdowns of an equity. Levels are added in the order of time. */
export class Drawdowns {
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

  /** Largest fall as a share of its high. This fall may differ from `deepest`, which is the largest in SOL. */
  get largestShare(): number {
    return this.#largestShare
  }

  /** Longest time below an earlier high. If the equity did not reach that high again, the time ends at the last
   *  level. */
  get longestMs(): Millis {
    return this.#longestMs
  }
}
