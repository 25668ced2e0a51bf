import type { Millis } from '../../base/units.ts'
import type { TokenId } from '../../market/block.ts'
import { type ByToken, setByToken } from '../../market/mints.ts'
import type { EngineState } from '../engine-state.ts'

/** Out-of-order tolerance: a print that is older than the newest by less than this is not a repeat. */
const OUT_OF_ORDER_MS = 10000
/** After this long with nothing but old prints of a token, the newest timestamp was wrong and the prints are not
 *  repeats. */
const LONGEST_MS = 30000

/** Detects prints of watched tokens that the feed sends again, for example after a reconnect: they are older than
 *  prints seen before, so their price is outdated. Ages are compared by the feed's own clock: ours may be wrong, and a
 *  feed that lags behind sends everything late without repeating anything. */
export class Repeats {
  readonly #state: EngineState
  /** Newest timestamp of all rows looked at. */
  #newest: Millis = Number.NEGATIVE_INFINITY
  /** Newest timestamp of the warm-up. */
  #warmedTo: Millis = Number.NEGATIVE_INFINITY
  readonly #seen: ByToken<Seen> = []

  constructor(state: EngineState) {
    this.#state = state
  }

  /** Begins to watch a token. Prints older than the current row, or than the newest row of any token, are repeats. */
  watch(token: TokenId): void {
    this.#note()
    setByToken(this.#seen, token, { newest: this.#newest, repeatsSince: Number.POSITIVE_INFINITY })
  }

  forget(token: TokenId): void {
    setByToken(this.#seen, token, undefined)
  }

  /** Takes in the current row, which belongs to the warm-up. */
  warm(): void {
    this.#note()
    this.#warmedTo = this.#newest
  }

  /** Whether the current row, of a watched token, is a repeat. */
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

  /** Timestamp of the current row, which updates the newest. */
  #note(): Millis {
    const at = this.#state.stampedAt()
    if (at > this.#newest) this.#newest = at
    return at
  }
}

interface Seen {
  newest: Millis
  /** Time of the first of consecutive repeats; Infinity if the last print was new. */
  repeatsSince: Millis
}
