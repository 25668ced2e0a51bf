import type { Columns } from './block.ts'

const NEEDED = 3

/** How old an event is: how much later than usual it came. Two clocks and the way differ by an unknown amount, so only
 *  the smallest lag (arrival less the service's timestamp) tells; and the third smallest does, lest one broken
 *  timestamp makes everything else look old. */
export class EventAge {
  /** The smallest lags, ascending; ms. */
  readonly #least = new Array<number>(NEEDED).fill(Number.POSITIVE_INFINITY)
  /** A lag from here on teaches nothing. */
  usualMs = Number.POSITIVE_INFINITY

  /** Takes rows in. */
  fold({ time, stamp }: Pick<Columns, 'time' | 'stamp'>, from: number, to: number): void {
    let { usualMs } = this
    for (let row = from; row < to; row++) {
      const lagMs = (time[row] as number) - (stamp[row] as number)
      if (!(lagMs < usualMs)) continue
      this.learn(lagMs)
      usualMs = this.usualMs
    }
  }

  /** Takes in a lag below `usualMs`. */
  learn(lagMs: number): void {
    if (!Number.isFinite(lagMs)) return
    this.#least.push(lagMs)
    this.#least.sort((one, other) => one - other)
    this.#least.length = NEEDED
    this.usualMs = this.#least[NEEDED - 1] as number
  }

  /** 0 while nothing is usual yet, and for an event without a timestamp. */
  of(lagMs: number): number {
    return lagMs > this.usualMs ? lagMs - this.usualMs : 0
  }
}
