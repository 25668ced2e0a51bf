import type { TokenId } from './block.ts'
import { type ByToken, setByToken } from './by-token.ts'
import type { Session } from './session.ts'
import type { Millis } from './units.ts'

/** What is behind the newest by less only came in another order. */
const OUT_OF_ORDER_MS = 10_000
/** A feed that shows nothing else of a token for longer repeats nothing: what was taken for the newest had a wrong stamp. */
const LONGEST_MS = 30_000

/** Prints of watched tokens that the feed shows anew, as it may after a reconnect: older than what was seen before, and so no price of now.
 *  By the feed's own clock, since ours may be wrong: a feed that falls behind shows everything late, and repeats nothing. */
export class Repeats {
  readonly #session: Session
  /** Of all that was looked at. */
  #newest: Millis = Number.NEGATIVE_INFINITY
  /** Of what came before the start. */
  #warmedTo: Millis = Number.NEGATIVE_INFINITY
  readonly #seen: ByToken<Seen> = []

  constructor(session: Session) {
    this.#session = session
  }

  /** From now on the token is watched: what is older than the row at hand, or than what was seen of others, is of before. */
  watch(token: TokenId): void {
    this.#note()
    setByToken(this.#seen, token, { newest: this.#newest, repeatsSince: Number.POSITIVE_INFINITY })
  }

  forget(token: TokenId): void {
    setByToken(this.#seen, token, undefined)
  }

  /** The row at hand is one of before the start. */
  warm(): void {
    this.#note()
    this.#warmedTo = this.#newest
  }

  /** Whether the row at hand, of a token that is watched, is one. */
  isRepeat(token: TokenId): boolean {
    const at = this.#note()
    const { now } = this.#session
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

  /** The row at hand was seen; when it was stamped. */
  #note(): Millis {
    const at = this.#session.stampedAt()
    if (at > this.#newest) this.#newest = at
    return at
  }
}

interface Seen {
  newest: Millis
  /** Infinity while what comes is new. */
  repeatsSince: Millis
}
