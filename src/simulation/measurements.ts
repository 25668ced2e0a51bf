import type { ErrorCode } from '../base/errors.ts'
import type { Lamports, TokenAmount } from '../base/units.ts'
import type { Attempt } from '../orders/attempt.ts'

/** Measured facts of an attempt from a run that really made it. The model draws absent facts. */
export interface Measured {
  /** Delay in ms from sending until the engine received the report. */
  readonly toldAfterMs?: number
  /** `open`: the other run ended before its result was known. */
  readonly landing?: 'filled' | 'reverted' | 'absent' | 'open' | 'refused' | 'unsent'
  /** Refusal code. */
  readonly code?: ErrorCode
  readonly swap?: { readonly tokens: TokenAmount; readonly tradeLamports: Lamports }
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
