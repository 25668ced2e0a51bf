import type { Refusal } from '../base/errors.ts'
import { type Millis, wholeTokens } from '../base/units.ts'
import { robustPrice } from './price.ts'

const KEPT = 3
/** What was read longer ago, and not again since, is no price any more. */
const OLDEST_MS = 600_000
/** After so long without a newer slot the newest one was a wrong one, of one answer or of one node. */
const WRONG_SLOT_MS = 60_000

/** The price of a token by what was read of its pool since the feed fell silent: the middle one of three, the last
 *  known price among them until readings have taken its place. So no single reading sells anything, whatever a trade
 *  within one slot or one answer made of it. */
export class PoolPrice {
  readonly #last = new Float64Array(KEPT)
  #count = 0
  #slot = -1
  #readAt: Millis = Number.NEGATIVE_INFINITY

  /** `known`: the price before the silence; NaN where there is none, and then it takes three readings. */
  constructor(known: number) {
    if (Number.isNaN(known)) return
    this.#last.fill(known, 0, KEPT - 1)
    this.#count = KEPT - 1
  }

  /** False where it is not newer than what was read before. */
  take(price: number, slot: number, now: Millis): boolean {
    if (slot === this.#slot || (slot < this.#slot && now - this.#readAt <= WRONG_SLOT_MS)) return false
    this.#readAt = now
    this.#slot = slot
    this.#last[this.#count++ % KEPT] = price
    return true
  }

  /** The middle one, unless nobody could read it for long. */
  at(now: Millis): number | undefined {
    return now - this.#readAt > OLDEST_MS ? undefined : this.middle
  }

  get middle(): number | undefined {
    return robustPrice(this.#last, Math.min(this.#count, KEPT))
  }
}

/** Both sides of a mint's pool as the chain had them at one slot: what its price is made of, virtual reserves
 *  included. */
export interface PoolReading {
  readonly slot: number
  /** Of that slot, by the chain's own clock. */
  readonly time: Millis
  readonly lamports: bigint
  /** Base units. */
  readonly tokens: bigint
  readonly decimals: number
}

/** What came of asking for it. */
export type PoolAnswer = PoolReading | Refusal

/** SOL a token, fees aside. */
export function poolPrice({ lamports, tokens, decimals }: PoolReading): number {
  return Number(lamports) / 1e9 / wholeTokens(tokens, decimals)
}
