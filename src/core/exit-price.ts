import { ROBUST_WINDOW } from './price.ts'
import type { Millis } from './units.ts'

const MOST = 21
/** Older prints say nothing about now, as long as there are enough newer ones: 21 prints of a quiet token are minutes. */
const OLDEST_MS = 60_000
const ENOUGH = ROBUST_WINDOW

/** The price that the exits of one token act on: the median of its last sized prints, of more than the robust price has, because what is
 *  sold on noise is not bought back. Only for tokens that somebody holds. It begins as if the robust price had stood for long. */
export class ExitPrice {
  readonly #prices = new Float64Array(MOST)
  readonly #times = new Float64Array(MOST)
  readonly #sorted = new Float64Array(MOST)
  /** 0: it has not begun. */
  #count = 0

  /** A sized print, once there is a robust price, SOL a token. */
  fold(print: number, robust: number, now: Millis): void {
    if (this.#count === 0) {
      this.#prices.fill(robust)
      this.#times.fill(now)
      this.#count = MOST
    }
    const at = this.#count++ % MOST
    this.#prices[at] = print
    this.#times[at] = now
  }

  /** The median of the last `window` prints, without those too old as long as five are left; `robust` where that is as good. */
  of(window: number, robust: number, now: Millis): number {
    if (window <= ROBUST_WINDOW || this.#count === 0) return robust
    const sorted = this.#sorted
    let taken = 0
    while (taken < window) {
      const at = (this.#count - 1 - taken) % MOST
      if (taken >= ENOUGH && (this.#times[at] as number) < now - OLDEST_MS) break
      const print = this.#prices[at] as number
      let place = taken++
      for (; place > 0 && (sorted[place - 1] as number) > print; place--) sorted[place] = sorted[place - 1] as number
      sorted[place] = print
    }
    // Of an even number the lower one of the middle.
    return sorted[(taken - 1) >> 1] as number
  }

  /** After a gap a price has to be newer than it. */
  forget(): void {
    this.#count = 0
  }
}
