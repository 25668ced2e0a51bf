import type { Millis } from '../base/units.ts'

const WINDOW_MS = 10_000

/** Rate at which the timers of a bot fired lately, for an alarm. */
export class FiringRate {
  #since: Millis = 0
  #count = 0
  #before = { since: 0, count: 0 }

  add(now: Millis): void {
    if (now - this.#since >= WINDOW_MS) {
      const isNext = now - this.#since < 2 * WINDOW_MS
      this.#before = isNext ? { since: this.#since, count: this.#count } : { since: now, count: 0 }
      this.#since = now
      this.#count = 0
    }
    this.#count++
  }

  /** `2,004 times within 1.3 s`. */
  text(now: Millis): string {
    const { since, count } = this.#before
    const seconds = Math.max(0.1, (now - (count > 0 ? since : this.#since)) / 1000)
    const [whole, ...thousands] = String(this.#count + count).split(/(?=(?:\d{3})+$)/)
    return `${[whole, ...thousands].join(',')} times within ${seconds.toFixed(1)} s`
  }
}
