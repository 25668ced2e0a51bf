import type { Draws } from '../../src/sandbox/draws.ts'
import type { CurveTrade, Market, MarketToken } from '../../src/sandbox/market/market.ts'
import { Curve } from '../../src/solana/bonding-curve.ts'

export const MINTS = [
  'J5p7z5dZew83HwpFnUqr1HL2S29sn8i7S8eFNwDUpump',
  '6Fzphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump',
  '4XhP2o8jNYcenJFt3Y52dfPN7AbQmJWQzCbnLJGmpump',
]

const FIRST_PRICE = 6e-8
const STEP = 0.01
const JUMP = 0.25
const JUMP_SHARE = 0.01

/** Tokens with prices that change at random, and that sometimes jump by more than any slippage limit. */
export class WanderingMarket implements Market {
  readonly nextAt = undefined
  readonly #draws: Draws
  readonly #tokens = new Map<string, MarketToken>()
  readonly #traded: (trade: CurveTrade) => void

  /** `traded` is called for each of our trades. */
  constructor(draws: Draws, mints: number, traded: (trade: CurveTrade) => void) {
    this.#draws = draws
    this.#traded = traded
    const metadata = { description: '', image: '', website: '', twitter: '' }
    for (const mint of MINTS.slice(0, mints)) {
      const curve = new Curve()
      curve.moveTo(FIRST_PRICE)
      this.#tokens.set(mint, { mint, creator: mint, symbol: 'S', name: 'Simulated', metadata, curve })
    }
  }

  /** Lets another trader make a trade. Returns the price after the trade, SOL per token. */
  wander(mint: string): number {
    const { curve } = this.#tokens.get(mint) as MarketToken
    const size = this.#draws.chance(JUMP_SHARE) ? JUMP : STEP
    const price = Math.min(1e-6, Math.max(1e-9, curve.price * (1 + this.#draws.between(-size, size))))
    curve.moveTo(price)
    return price
  }

  advance(): void {}

  token(mint: string): MarketToken | undefined {
    return this.#tokens.get(mint)
  }

  adopt(): void {}

  print(trade: CurveTrade): void {
    this.#traded(trade)
  }
}
