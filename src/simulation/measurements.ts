import type { ErrorCode } from '../base/errors.ts'
import type { Lamports, Millis, TokenAmount } from '../base/units.ts'
import type { Attempt } from '../orders/attempt.ts'

/** Calls `run` at a certain point of a recorded run. The point lies between two rows. If it has passed, returns false
 *  and does not call `run`. */
export type Moment = (run: () => void) => boolean

/** Amounts of a trade that really happened. `orderedLamports`: the ordered size of a buy, null for a sale. The trade
 *  itself may cost more, because fees are added. */
export interface MeasuredSwap {
  readonly tokens: TokenAmount
  readonly tradeLamports: Lamports
  readonly orderedLamports: Lamports | null
}

/** Facts about an attempt that were measured in a run that really made the attempt. The fill model chooses the facts
 *  that are absent here. */
export interface Measured {
  /** Time in ms from the sending of the request until the engine received the report of the result. */
  readonly toldAfterMs?: number
  /** Moment of the recorded run at which the engine received the report of the result. If present, it is used instead
   *  of `toldAfterMs`. */
  readonly told?: Moment | undefined
  /** Moment of the recorded run at which the engine received the report that made the result final. */
  readonly final?: Moment | undefined
  /** Time and Solana slot of the fill on the chain. */
  readonly filled?: { readonly time: Millis; readonly slot: number }
  /** Result of the attempt. `open`: the recorded run ended before the result was known. */
  readonly landing?: 'filled' | 'reverted' | 'absent' | 'open' | 'refused' | 'unsent'
  /** Code of the failure; absent if the attempt did not fail. */
  readonly code?: ErrorCode
  readonly swap?: MeasuredSwap
  /** Base fee and priority fee. */
  readonly feeLamports?: Lamports
  /** Rent paid; negative if it was returned. */
  readonly rentLamports?: Lamports
}

/** Returns the measured facts of an attempt of the present run; undefined if there are none. */
export type Measurements = (attempt: Attempt) => Measured | undefined

/** Counts the fills that depend on an estimated depth. */
export class DepthUse {
  /** Number of fills on the curve, whose depth follows from the price. */
  curveFills = 0
  /** Number of sales into pools whose depth cannot be estimated from the prints so far. The depth of a pool just after
   *  its migration is assumed for them. */
  assumedFills = 0
  /** Number of fills in pools with an estimated depth. */
  estimatedFills = 0
  /** Sum over the fills with an estimated depth: the logarithm of the depth's upper quartile divided by its lower
   *  quartile. */
  #spreads = 0
  /** Amount by which the estimated fills would be better if the depth were the upper quartile, in lamports at the price
   *  of the fill. */
  upperLamports = 0

  /** Counts a fill whose depth was not estimated. `isKnown`: the token is on the curve; otherwise the depth was
   *  assumed. */
  formula(isKnown: boolean): void {
    if (isKnown) this.curveFills++
    else this.assumedFills++
  }

  estimated(spread: number, moreLamports: number): void {
    this.estimatedFills++
    this.#spreads += Math.log(spread)
    this.upperLamports += moreLamports
  }

  /** Geometric mean, over the fills with an estimated depth, of the depth's upper quartile divided by its lower
   *  quartile. The mean is geometric so that one wrong estimate does not outweigh the others. null if there are no such
   *  fills. */
  get spread(): number | null {
    return this.estimatedFills === 0 ? null : Math.exp(this.#spreads / this.estimatedFills)
  }
}
