import type { Millis } from '../../base/units.ts'
import { ROBUST_WINDOW } from '../../market/price.ts'
import { DEFAULT_EXIT_WINDOW } from './exit-settings.ts'

/** Number of prints in the widest window. */
const MOST = DEFAULT_EXIT_WINDOW
/** Number of stored prints: a power of 2, larger than the widest window. */
const RING = 128
/** A median leaves out prints older than `OLDEST_MS` as long as more than `ENOUGH` prints remain, because 21 prints of
 *  a quiet token may span minutes. The price of the default window may use older prints (`OLDEST_FILTERED_MS`,
 *  `ENOUGH_FILTERED`), because it leaves out prints from before a collapse in any case. */
const OLDEST_MS = 60_000
const ENOUGH = ROBUST_WINDOW
const OLDEST_FILTERED_MS = 600_000
const ENOUGH_FILTERED = 21
/** A print that differs from the robust price by more than this factor is a leg: one hop of a swap that was routed
 *  through other pools. Its price says little about the token. */
const FAR = 2
/** A collapse is proved if at least `PROOF_PRINTS` prints in a row, over at least `PROOF_MS`, are below half of the
 *  price of the exits. */
const PROOF_PRINTS = 3
const PROOF_MS = 2_000
/** Initial list of prices, copied for each held token. It is a plain array, because a typed array is slower to
 *  create. */
const EMPTY: readonly number[] = Array.from({ length: RING }, () => 0.5)

/** Price that the exits of one held token use, computed from its last prints above the minimum size. With
 *  `DEFAULT_EXIT_WINDOW`, it is the mean of the middle half of their prices, without the parts of a larger trade (see
 *  `FAR`) and without prints from before a collapse; otherwise it is the median of the window. The window is wider than
 *  that of the robust price, because a sale that noise caused cannot be undone. Before the first print, the window is
 *  filled with the robust price. */
export class ExitPrice {
  /** Prices of the last prints. The price of a leg (see `FAR`) has a negative sign. Legs are not left out, because the
   *  medians include them. */
  #prices: number[] = EMPTY as number[]
  #times: number[] = EMPTY as number[]
  /** Number of prints, including those that filled the first window; 0 before the first print. */
  #count = 0
  /** Number of the first print after the last collapse of the price. */
  #since = 0
  /** Prices of the window's prints, ascending; only the first `#taken` elements are used. `#first`: number of the
   *  oldest print in the list. `#sortedCount`: value of `#count` when the list was last updated. */
  #sorted: number[] = EMPTY as number[]
  #taken = 0
  #first = 0
  #sortedCount = 0
  #window = 0
  /** Value of `#count` from which on the robust price contains only prints that arrived after the last call of
   *  `restart`. */
  #robustFrom = 0

  /** Adds a print above the minimum size, SOL per token. Not called before there is a robust price. */
  fold(print: number, robust: number, now: Millis): void {
    if (this.#count === 0) this.#begin(robust, now)
    const at = this.#count++ % RING
    this.#prices[at] = print > robust * FAR || print * FAR < robust ? -print : print
    this.#times[at] = now
  }

  /** Returns the price for a window of `window` prints. If this window is not wider than that of the robust price,
   *  returns `robust`. */
  of(window: number, robust: number, now: Millis): number {
    const count = this.#count
    if (count === 0 || (window <= ROBUST_WINDOW && count >= this.#robustFrom)) return robust
    if (window === this.#window && count === this.#sortedCount + 1) {
      if (count - this.#first > window) this.#removeFirst()
      this.#insert(count - 1)
    } else if (window !== this.#window || count !== this.#sortedCount) this.#fill(window)
    this.#sortedCount = count
    if (window !== DEFAULT_EXIT_WINDOW) {
      this.#dropOld(ENOUGH, now - OLDEST_MS)
      return this.#median()
    }
    this.#dropOld(ENOUGH_FILTERED, now - OLDEST_FILTERED_MS)
    const price = this.#middle(robust)
    if (Math.abs(this.#prices[(count - 1) % RING] as number) >= price / FAR) return price
    return this.#collapse(price / FAR) ? this.#middle(robust) : price
  }

  /** Replaces all prints of the window by `price`, which does not come from a print. */
  restart(price: number, now: Millis): void {
    this.#begin(price, now)
    this.#window = 0
    this.#robustFrom = MOST + ROBUST_WINDOW
  }

  /** Drops all prints, because a price after a gap must come from newer prints. */
  forget(): void {
    this.#count = this.#window = this.#robustFrom = 0
  }

  #begin(robust: number, now: Millis): void {
    this.#prices = EMPTY.slice().fill(robust)
    this.#times = EMPTY.slice().fill(now)
    this.#sorted = EMPTY.slice()
    this.#count = MOST
    this.#since = 0
  }

  /** Drops prints that are older than `oldest`, as long as more than `enough` prints remain. */
  #dropOld(enough: number, oldest: Millis): void {
    while (this.#taken > enough && (this.#times[this.#first % RING] as number) < oldest) this.#removeFirst()
  }

  /** Returns the median of the window. If the number of prints is even, returns the lower of the two middle prices. */
  #median(): number {
    return this.#sorted[(this.#taken - 1) >> 1] as number
  }

  /** Returns the mean of the window's middle half. The mean moves gradually where a median would jump between two
   *  levels. */
  #middle(robust: number): number {
    const taken = this.#taken
    if (taken === 0) return robust
    const cut = taken >> 2
    let sum = 0
    for (let place = cut; place < taken - cut; place++) sum += this.#sorted[place] as number
    return sum / (taken - 2 * cut)
  }

  /** If the newest prints prove a collapse of the price below `ceiling`, drops all earlier prints and returns true.
   *  Otherwise returns false. */
  #collapse(ceiling: number): boolean {
    const newest = this.#count - 1
    const since = (this.#times[newest % RING] as number) - PROOF_MS
    const oldest = Math.max(this.#since, this.#count - RING)
    let print = newest
    for (; ; print--) {
      if (print < oldest || Math.abs(this.#prices[print % RING] as number) >= ceiling) return false
      if (newest - print + 1 >= PROOF_PRINTS && (this.#times[print % RING] as number) <= since) break
    }
    this.#since = print
    for (; print <= newest; print++) this.#prices[print % RING] = Math.abs(this.#prices[print % RING] as number)
    this.#fill(this.#window)
    return true
  }

  #fill(window: number): void {
    this.#window = window
    this.#taken = 0
    this.#first = Math.max(this.#since, this.#count - window)
    for (let print = this.#first; print < this.#count; print++) this.#insert(print)
  }

  /** Returns the price of a print; negative if the print is a leg (see `FAR`) and the window leaves out legs. */
  #priceOf(print: number): number {
    const price = this.#prices[print % RING] as number
    return this.#window === DEFAULT_EXIT_WINDOW ? price : Math.abs(price)
  }

  #insert(print: number): void {
    const price = this.#priceOf(print)
    if (price < 0) return
    const sorted = this.#sorted
    let place = this.#taken++
    for (; place > 0 && (sorted[place - 1] as number) > price; place--) sorted[place] = sorted[place - 1] as number
    sorted[place] = price
  }

  #removeFirst(): void {
    const price = this.#priceOf(this.#first++)
    if (price < 0) return
    const sorted = this.#sorted
    const last = --this.#taken
    let place = 0
    while (place < last && sorted[place] !== price) place++
    for (; place < last; place++) sorted[place] = sorted[place + 1] as number
  }
}
