import type { Random } from '../core/random.ts'

const START_MS = 1_000
/** The longest wait, and the wait after CONNECTION_LIMIT. */
export const LONGEST_REDIAL_MS = 30_000
/** Seconds of being live after which the next loss counts as the first. */
const FORGIVEN_AFTER = 60

/** When to dial again: uniform between the document's start of 1,000 ms and its doubling cap, so that clients that a restart of the server
 *  has thrown out together do not come back together. */
export class Redial {
  readonly #random: Random
  #losses = 0
  #liveSeconds = 0

  constructor(random: Random) {
    this.#random = random
  }

  /** A connection was lost or never came; the wait in ms. */
  next(): number {
    const cap = Math.min(LONGEST_REDIAL_MS, START_MS * 2 ** Math.min(this.#losses, 20))
    this.#losses++
    this.#liveSeconds = 0
    return START_MS + this.#random.next() * (cap - START_MS)
  }

  /** Once a second while live; true when that has been long enough for the past to be forgiven. */
  tick(): boolean {
    if (++this.#liveSeconds < FORGIVEN_AFTER) return false
    this.#losses = 0
    return true
  }
}
