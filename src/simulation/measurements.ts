import type { ErrorCode } from '../base/errors.ts'
import type { Lamports, Millis, TokenAmount } from '../base/units.ts'
import type { Attempt } from '../orders/attempt.ts'

/** Runs a function at a place of a recorded run, between two of its rows. Returns false if that place has passed. */
export type Moment = (run: () => void) => boolean

/** `orderedLamports`: size of the buy's order; its trade may cost more, by fees on top. null for a sale. */
export interface MeasuredSwap {
  readonly tokens: TokenAmount
  readonly tradeLamports: Lamports
  readonly orderedLamports: Lamports | null
}

/** Measured facts of an attempt from a run that really made it. The model draws absent facts. */
export interface Measured {
  /** Delay in ms from sending until the engine received the report. */
  readonly toldAfterMs?: number
  /** Place of that report; it takes precedence over `toldAfterMs`. */
  readonly told?: Moment | undefined
  /** Place of the report that made the result final. */
  readonly final?: Moment | undefined
  /** Time and slot of the fill on the chain. */
  readonly filled?: { readonly time: Millis; readonly slot: number }
  /** `open`: the other run ended before its result was known. */
  readonly landing?: 'filled' | 'reverted' | 'absent' | 'open' | 'refused' | 'unsent'
  /** Code of the failure. */
  readonly code?: ErrorCode
  readonly swap?: MeasuredSwap
  /** Base and priority fee. */
  readonly feeLamports?: Lamports
  /** Rent; negative if it was returned. */
  readonly rentLamports?: Lamports
}

/** Measured facts of an attempt of the present run; undefined if there are none. */
export type Measurements = (attempt: Attempt) => Measured | undefined

/** Counts how many fills depend on a depth that is only estimated. */
export class DepthUse {
  /** Fills on the curve, whose depth follows from the price. */
  curveFills = 0
  /** Sales into pools with too few prints to estimate the depth; the depth of a fresh migration is assumed. */
  assumedFills = 0
  /** Fills in pools with an estimated depth. */
  estimatedFills = 0
  /** Sum over the estimated fills of the logarithm of the upper quartile over the lower one. */
  #spreads = 0
  /** Extra proceeds of the estimated fills at the depth of the upper quartile, in lamports at the price of the
   *  fill. */
  upperLamports = 0

  /** `isKnown`: the token is on the curve. */
  formula(isKnown: boolean): void {
    if (isKnown) this.curveFills++
    else this.assumedFills++
  }

  estimated(spread: number, moreLamports: number): void {
    this.estimatedFills++
    this.#spreads += Math.log(spread)
    this.upperLamports += moreLamports
  }

  /** Geometric mean over all estimated fills, so that one misread pool does not outweigh the others; null if there
   *  are none. */
  get spread(): number | null {
    return this.estimatedFills === 0 ? null : Math.exp(this.#spreads / this.estimatedFills)
  }
}
