import type { Millis } from '../../base/units.ts'
import { ROBUST_WINDOW } from '../../market/price.ts'

/** Widest window. */
const MOST = 21
/** Number of stored prints: a power of 2, larger than the widest window. */
const RING = 32
/** Older prints are left out while enough newer ones remain: 21 prints of a quiet token span minutes. */
const OLDEST_MS = 60_000
const ENOUGH = ROBUST_WINDOW
/** Copied for each held token. A plain array of doubles: a typed array is slower to create. */
const EMPTY: readonly number[] = Array.from({ length: RING }, () => 0.5)

/** Price of the exits of one held token: the median of its last sized prints. Its window is wider than that of the
 *  robust price, because a sale on noise cannot be undone. The window starts filled with the robust price. */
export class ExitPrice {
  #prices: number[] = EMPTY as number[]
  #times: number[] = EMPTY as number[]
  /** Number of prints; 0 before the first. */
  #count = 0
  /** The newest `#taken` of the first `#sortedCount` prints, ascending: those of the window that are not too old. */
  #sorted: number[] = EMPTY as number[]
  #taken = 0
  #sortedCount = 0
  #window = 0
  /** From this count on, the robust price contains no prints from before the last restart. */
  #robustFrom = 0

  /** Takes in a sized print, SOL per token, once there is a robust price. */
  fold(print: number, robust: number, now: Millis): void {
    if (this.#count === 0) this.#begin(robust, now)
    const at = this.#count++ % RING
    this.#prices[at] = print
    this.#times[at] = now
  }

  /** Median of the last `window` prints. Old prints are left out while at least five remain. Returns `robust` for a
   *  window that is no wider. */
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
    // Time never goes backwards, so an old print stays old.
    while (this.#taken > ENOUGH && (this.#times[(count - this.#taken) % RING] as number) < now - OLDEST_MS)
      this.#remove(count - this.#taken)
    // The lower of the two middle prints if their number is even.
    return this.#sorted[(this.#taken - 1) >> 1] as number
  }

  /** Fills the window with a price that does not come from a print. */
  restart(price: number, now: Millis): void {
    this.#begin(price, now)
    this.#window = 0
    this.#robustFrom = MOST + ROBUST_WINDOW
  }

  /** Drops all prints, because after a gap a price must come from newer ones. */
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
