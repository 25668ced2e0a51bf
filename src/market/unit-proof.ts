const NEEDED = 20
const TOLERANCE = 0.03
/** Largest factor by which the price of our own fill may differ from the feed's price, because of price impact and
 *  delay. If the feed uses a wrong unit, the factor is larger. */
const CONTRADICTION = 20

/** Proof that amount / tokensTraded of the feed's trades is a price in SOL per whole token. The service's document
 *  states the currency of `amount` but not its unit. The proof needs enough prints for which the ratio of the quoted
 *  price to amount / tokensTraded is constant, and it holds as long as our own fills agree. A constant ratio shows that
 *  the fields mean what their names say; it does not matter in which unit the price is quoted. */
export class UnitProof {
  #proved: boolean
  #contradicted = false
  #reference = 0
  #agreed = 0
  #disagreed = 0
  /** Number of our own fills that agreed with the feed, minus the number of those that contradicted it. */
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

  /** Ratio of the quoted price to the price in SOL; NaN if the two prices have not been compared yet. */
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

  /** Compares the price of one of our own fills with prices of the feed. `ratios`: the price of the fill divided by
   *  each price of the feed that should be near it. Returns true if one of these ratios is near 1: the fill then agrees
   *  with the feed. If more fills have contradicted the feed than agreed with it, the unit is disproved permanently.
   *  Fewer contradictions are attributed to movements of the price. */
  confirm(ratios: readonly number[]): boolean {
    const agrees = ratios.some((ratio) => ratio < CONTRADICTION && ratio > 1 / CONTRADICTION)
    this.#fills += agrees ? 1 : -1
    if (agrees || this.#fills >= 0) return agrees
    this.#proved = false
    this.#contradicted = true
    return false
  }
}

/** The configured units of the feed. `auto` requires a proof. */
export interface UnitSettings {
  readonly tradePrice: 'auto' | 'sol'
  readonly tradeAmount: 'auto' | 'sol'
}
