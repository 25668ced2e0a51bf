import { BAR_DOUBLES, type Bar, CLOSED, ClosedBar } from './bar.ts'
import type { Width } from './bar-width.ts'

const LEAST_BARS = 4
const MOST_BARS = 32

/** The last closed bars of one token and one width. They are stored in chunks that grow with the number of bars,
 *  because most tokens have few. A bar that was written is not written again: its chunk is dropped as a whole. */
export class BarHistory {
  /** Number of bars so far. It is the number of the next bar. */
  count = 0
  /** Number of the oldest stored bar. */
  first = 0
  readonly #width: Width
  readonly #chunks: Float64Array[] = []
  /** Number of the first bar of the newest chunk, and of the bar behind its end. */
  #newestFrom = 0
  #newestTo = 0

  constructor(width: Width) {
    this.#width = width
  }

  /** Number of the oldest bar that is left once the next bar was added. */
  firstAfterNext(keep: number): number {
    const [oldest] = this.#chunks
    const behind = oldest === undefined ? 0 : this.first + oldest.length / BAR_DOUBLES
    return behind <= this.count + 1 - keep ? behind : this.first
  }

  /** Adds the bar at `from` in `doubles`. Drops bars beyond the last `keep`. */
  add(doubles: Float64Array, from: number, keep: number): void {
    const first = this.firstAfterNext(keep)
    if (first > this.first) {
      this.#chunks.shift()
      this.first = first
    }
    if (this.count === this.#newestTo) this.#grow()
    const chunk = this.#chunks[this.#chunks.length - 1] as Float64Array
    const at = (this.count - this.#newestFrom) * BAR_DOUBLES
    for (let index = 0; index < BAR_DOUBLES; index++) chunk[at + index] = doubles[from + index] as number
    this.count++
  }

  /** Bar by its number, from `first` to `count` (exclusive). */
  at(number: number): Bar {
    let from = this.#newestFrom
    let index = this.#chunks.length - 1
    while (number < from) {
      index--
      from -= (this.#chunks[index] as Float64Array).length / BAR_DOUBLES
    }
    return new ClosedBar(this.#width, this.#chunks[index] as Float64Array, (number - from) * BAR_DOUBLES)
  }

  /** End of the newest bar; -Infinity without bars. */
  get closedAt(): number {
    const chunk = this.#chunks[this.#chunks.length - 1]
    if (chunk === undefined) return Number.NEGATIVE_INFINITY
    return chunk[(this.count - 1 - this.#newestFrom) * BAR_DOUBLES + CLOSED] as number
  }

  #grow(): void {
    const bars = Math.min(MOST_BARS, Math.max(LEAST_BARS, this.count))
    this.#chunks.push(new Float64Array(bars * BAR_DOUBLES))
    this.#newestFrom = this.count
    this.#newestTo = this.count + bars
  }
}
