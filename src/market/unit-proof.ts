const NEEDED = 20
const TOLERANCE = 0.03
/** Our own fill may differ from the price around it by impact and time, never by this factor; a wrong unit differs by
 *  more. */
const CONTRADICTION = 20

/** Whether amount / tokensTraded of the feed's trades may be taken as SOL a whole token. The document says that
 *  currency is in SOL, not that the feed's `amount` is: it counts once the quoted price stays in one constant ratio to
 *  it over enough prints (which shows that the fields mean what their names say, in whatever unit the price itself is
 *  quoted), and for as long as our own fills agree with it. */
export class UnitProof {
  #proved: boolean
  #contradicted = false
  #reference = 0
  #agreed = 0
  #disagreed = 0
  /** Own fills that agreed, less those that did not. */
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

  /** What is quoted over what it is in SOL, as most prints have it; NaN before any was compared. */
  get quotedRatio(): number {
    return this.#reference > 0 ? this.#reference : Number.NaN
  }

  /** Compares a print's own price (amount / tokens) with the price quoted beside it. Where none is quoted there is
   *  nothing to compare. */
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

  /** `ratios` of our fill's price to the feed's prices that it should be near to; false where it is near to none. The
   *  unit then cannot be what it was taken for, and the proof ends for good; unless more of our fills have agreed: it
   *  was that price which ran away. */
  confirm(ratios: readonly number[]): boolean {
    const agrees = ratios.some((ratio) => ratio < CONTRADICTION && ratio > 1 / CONTRADICTION)
    this.#fills += agrees ? 1 : -1
    if (agrees || this.#fills >= 0) return agrees
    this.#proved = false
    this.#contradicted = true
    return false
  }
}

/** What the user says about the feed's units; `auto` has to be proved. */
export interface UnitSettings {
  readonly tradePrice: 'auto' | 'sol'
  readonly tradeAmount: 'auto' | 'sol'
}
