import type { ErrorCode } from '../base/errors.ts'
import type { Lamports, TokenAmount } from '../base/units.ts'
import type { Attempt } from '../orders/attempt.ts'

/** What is known of an attempt from a run that really made it; what is absent is drawn and filled by the model. */
export interface Measured {
  /** From being sent until the engine was told, ms. */
  readonly toldAfterMs?: number
  /** `open`: the other run ended before it was told. */
  readonly landing?: 'filled' | 'reverted' | 'absent' | 'open' | 'refused' | 'unsent'
  /** Why it was refused. */
  readonly code?: ErrorCode
  readonly swap?: { readonly tokens: TokenAmount; readonly tradeLamports: Lamports }
  /** Base and priority fee; ... */
  readonly feeLamports?: Lamports
  /** ... and rent, negative for what came back. */
  readonly rentLamports?: Lamports
}

/** What is known of an attempt that is made now; undefined where nothing is. */
export type Measurements = (attempt: Attempt) => Measured | undefined

/** How much of what was filled hangs on a depth that is only estimated. */
export class DepthUse {
  /** Fills on the curve, whose depth follows from the price; ... */
  curveFills = 0
  /** ... sales into pools of which too few prints tell, taken to be as deep as after a fresh migration; ... */
  assumedFills = 0
  /** ... in pools whose depth is estimated; ... */
  estimatedFills = 0
  /** ... and, summed over these, the logarithm of the upper quarter of the estimates over the lower one, ... */
  #spreads = 0
  /** ... and what they would have brought more in pools as deep as the upper quarter says, lamports at the price of the
   *  fill. */
  upperLamports = 0

  /** `isKnown`: it is on the curve. */
  formula(isKnown: boolean): void {
    if (isKnown) this.curveFills++
    else this.assumedFills++
  }

  estimated(spread: number, moreLamports: number): void {
    this.estimatedFills++
    this.#spreads += Math.log(spread)
    this.upperLamports += moreLamports
  }

  /** The geometric mean over all estimated fills, as one pool that was misread would outweigh all others; null where
   *  there is none. */
  get spread(): number | null {
    return this.estimatedFills === 0 ? null : Math.exp(this.#spreads / this.estimatedFills)
  }
}
