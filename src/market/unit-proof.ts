const NEEDED = 20
const TOLERANCE = 0.03
/** Maximum factor by which our own fill may differ from the price around it, because of price impact and delay. A wrong
 *  unit differs by more. */
const CONTRADICTION = 20

/** Proof that amount / tokensTraded of the feed's trades is in SOL per whole token. The service's document states the
 *  currency of `amount` but not its unit. The proof holds once the ratio of the quoted price to amount / tokensTraded
 *  is constant over enough prints, and as long as our own fills agree. A constant ratio shows that the fields mean what
 *  their names suggest, in any unit of the quoted price. */
export class UnitProof {
  #proved: boolean
  #contradicted = false
  #reference = 0
  #agreed = 0
  #disagreed = 0
  /** Number of our own fills that agreed with the feed, less the number of those that contradicted it. */
  #fills = 0

  constructor(units: UnitSettings) {
    this.#proved = units.tradeAmount === 'sol'
  }

  get proved(): boolean {
    return this.#proved
  }

  get contradicted(): boolean {
    return this.#contradicted
  }

  /** Ratio of the quoted price to the price in SOL; NaN before a comparison. */
  get quotedRatio(): number {
    return this.#reference > 0 ? this.#reference : Number.NaN
  }

  /** Compares the price of a print (amount / tokens) with its quoted price. Has no effect if there is no quoted
   *  price. */
  fold(price: number, quoted: number): void {
    if (this.#contradicted || !(quoted > 0)) return
    const ratio = quoted / price
    if (Math.abs(ratio / this.#reference - 1) <= TOLERANCE) this.#agreed++
    else if (++this.#disagreed > this.#agreed) {
      this.#reference = ratio
      this.#agreed = 1
      this.#disagreed = 0
    }
    if (this.#agreed >= NEEDED && this.#agreed >= 3 * this.#disagreed) this.#proved = true
  }

  /** Compares one of our own fills. `ratios`: its price over each feed price that it should be near. Returns false if
   *  the fill is near neither price. The unit is then disproved permanently, unless at least as many of our fills have
   *  agreed: in that case the price itself has moved. */
  confirm(ratios: readonly number[]): boolean {
    const agrees = ratios.some((ratio) => ratio < CONTRADICTION && ratio > 1 / CONTRADICTION)
    this.#fills += agrees ? 1 : -1
    if (agrees || this.#fills >= 0) return agrees
    this.#proved = false
    this.#contradicted = true
    return false
  }
}

/** Units of the feed, as configured. `auto` requires a proof. */
export interface UnitSettings {
  readonly tradePrice: 'auto' | 'sol'
  readonly tradeAmount: 'auto' | 'sol'
}
