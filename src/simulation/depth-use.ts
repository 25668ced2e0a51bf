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
  /** ... and what they would have brought more in pools as deep as the upper quarter says, lamports at the price of the fill. */
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

  /** The geometric mean over all estimated fills, as one pool that was misread would outweigh all others; null where there is none. */
  get spread(): number | null {
    return this.estimatedFills === 0 ? null : Math.exp(this.#spreads / this.estimatedFills)
  }
}
