import type { Millis } from './units.ts'

const AT_ONCE = 10_000
const PER_SECOND = 500

/** What counts as more than one request, by what it writes to the journal and takes from the other bots. */
export const COST = {
  /** A timer that fires: a row of the journal, and a handler that runs. */
  firing: 5,
  /** A position with its exits is written whole. */
  setExits: 5,
  /** A conditional order is written whole. */
  conditional: 4,
} as const

/** So many characters of a state or a note count as one request more. */
export const CHARACTERS_A_REQUEST = 100
/** So many mints that a bot watches make the next `watch` count as one request more: the list goes to the feed whole. */
export const MINTS_A_REQUEST = 100

/** How much a bot may ask for: each request crosses into the journal and may cost every other bot time. 10,000 at once, and 500 a second
 *  on end. By the engine's time, so that a replay agrees. */
export class Allowance {
  #left = AT_ONCE
  #at: Millis = 0

  /** Throws RangeError where there is none left. */
  take(now: Millis, cost = 1): void {
    if (!this.takeIfLeft(now, cost))
      throw new RangeError(
        `a bot may ask for ${AT_ONCE} things at once and ${PER_SECOND} a second; this one asks for more`,
      )
  }

  /** False, and nothing is taken, where there is not enough left. */
  takeIfLeft(now: Millis, cost: number): boolean {
    if (now > this.#at) {
      this.#left = Math.min(AT_ONCE, this.#left + ((now - this.#at) * PER_SECOND) / 1000)
      this.#at = now
    }
    if (this.#left < cost) return false
    this.#left -= cost
    return true
  }
}
