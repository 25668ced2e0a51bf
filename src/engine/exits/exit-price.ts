import type { Millis } from '../../base/units.ts'
import { ROBUST_WINDOW } from '../../market/price.ts'

/** The widest window. */
const MOST = 21
/** Of the last prints, one more than the widest window at least: a power of 2. */
const RING = 32
/** Older prints say nothing about now, as long as there are enough newer ones: 21 prints of a quiet token are
 *  minutes. */
const OLDEST_MS = 60_000
const ENOUGH = ROBUST_WINDOW
/** Copied for each token that somebody holds: plain arrays of doubles, because typed ones are costly to make. */
const EMPTY: readonly number[] = Array.from({ length: RING }, () => 0.5)

/** The price that the exits of one token act on: the median of its last sized prints, of more than the robust price
 *  has, because what is sold on noise is not bought back. Only for tokens that somebody holds. It begins as if the
 *  robust price had stood for long. */
export class ExitPrice {
  #prices: number[] = EMPTY as number[]
  #times: number[] = EMPTY as number[]
  /** 0: it has not begun. */
  #count = 0
  /** The newest `#taken` of the first `#sortedCount` prints in ascending order: those of the window that are not too
   *  old. */
  #sorted: number[] = EMPTY as number[]
  #taken = 0
  #sortedCount = 0
  #window = 0
  /** From so many prints on the robust price knows no older ones than it. */
  #robustFrom = 0

  /** A sized print, once there is a robust price, SOL a token. */
  fold(print: number, robust: number, now: Millis): void {
    if (this.#count === 0) this.#begin(robust, now)
    const at = this.#count++ % RING
    this.#prices[at] = print
    this.#times[at] = now
  }

  /** The median of the last `window` prints, without those too old as long as five are left; `robust` where that is as
   *  good. */
  of(window: number, robust: number, now: Millis): number {
    const count = this.#count
    if (count === 0 || (window <= ROBUST_WINDOW && count >= this.#robustFrom)) return robust
    if (window === this.#window && count === this.#sortedCount + 1) {
      if (this.#taken === window) this.#remove(count - 1 - window)
      this.#insert(count - 1)
    } else if (window !== this.#window || count !== this.#sortedCount) {
      this.#taken = 0
      for (let print = count - window; print < count; print++) this.#insert(print)
    }
    this.#window = window
    this.#sortedCount = count
    // Time never goes backwards: what is too old stays it.
    while (this.#taken > ENOUGH && (this.#times[(count - this.#taken) % RING] as number) < now - OLDEST_MS)
      this.#remove(count - this.#taken)
    // Of an even number the lower one of the middle.
    return this.#sorted[(this.#taken - 1) >> 1] as number
  }

  /** As if this price, which is none of a print, had stood for long. */
  restart(price: number, now: Millis): void {
    this.#begin(price, now)
    this.#window = 0
    this.#robustFrom = MOST + ROBUST_WINDOW
  }

  /** After a gap a price has to be newer than it. */
  forget(): void {
    this.#count = this.#window = this.#robustFrom = 0
  }

  #begin(robust: number, now: Millis): void {
    this.#prices = EMPTY.slice().fill(robust)
    this.#times = EMPTY.slice().fill(now)
    this.#sorted = EMPTY.slice()
    this.#count = MOST
  }

  #insert(print: number): void {
    const sorted = this.#sorted
    const price = this.#prices[print % RING] as number
    let place = this.#taken++
    for (; place > 0 && (sorted[place - 1] as number) > price; place--) sorted[place] = sorted[place - 1] as number
    sorted[place] = price
  }

  #remove(print: number): void {
    const sorted = this.#sorted
    const price = this.#prices[print % RING] as number
    const last = --this.#taken
    let place = 0
    while (place < last && sorted[place] !== price) place++
    for (; place < last; place++) sorted[place] = sorted[place + 1] as number
  }
}
