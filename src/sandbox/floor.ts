import { type Draws, draws } from './draws.ts'
import type { Listing } from './listing.ts'
import { type CurveTrade, type Emit, type TradeEvent, tradeEvent } from './market.ts'
import { drawRouterSol } from './sizes.ts'

/** Prints of router legs, whose price is more than twice off: one in six on real tapes (research/solana.md 7.4). */
const NOISE_SHARE = 0.15
const SMALLEST_NOISE = 2.1
const LARGEST_NOISE = 30
const STRANGERS = 500

/** Where strangers trade: every swap goes through the token's curve and is printed, sometimes wrongly. */
export class Floor {
  now = 0
  readonly draws: Draws
  readonly #noise: Draws
  readonly #emit: Emit
  readonly #strangers: string[]

  constructor(seed: number, emit: Emit) {
    this.draws = draws(seed, 'floor')
    this.#noise = draws(seed, 'noise')
    this.#emit = emit
    this.#strangers = Array.from({ length: STRANGERS }, () => this.draws.publicKey())
  }

  stranger(): string {
    return this.draws.chance(0.4) ? this.draws.publicKey() : this.draws.pick(this.#strangers)
  }

  /** Returns the tokens bought, in base units; they are the caller's to keep track of. */
  buy(listing: Listing, trader: string, sol: number): bigint {
    const distortion = this.#distortion()
    const spent = distortion === 1 ? sol : Math.min(sol, drawRouterSol(this.#noise))
    const swap = listing.curve.quoteBuy(BigInt(Math.round(spent * 1e9)))
    if (swap.tokens <= 0n) return 0n
    listing.curve.applyBuy(swap)
    this.#print(listing, this.#trade(listing, 'buy', trader, swap.sol, swap.tokens), distortion)
    return swap.tokens
  }

  /** Sells tokens that the caller has taken from whoever held them; all of them. */
  sell(listing: Listing, trader: string, tokens: bigint): void {
    const swap = listing.curve.quoteSell(tokens)
    if (swap.sol <= 0n) return
    listing.curve.applySell(swap)
    this.#print(listing, this.#trade(listing, 'sell', trader, swap.sol, tokens), this.#distortion())
  }

  /** Our own trade, as it was. It draws nothing, so that the strangers' sequence stays what the seed says. */
  printOwn(listing: Listing, own: CurveTrade): void {
    this.#print(listing, tradeEvent(listing, own), 1)
  }

  #trade(listing: Listing, side: 'buy' | 'sell', trader: string, lamports: bigint, baseUnits: bigint): TradeEvent {
    return tradeEvent(listing, {
      mint: listing.mint,
      signature: this.draws.signature(),
      trader,
      side,
      sol: lamports,
      tokens: baseUnits,
      slippagePercent: this.draws.pick([1, 5, 10, 10, 15, 25]),
      priorityFeeSol: this.draws.pick([0.00001, 0.0001, 0.0005, 0.001, 0.005]),
    })
  }

  #print(listing: Listing, trade: TradeEvent, distortion: number): void {
    this.#emit(distortion === 1 ? trade : distort(trade, distortion))
    listing.record(trade, this.now)
    const update = listing.priceUpdate(this.now)
    if (update) this.#emit(update)
  }

  /** The factor by which this print's price is off; 1: it is right. */
  #distortion(): number {
    if (!this.#noise.chance(NOISE_SHARE)) return 1
    const factor = SMALLEST_NOISE * (LARGEST_NOISE / SMALLEST_NOISE) ** this.#noise.next()
    return this.#noise.chance(0.5) ? factor : 1 / factor
  }
}

/**
 * One leg of the swap is printed instead of the whole: too few tokens make the price high, too little SOL makes it low.
 */
function distort(trade: TradeEvent, factor: number): TradeEvent {
  const sol = factor < 1 ? trade.sol * factor : trade.sol
  const tokens = factor > 1 ? trade.tokens / factor : trade.tokens
  const price = sol / tokens
  return { ...trade, sol, tokens, price, marketCapSol: trade.marketCapSol * factor }
}
