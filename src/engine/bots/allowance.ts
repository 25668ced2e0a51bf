import type { Millis } from '../../base/units.ts'

const AT_ONCE = 10_000
const PER_SECOND = 500

/** Rate limit of a bot's requests: a burst of 10,000, and then 500 a second. The limit exists because each request is
 *  written to the journal and may delay other bots. The limit uses the engine's time, so that a replay refuses the same
 *  requests. */
export class Allowance {
  readonly #atOnce: number
  readonly #perSecond: number
  #left: number
  #at: Millis = 0

  constructor(atOnce = AT_ONCE, perSecond = PER_SECOND) {
    this.#atOnce = atOnce
    this.#perSecond = perSecond
    this.#left = atOnce
  }

  /** Throws RangeError if the limit is exceeded. */
  take(now: Millis, cost = 1): void {
    if (!this.takeIfLeft(now, cost))
      throw new RangeError(
        `the bot exceeds its limit of ${this.#atOnce} requests in a burst and ${this.#perSecond} a second after it`,
      )
  }

  /** Returns false, and charges nothing, if the limit is exceeded. */
  takeIfLeft(now: Millis, cost: number): boolean {
    if (now > this.#at) {
      this.#left = Math.min(this.#atOnce, this.#left + ((now - this.#at) * this.#perSecond) / 1000)
      this.#at = now
    }
    if (this.#left < cost) return false
    this.#left -= cost
    return true
  }
}
