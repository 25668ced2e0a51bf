import type { Millis } from '../../base/units.ts'
import type { TokenId } from '../../market/block.ts'
import { type ByToken, setByToken } from '../../market/mints.ts'
import type { EngineState } from '../engine-state.ts'

/** Tolerance for prints that arrive out of order, ms. A print counts as a repeat only if it is older than the newest
 *  timestamp by more than this. */
const OUT_OF_ORDER_MS = 10000
/** Time in ms. If all prints of a token have been older than the newest timestamp for this long, the newest timestamp
 *  was wrong, and the prints are not repeats. */
const LONGEST_MS = 30000

/** Detects prints of watched tokens that the feed sends again, for example after a reconnect. Such prints are older
 *  than prints seen before, so their price is outdated. Ages are compared by the feed's own timestamps, because our
 *  clock may be wrong, and because a slow feed sends everything late without repeating anything. */
export class Repeats {
  readonly #state: EngineState
  /** Newest timestamp of all rows that were examined. */
  #newest: Millis = Number.NEGATIVE_INFINITY
  /** Newest timestamp at the end of the warm-up. */
  #warmedTo: Millis = Number.NEGATIVE_INFINITY
  readonly #seen: ByToken<Seen> = []

  constructor(state: EngineState) {
    this.#state = state
  }

  /** Starts watching a token. A later print of the token is a repeat if its timestamp is more than `OUT_OF_ORDER_MS`
   *  before the newest timestamp of all rows so far. */
  watch(token: TokenId): void {
    this.#note()
    setByToken(this.#seen, token, { newest: this.#newest, repeatsSince: Number.POSITIVE_INFINITY })
  }

  forget(token: TokenId): void {
    setByToken(this.#seen, token, undefined)
  }

  /** Records the timestamp of the current row, which belongs to the warm-up. */
  warm(): void {
    this.#note()
    this.#warmedTo = this.#newest
  }

  /** Whether the current row, a print of a watched token, is a repeat. */
  isRepeat(token: TokenId): boolean {
    const at = this.#note()
    const { now } = this.#state
    const seen = this.#seen[token] as Seen
    const newest = Math.max(seen.newest, this.#warmedTo)
    if (at < newest - OUT_OF_ORDER_MS) {
      seen.repeatsSince = Math.min(seen.repeatsSince, now)
      if (now - seen.repeatsSince < LONGEST_MS) return true
      this.#warmedTo = this.#newest = seen.newest = at
    } else if (at > newest) seen.newest = at
    seen.repeatsSince = Number.POSITIVE_INFINITY
    return false
  }

  /** Returns the timestamp of the current row, and updates the newest timestamp. */
  #note(): Millis {
    const at = this.#state.stampedAt()
    if (at > this.#newest) this.#newest = at
    return at
  }
}

interface Seen {
  newest: Millis
  /** Time of the first repeat (a print that the feed sends again) since the last new print; Infinity if the last print
   *  was new. */
  repeatsSince: Millis
}
