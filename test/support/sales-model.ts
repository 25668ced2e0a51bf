/** A sale of a share of what is held, percent, with the slippage that it allows, percent. */
export interface Sale {
  readonly share: number
  readonly slippage: number
}

/** How what did not sell goes out again. */
export interface SalesLadder {
  readonly slippageLadder: readonly number[]
  readonly retryMs: number
}

/** What becomes of an order: how much of it is executed, 0 to 1. Why it was not all does not matter. */
export type Answers = () => number

export const NEVER = Number.POSITIVE_INFINITY

/** How what a bot holds of one token should be sold, written from docs/exits.md and not from the engine: plain numbers,
 *  times in ms, and every sale answered before anything else happens. It knows nothing of why. */
export class SalesModel {
  readonly #ladder: SalesLadder
  readonly #bought: number
  #held: number
  /** Of what was bought, so far. */
  #asked = 0
  #isExiting = false
  /** Sales since the last one that sold something. */
  #tries = 0
  #retryAt = NEVER
  /** All of it goes beside a part, and then the part is called off. */
  #out: Sale[] = []

  constructor(ladder: SalesLadder, tokens: number) {
    this.#ladder = ladder
    this.#bought = tokens
    this.#held = tokens
  }

  /** All of it is to go. */
  get isExiting(): boolean {
    return this.#isExiting
  }

  get retryAt(): number {
    return this.#retryAt
  }

  sellAll(): void {
    this.#isExiting = true
    if (!this.#out.some(({ share }) => share === 100)) this.#send(100)
  }

  /** So many percent of what was bought, beside all that was asked for before. */
  sellOfBought(percent: number): void {
    this.#asked += (this.#bought * percent) / 100
    this.#sellDue()
  }

  sellOfHeld(percent: number): void {
    this.#asked = Math.max(this.#asked, this.#bought - this.#held) + (this.#held * percent) / 100
    if (percent >= 100) this.sellAll()
    else this.#sellDue()
  }

  retry(): void {
    this.#retryAt = NEVER
    if (this.#isExiting) this.sellAll()
    else this.#sellDue()
  }

  /** What went out, in order, until nothing is on its way; `isSold`: nothing is held any more. */
  answer(now: number, answers: Answers): { sales: Sale[]; isSold: boolean } {
    const sales: Sale[] = []
    for (let sale = this.#out.shift(); sale !== undefined; sale = this.#out.shift()) {
      if (this.#out.length > 0) continue // overtaken
      sales.push(sale)
      const executed = answers()
      this.#held *= 1 - (sale.share / 100) * executed
      if (executed > 0) this.#tries = 0
      if (sale.share === 100 && executed === 1) return { sales, isSold: true }
      if (this.#retryAt === NEVER) this.#goOn(now)
    }
    return { sales, isSold: false }
  }

  /** What was asked for and nothing sold yet; a share goes out with two decimals of a percent. */
  #sellDue(): void {
    if (this.#isExiting) return
    this.#retryAt = NEVER
    if (this.#out.length > 0 || !this.#isDue()) return
    const share = Math.round((this.#due() / this.#held) * 10_000) / 100
    if (share >= 99.9) this.sellAll()
    else this.#send(share)
  }

  #send(share: number): void {
    const { slippageLadder } = this.#ladder
    this.#out.push({ share, slippage: slippageLadder[Math.min(this.#tries++, slippageLadder.length - 1)] as number })
  }

  /** After a sale that left something to sell: at once where it sold what it could and was a part, else later and
   *  later. */
  #goOn(now: number): void {
    if (!this.#isExiting && this.#tries === 0) this.#sellDue()
    else if (this.#isExiting || this.#isDue())
      this.#retryAt = now + this.#ladder.retryMs * 2 ** Math.min(Math.max(this.#tries - 1, 0), 6)
  }

  #due(): number {
    return this.#asked - (this.#bought - this.#held)
  }

  /** Less than a thousandth is left. */
  #isDue(): boolean {
    return this.#due() > this.#bought / 1_000
  }
}
