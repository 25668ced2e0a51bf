import { draws } from '../../src/sandbox/draws.ts'
import {
  type CurveTrade,
  type Emit,
  type LaunchEvent,
  type Market,
  type MarketToken,
  type PriceEvent,
  type TradeEvent,
  tradeEvent,
} from '../../src/sandbox/market/market.ts'
import { Curve } from '../../src/solana/bonding-curve.ts'

export const MINT = 'J5p7z5dZew83HwpFnUqr1HL2S29sn8i7S8eFNwDUpump'

/** A market with one token whose price changes only by calls of the test. */
export class StillMarket implements Market {
  readonly nextAt = undefined
  readonly #emit: Emit
  readonly #draws = draws(1, 'still market')
  readonly #token: MarketToken = {
    mint: MINT,
    creator: this.#draws.publicKey(),
    symbol: 'STILL',
    name: 'Still Water',
    metadata: { description: 'd', image: 'https://i.invalid/s.png', website: 'https://s.invalid', twitter: '' },
    curve: new Curve(),
  }

  constructor(emit: Emit) {
    this.#emit = emit
  }

  advance(): void {}

  token(mint: string): MarketToken | undefined {
    return mint === MINT ? this.#token : undefined
  }

  adopt(token: MarketToken): void {
    Object.assign(this.#token, token)
  }

  print(trade: CurveTrade): void {
    this.#emit(tradeEvent(this.#token, trade))
  }

  /** Executes a trade of another trader on the curve, and sends it to the feed. */
  trade(side: 'buy' | 'sell', amount: bigint): TradeEvent {
    const { curve } = this.#token
    const swap = side === 'buy' ? curve.quoteBuy(amount) : curve.quoteSell(amount)
    if (side === 'buy') curve.applyBuy(swap)
    else curve.applySell(swap)
    const event = tradeEvent(this.#token, {
      mint: MINT,
      signature: this.#draws.signature(),
      trader: this.#draws.publicKey(),
      side,
      sol: swap.sol,
      tokens: swap.tokens,
      slippagePercent: 10,
      priorityFeeSol: 0.0001,
    })
    this.#emit(event)
    return event
  }

  priceUpdate(): PriceEvent {
    const { price, marketCapSol } = this.#token.curve
    const event: PriceEvent = {
      type: 'priceUpdate',
      mint: MINT,
      price,
      changePercent: 6,
      change24hPercent: 12,
      marketCapSol,
      volume24hSol: 40,
      liquiditySol: 3,
    }
    this.#emit(event)
    return event
  }

  launch(): LaunchEvent {
    const { mint, creator, symbol, name, metadata, curve } = this.#token
    const event: LaunchEvent = {
      type: 'newToken',
      mint,
      symbol,
      name,
      creator,
      liquiditySol: 30,
      marketCapSol: curve.marketCapSol,
      metadata,
    }
    this.#emit(event)
    return event
  }
}
