import type { Refusal } from '../base/errors.ts'
import { type Millis, wholeTokens } from '../base/units.ts'
import { robustPrice } from './price.ts'

const KEPT = 3
/** Maximum age of a reading whose price is still used, ms. */
const OLDEST_MS = 600_000
/** If no reading has a higher Solana slot for this long (ms), the highest slot was wrong, for example because of a
 *  faulty node. */
const WRONG_SLOT_MS = 60_000

/** Price of a token, computed from readings of its pool while the feed is silent. It is the median of three values. The
 *  feed's last price fills two of them until readings replace it. So a single reading, which a trade within one Solana
 *  slot may distort, causes no sale. */
export class PoolPrice {
  readonly #last = new Float64Array(KEPT)
  #count = 0
  #slot = -1
  #readAt: Millis = Number.NEGATIVE_INFINITY

  /** `known`: the last price of the feed, NaN if there was none. Without it, the median needs three readings. */
  constructor(known: number) {
    if (Number.isNaN(known)) return
    this.#last.fill(known, 0, KEPT - 1)
    this.#count = KEPT - 1
  }

  /** Adds a reading; returns false if it is not newer than the previous one. */
  take(price: number, slot: number, now: Millis): boolean {
    if (slot === this.#slot || (slot < this.#slot && now - this.#readAt <= WRONG_SLOT_MS)) return false
    this.#readAt = now
    this.#slot = slot
    this.#last[this.#count++ % KEPT] = price
    return true
  }

  /** Returns the median; undefined if the last reading is too old, or if there are too few readings. */
  at(now: Millis): number | undefined {
    return now - this.#readAt > OLDEST_MS ? undefined : this.middle
  }

  get middle(): number | undefined {
    return robustPrice(this.#last, Math.min(this.#count, KEPT))
  }
}

/** Reserves of a mint's pool at one Solana slot, including virtual reserves. */
export interface PoolReading {
  readonly slot: number
  /** Time of this slot, by the chain's clock. */
  readonly time: Millis
  readonly lamports: bigint
  /** Token reserve in base units. */
  readonly tokens: bigint
  readonly decimals: number
}

/** Answer to a request for a reading of a pool. */
export type PoolAnswer = PoolReading | Refusal

/** Price of a pool, SOL per token, without fees. */
export function poolPrice({ lamports, tokens, decimals }: PoolReading): number {
  return Number(lamports) / 1e9 / wholeTokens(tokens, decimals)
}
