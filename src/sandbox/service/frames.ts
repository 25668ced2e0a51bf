import type { Dialect } from '../dialect.ts'
import { type Draws, draws } from '../draws.ts'
import { type LaunchEvent, type MarketEvent, type PriceEvent, SOL_USD, type TradeEvent } from '../market/market.ts'

const UNANNOUNCED_TYPE_SHARE = 0.01

/** Formats market events as the service's messages, in the units of a dialect (variant of the protocol). */
export class Frames {
  readonly #dialect: Dialect
  readonly #draws: Draws
  readonly #extraFields: boolean
  readonly #extraTypes: boolean

  constructor(dialect: Dialect, seed: number) {
    this.#dialect = dialect
    this.#draws = draws(seed, 'extras')
    this.#extraFields = dialect.extras === 'fields' || dialect.extras === 'both'
    this.#extraTypes = dialect.extras === 'types' || dialect.extras === 'both'
  }

  /** An event as JSON text; `timestamp` is in ms since the epoch. */
  event(event: MarketEvent, timestamp: number): string {
    const message = { ...this.#message(event), timestamp }
    if (!this.#extraFields) return JSON.stringify(message)
    return JSON.stringify({ ...message, slot: Math.floor(timestamp / 400), pool: { kind: 'curve', version: 2 } })
  }

  /** Returns, for a few events, a further message of an undocumented type as JSON text; otherwise undefined. */
  unannounced(event: MarketEvent, timestamp: number): string | undefined {
    if (!this.#extraTypes || !this.#draws.chance(UNANNOUNCED_TYPE_SHARE)) return undefined
    return JSON.stringify({ type: 'migration', mint: event.mint, pool: 'amm', timestamp })
  }

  #message(event: MarketEvent): object {
    if (event.type === 'trade') return this.#trade(event)
    return event.type === 'newToken' ? this.#launch(event) : this.#priceUpdate(event)
  }

  #trade(event: TradeEvent): object {
    const rate = this.#dialect.tradePrice === 'usd' ? SOL_USD : 1
    const { type, mint, signature, trader, sol, tokens, price, marketCapSol, side, slippagePercent, priorityFeeSol } =
      event
    return {
      type,
      mint,
      signature,
      trader,
      amount: sol,
      tokensTraded: tokens,
      price: price * rate,
      marketCap: marketCapSol * rate,
      side,
      slippage: slippagePercent,
      priorityFee: priorityFeeSol,
    }
  }

  #launch(event: LaunchEvent): object {
    const rate = this.#dialect.launchValue === 'usd' ? SOL_USD : 1
    const { type, mint, symbol, name, creator, liquiditySol, marketCapSol, metadata } = event
    return {
      type,
      mint,
      symbol,
      name,
      creator,
      initialLiquidity: liquiditySol * rate,
      marketCap: marketCapSol * rate,
      metadata,
    }
  }

  #priceUpdate(event: PriceEvent): object {
    const rate = this.#dialect.updatePrice === 'usd' ? SOL_USD : 1
    return {
      type: event.type,
      mint: event.mint,
      price: event.price * rate,
      priceChange: event.changePercent,
      priceChange24h: event.change24hPercent,
      marketCap: event.marketCapSol * rate,
      volume24h: event.volume24hSol * rate,
      liquidityUsd: event.liquiditySol * SOL_USD,
    }
  }
}
