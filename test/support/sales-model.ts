/** A sale of a percentage of the position, with its slippage in percent. */
export interface Sale {
  readonly share: number
  readonly slippage: number
}

/** The rules for further attempts to sell an amount that an earlier attempt did not sell. */
export interface SalesLadder {
  readonly slippageLadder: readonly number[]
  readonly retryMs: number
}

/** Returns the executed share of an order, 0 to 1. */
export type Answers = () => number

export const NEVER = Number.POSITIVE_INFINITY

/**
 * A reference model of the sales of one position, written from docs/exits.md and not from the engine. It uses
 * floating-point numbers, with times in ms, and every sale is answered immediately. It does not know why a sale is due.
 */
export class SalesModel {
  readonly #ladder: SalesLadder
  readonly #bought: number
  #held: number
  /** The number of tokens whose sale was requested so far. */
  #asked = 0
  #isExiting = false
  /** The number of sales since the last sale with a fill. */
  #tries = 0
  #retryAt = NEVER
  /** The open sales. A full exit may be open together with a partial sale, which is then cancelled. */
  #out: Sale[] = []

  constructor(ladder: SalesLadder, tokens: number) {
    this.#ladder = ladder
    this.#bought = tokens
    this.#held = tokens
  }

  /** Whether the whole position must be sold. */
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

  /** Sells a percentage of the tokens that were bought, in addition to earlier requests. */
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

  /** Answers orders until none is open. Returns the sent orders, in order, and whether the position is sold. */
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

  /** Sells the tokens whose sale was requested and that are not sold yet. The order's size is a percentage of the held
   *  tokens, rounded to two decimals. */
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

  /** Continues after an incomplete sale: immediately if a partial sale had a fill, otherwise with growing delays. */
  #goOn(now: number): void {
    if (!this.#isExiting && this.#tries === 0) this.#sellDue()
    else if (this.#isExiting || this.#isDue())
      this.#retryAt = now + this.#ladder.retryMs * 2 ** Math.min(Math.max(this.#tries - 1, 0), 6)
  }

  #due(): number {
    return this.#asked - (this.#bought - this.#held)
  }

  /** Returns whether more than a thousandth of the bought tokens is left to sell. */
  #isDue(): boolean {
    return this.#due() > this.#bought / 1_000
  }
}
