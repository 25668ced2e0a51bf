import type { Curve } from '../../solana/bonding-curve.ts'
import { TOKEN_DECIMALS } from '../../solana/constants.ts'
import { type Draws, draws } from '../draws.ts'
import {
  type CurveTrade,
  type Emit,
  type MarketToken,
  type PriceEvent,
  type TokenMetadata,
  type TradeEvent,
  tradeEvent,
} from './market.ts'
import { drawRouterSol } from './trade-sizes.ts'

/** Price change since the last price update that triggers the next one. At most one update is sent per second of market
 *  time. */
const SIGNIFICANT_MOVE = 0.05
const UPDATE_GAP_MS = 1_000

/** A token on the market, with its price history. */
export class Listing implements MarketToken {
  readonly mint: string
  readonly creator: string
  readonly name: string
  readonly symbol: string
  readonly metadata: TokenMetadata
  readonly curve: Curve
  /** Base units that occasional traders hold and can sell. */
  crowd = 0n
  /** Market time of the last print. */
  tradedAt: number
  #volumeSol = 0
  readonly #openPrice: number
  #updatePrice: number
  #updatedAt: number

  constructor(token: MarketToken, now: number) {
    this.mint = token.mint
    this.creator = token.creator
    this.name = token.name
    this.symbol = token.symbol
    this.metadata = token.metadata
    this.curve = token.curve
    this.tradedAt = now
    this.#openPrice = token.curve.price
    this.#updatePrice = this.#openPrice
    this.#updatedAt = now
  }

  record(trade: TradeEvent, now: number): void {
    this.tradedAt = now
    this.#volumeSol += trade.sol
  }

  /** The price update that must be sent now; undefined if no update is due. */
  priceUpdate(now: number): PriceEvent | undefined {
    const { price } = this.curve
    const change = price / this.#updatePrice - 1
    if (Math.abs(change) < SIGNIFICANT_MOVE || now - this.#updatedAt < UPDATE_GAP_MS) return undefined
    this.#updatePrice = price
    this.#updatedAt = now
    return {
      type: 'priceUpdate',
      mint: this.mint,
      price,
      changePercent: change * 100,
      change24hPercent: (price / this.#openPrice - 1) * 100,
      marketCapSol: this.curve.marketCapSol,
      volume24hSol: this.#volumeSol,
      liquiditySol: (2 * Number(this.curve.realSol)) / 1e9,
    }
  }

  /** Base units that are worth `sol` SOL, at most `share` of the crowd's holdings. */
  tokensWorth(sol: number, share: number): bigint {
    const most = (this.crowd * BigInt(Math.floor(share * 1_000_000))) / 1_000_000n
    const wanted = BigInt(Math.floor((sol / this.curve.price) * 10 ** TOKEN_DECIMALS))
    return wanted < most ? wanted : most
  }
}

/** Share of prints that show only one part of a swap that a router split, with a price that is wrong by more than a
 *  factor of two. On real tapes, one print in six is such a print (measured in June 2026). */
const NOISE_SHARE = 0.15
const SMALLEST_NOISE = 2.1
const LARGEST_NOISE = 30
const STRANGERS = 500

/** Executes the trades of other traders. Each swap moves the token's curve and is printed, sometimes with a wrong
 *  price. */
export class MarketFloor {
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

  /** Buys tokens for `sol` and returns their number in base units. The caller tracks the holder of the tokens. */
  buy(listing: Listing, trader: string, sol: number): bigint {
    const distortion = this.#distortion()
    const spent = distortion === 1 ? sol : Math.min(sol, drawRouterSol(this.#noise))
    const swap = listing.curve.quoteBuy(BigInt(Math.round(spent * 1e9)))
    if (swap.tokens <= 0n) return 0n
    listing.curve.applyBuy(swap)
    this.#print(listing, this.#trade(listing, 'buy', trader, swap.sol, swap.tokens), distortion)
    return swap.tokens
  }

  /** Sells all the given tokens, which the caller has deducted from a holder. */
  sell(listing: Listing, trader: string, tokens: bigint): void {
    const swap = listing.curve.quoteSell(tokens)
    if (swap.sol <= 0n) return
    listing.curve.applySell(swap)
    this.#print(listing, this.#trade(listing, 'sell', trader, swap.sol, tokens), this.#distortion())
  }

  /** Emits a print of our own trade, with its true price. It draws no random numbers, so that the trades of all other
   *  traders depend only on the seed. */
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

  /** Factor by which the price of the next print is wrong; 1 if it is correct. */
  #distortion(): number {
    if (!this.#noise.chance(NOISE_SHARE)) return 1
    const factor = SMALLEST_NOISE * (LARGEST_NOISE / SMALLEST_NOISE) ** this.#noise.next()
    return this.#noise.chance(0.5) ? factor : 1 / factor
  }
}

/** Returns the print of only one part of the swap. If tokens are missing, its price is too high; if SOL is missing, its
 *  price is too low. */
function distort(trade: TradeEvent, factor: number): TradeEvent {
  const sol = factor < 1 ? trade.sol * factor : trade.sol
  const tokens = factor > 1 ? trade.tokens / factor : trade.tokens
  const price = sol / tokens
  return { ...trade, sol, tokens, price, marketCapSol: trade.marketCapSol * factor }
}
