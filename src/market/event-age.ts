import type { Columns } from './block.ts'

const NEEDED = 3

/** Computes the age of an event: its lag (time of arrival minus the service's timestamp) minus the usual lag. The
 *  difference between the clocks and the delay of the network add the same unknown amount to all lags, so the smallest
 *  lags count as usual. The third smallest is used, so that one wrong timestamp cannot make all other events look
 *  old. */
export class EventAge {
  /** The three smallest lags, ascending; ms. */
  readonly #least = new Array<number>(NEEDED).fill(Number.POSITIVE_INFINITY)
  /** The usual lag (the third smallest), ms; Infinity before three lags were learned. A lag that is not below the usual
   *  lag is not learned, because it is not one of the three smallest. */
  usualMs = Number.POSITIVE_INFINITY

  /** Learns the lags of the rows from `from` to `to` (exclusive). */
  fold({ time, stamp }: Pick<Columns, 'time' | 'stamp'>, from: number, to: number): void {
    let { usualMs } = this
    for (let row = from; row < to; row++) {
      const lagMs = (time[row] as number) - (stamp[row] as number)
      if (!(lagMs < usualMs)) continue
      this.learn(lagMs)
      usualMs = this.usualMs
    }
  }

  /** Learns the lag of an event (time of arrival minus the service's timestamp), which must be below `usualMs`. */
  learn(lagMs: number): void {
    if (!Number.isFinite(lagMs)) return
    this.#least.push(lagMs)
    this.#least.sort((one, other) => one - other)
    this.#least.length = NEEDED
    this.usualMs = this.#least[NEEDED - 1] as number
  }

  /** Returns the age of an event with this lag, ms; 0 as long as the usual lag is unknown, and for an event without a
   *  timestamp. */
  of(lagMs: number): number {
    return lagMs > this.usualMs ? lagMs - this.usualMs : 0
  }
}
