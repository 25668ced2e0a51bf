import type { Millis } from './units.ts'

const AT_ONCE = 10_000
const PER_SECOND = 500

/** How much a bot may ask for: each request crosses into the journal and may cost every other bot time. 10,000 at once, and 500 a second
 *  on end. By the engine's time, so that a replay agrees. */
export class Allowance {
  #left = AT_ONCE
  #at: Millis = 0

  /** Throws RangeError where there is none left. */
  take(now: Millis, cost = 1): void {
    if (now > this.#at) {
      this.#left = Math.min(AT_ONCE, this.#left + ((now - this.#at) * PER_SECOND) / 1000)
      this.#at = now
    }
    if (this.#left < cost)
      throw new RangeError(
        `a bot may ask for ${AT_ONCE} things at once and ${PER_SECOND} a second; this one asks for more`,
      )
    this.#left -= cost
  }
}
