import type { Millis } from '../base/units.ts'
import type { TokenId } from './block.ts'

/** Largest number of gaps that are kept. */
const MOST_GAPS = 1_000

interface Gap {
  readonly from: Millis
  readonly to: Millis
  /** The token whose rows were missed; undefined for all tokens. */
  readonly token: TokenId | undefined
}

/** Intervals in which the feed was interrupted, in the order of their ends. */
export class FeedGaps {
  #gaps: Gap[] = []
  /** Start of the current interruption; Infinity if the feed is not interrupted. Before the first event, the feed
   *  counts as interrupted. */
  #since: Millis = Number.NEGATIVE_INFINITY
  /** End of the last interruption; Infinity during an interruption. After this time, no rows are missing. */
  lastEnd: Millis = Number.POSITIVE_INFINITY

  /** Whether the feed is interrupted now. */
  get isOpen(): boolean {
    return this.#since < Number.POSITIVE_INFINITY
  }

  /** Begins an interruption, unless one has begun. */
  begin(at: Millis): void {
    this.#since = Math.min(this.#since, at)
    this.lastEnd = Number.POSITIVE_INFINITY
  }

  /** Ends the interruption, if there is one. */
  end(at: Millis): void {
    if (this.isOpen) this.add(this.#since, at)
  }

  /** Records an interruption that has ended, of all tokens or of one token. An interruption of all tokens also ends the
   *  current interruption, if there is one. */
  add(from: Millis, to: Millis, token?: TokenId): void {
    const isEnd = token === undefined && this.#since <= to
    this.#gaps.push({ from: isEnd ? Math.min(from, this.#since) : from, to, token })
    if (isEnd) this.#since = Number.POSITIVE_INFINITY
    if (!this.isOpen) this.lastEnd = Math.max(...this.#gaps.map((gap) => gap.to))
    if (this.#gaps.length > MOST_GAPS) this.#gaps = this.#gaps.slice(-MOST_GAPS / 2)
  }

  /** Whether rows of the token may be missing between `from` and `to`. */
  covers(token: TokenId, from: Millis, to: Millis): boolean {
    if (this.#since < to) return true
    for (let index = this.#gaps.length - 1; index >= 0; index--) {
      const gap = this.#gaps[index] as Gap
      if (gap.to <= from) return false
      if (gap.from < to && (gap.token === undefined || gap.token === token)) return true
    }
    return false
  }
}
