import { type Curve, TOKEN_DECIMALS } from './curve.ts'
import type { MarketToken, PriceEvent, TokenMetadata, TradeEvent } from './market.ts'

/**
 * A price update is due when the price has moved by this share since the last one, at most one a second of market time.
 */
const SIGNIFICANT_MOVE = 0.05
const UPDATE_GAP_MS = 1_000

/** A token on the market with what the service knows of its past. */
export class Listing implements MarketToken {
  readonly mint: string
  readonly creator: string
  readonly name: string
  readonly symbol: string
  readonly metadata: TokenMetadata
  readonly curve: Curve
  /** Base units in the hands of strangers who trade now and then: what they can sell. */
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

  /** The update that is due now, if one is. */
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

  /** Base units that bring this much SOL, at most `share` of what the crowd holds. */
  tokensWorth(sol: number, share: number): bigint {
    const most = (this.crowd * BigInt(Math.floor(share * 1_000_000))) / 1_000_000n
    const wanted = BigInt(Math.floor((sol / this.curve.price) * 10 ** TOKEN_DECIMALS))
    return wanted < most ? wanted : most
  }
}
