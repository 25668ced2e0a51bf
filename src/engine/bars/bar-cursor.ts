import type { Millis } from '../../base/units.ts'
import { BAR_DOUBLES, CLOSE, CLOSED, OPENED, writeSilentBar } from '../../market/bar.ts'
import type { Bars } from '../../market/bars.ts'
import type { TokenId } from '../../market/block.ts'
import type { FeedGaps } from '../../market/feed-gaps.ts'

export interface CursorOptions {
  readonly bars: Bars
  readonly gaps: FeedGaps
  /** Whether an interval without a print becomes a (silent) bar. */
  readonly isFilled: boolean
  /** Largest number of consecutive silent bars (bars of intervals without a print) that the receiver gets. */
  readonly mostSilent: number
}

/** Receives bars. */
export interface BarTaker {
  /** Called for each bar of a token. The bar's numbers begin at `doubles[at]`. Later bars overwrite this memory. */
  add(token: TokenId, doubles: Float64Array, at: number): void
}

/** Size of a cursor in doubles. The constants below are the offsets of its fields. A cursor of zeros points before the
 *  first bar. */
export const CURSOR_DOUBLES = 4
/** Number of the first bar with prints that was not passed yet. */
const NUMBER = 0
/** Start of the first interval that was not passed yet. */
const OPEN_TIME = 1
/** Close of the last bar with prints; 0 before the first. */
const LAST_CLOSE = 2
/** Number of silent bars since the last bar with prints. */
const SILENT = 3

const silentBar = new Float64Array(BAR_DOUBLES)

/** Passes the bars of tokens to a receiver. A cursor for each token records which bar was passed last. The caller owns
 *  the array that contains the cursor. */
export class BarPasser {
  readonly #options: CursorOptions

  constructor(options: CursorOptions) {
    this.#options = options
  }

  /** Whether the taker has received all bars of the token, not counting silent bars. */
  hasAll(token: TokenId, cursors: Float64Array, at: number): boolean {
    return cursors[at + NUMBER] === this.#options.bars.closed.countOf(token)
  }

  /** Whether the taker has received every bar of the token, including silent bars. */
  isAtEnd(token: TokenId, cursors: Float64Array, at: number): boolean {
    const { bars, isFilled } = this.#options
    if (!this.hasAll(token, cursors, at)) return false
    return !isFilled || cursors[at + LAST_CLOSE] === 0 || !((cursors[at + OPEN_TIME] as number) < bars.closedTo)
  }

  /** Passes to `taker` the bars that closed since the last call. Leaves out silent bars before `notBefore`. After the
   *  last bar with prints, passes silent bars only up to `until`. */
  pass(
    token: TokenId,
    cursors: Float64Array,
    at: number,
    taker: BarTaker,
    notBefore = Number.NEGATIVE_INFINITY,
    until: Millis = this.#options.bars.closedTo,
  ): void {
    const { bars, isFilled } = this.#options
    const { closed } = bars
    const count = closed.countOf(token)
    if (count === 0) return
    const first = closed.firstOf(token)
    if ((cursors[at + NUMBER] as number) < first) {
      cursors[at + NUMBER] = first
      cursors[at + LAST_CLOSE] = 0
    }
    let place = closed.placeOf(token, cursors[at + NUMBER] as number)
    for (let number = cursors[at + NUMBER] as number; number < count; number++) {
      const memory = closed.memoryAt(place)
      const offset = closed.offsetOf(place)
      if (isFilled) this.fillBefore(token, cursors, at, taker, memory, offset, notBefore)
      taker.add(token, memory, offset)
      cursors[at + NUMBER] = number + 1
      place = closed.placeAfter(place)
    }
    if (isFilled) this.#fill(token, cursors, at, until, notBefore, taker)
  }

  /** Must be called before the caller passes a bar that is about to close. Moves the cursor behind this bar. Does
   *  nothing and returns false if an earlier bar with prints was not passed, or if the bar is the first of its token
   *  and `isEager` is false. If silent bars are filled, `fillBefore` must be called next. */
  skip(token: TokenId, cursors: Float64Array, at: number, isEager: boolean): boolean {
    const number = cursors[at + NUMBER] as number
    if ((number === 0 && !isEager) || number !== this.#options.bars.closed.countOf(token)) return false
    cursors[at + NUMBER] = number + 1
    return true
  }

  /** Passes the silent bars before a bar, whose numbers begin at `doubles[place]`. Leaves out those before
   *  `notBefore`. */
  fillBefore(
    token: TokenId,
    cursors: Float64Array,
    at: number,
    taker: BarTaker,
    doubles: Float64Array,
    place: number,
    notBefore = Number.NEGATIVE_INFINITY,
  ): void {
    this.#fill(token, cursors, at, doubles[place + OPENED] as number, notBefore, taker)
    cursors[at + SILENT] = 0
    cursors[at + LAST_CLOSE] = doubles[place + CLOSE] as number
    cursors[at + OPEN_TIME] = doubles[place + CLOSED] as number
  }

  #fill(token: TokenId, cursors: Float64Array, at: number, until: Millis, notBefore: Millis, taker: BarTaker): void {
    const { bars, gaps, mostSilent } = this.#options
    const { everyMs } = bars.width
    const openTime = cursors[at + OPEN_TIME] as number
    const close = cursors[at + LAST_CLOSE] as number
    if (close === 0 || !(openTime < until)) return
    let silent = cursors[at + SILENT] as number
    for (let from = Math.max(openTime, notBefore); from < until && silent < mostSilent; from += everyMs) {
      writeSilentBar(silentBar, close, from, from + everyMs, gaps.covers(token, from, from + everyMs))
      taker.add(token, silentBar, 0)
      silent++
    }
    cursors[at + SILENT] = silent
    cursors[at + OPEN_TIME] = until
  }
}
