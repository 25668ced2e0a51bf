import type { Millis } from '../../base/units.ts'
import { type Bar, silentBar } from '../../market/bar.ts'
import type { Bars } from '../../market/bars.ts'
import type { TokenId } from '../../market/block.ts'
import type { FeedGaps } from '../../market/feed-gaps.ts'

export interface CursorOptions {
  readonly bars: Bars
  readonly gaps: FeedGaps
  /** Whether intervals without a print become bars. */
  readonly isFilled: boolean
  /** Largest number of silent bars in a row. */
  readonly mostSilent: number
}

/** A place in the bars of a token, up to which they were passed on. */
export class BarCursor {
  readonly #options: CursorOptions
  readonly #token: TokenId
  /** Number of the next bar with prints. */
  #number = 0
  /** Begin of the next interval; NaN before the first bar. */
  #openTime: Millis = Number.NaN
  #close = Number.NaN
  /** Number of silent bars since the last bar with prints. */
  #silent = 0

  constructor(options: CursorOptions, token: TokenId) {
    this.#options = options
    this.#token = token
  }

  /** Whether every bar was passed on. */
  get isAtEnd(): boolean {
    const { bars, isFilled } = this.#options
    const count = bars.of(this.#token)?.count ?? 0
    return this.#number === count && (!isFilled || !(this.#openTime < bars.closedTo))
  }

  /** Passes on the bars since the last call. Silent bars before `notBefore` are left out, and so are silent bars from
   *  `until` on, after the last bar with prints. */
  advance(
    take: (bar: Bar) => void,
    notBefore = Number.NEGATIVE_INFINITY,
    until: Millis = this.#options.bars.closedTo,
  ): void {
    const { bars, isFilled } = this.#options
    const history = bars.of(this.#token)
    if (history === undefined) return
    if (this.#number < history.first) {
      this.#number = history.first
      this.#openTime = Number.NaN
    }
    for (; this.#number < history.count; this.#number++) {
      const bar = history.at(this.#number)
      if (isFilled) this.#fill(bar.openTime, notBefore, take)
      take(bar)
      this.#silent = 0
      this.#close = bar.close
      this.#openTime = bar.closeTime
    }
    if (isFilled) this.#fill(until, notBefore, take)
  }

  #fill(until: Millis, notBefore: Millis, take: (bar: Bar) => void): void {
    const { bars, gaps, mostSilent } = this.#options
    const { name, everyMs } = bars.width
    if (!(this.#openTime < until)) return
    let at = Math.max(this.#openTime, notBefore)
    for (; at < until && this.#silent < mostSilent; at += everyMs) {
      take(silentBar(name, this.#close, at, at + everyMs, gaps.covers(this.#token, at, at + everyMs)))
      this.#silent++
    }
    this.#openTime = until
  }
}
