import { type Curve, TOKEN_DECIMALS } from './curve.ts'

/**
 * The sandbox's one exchange rate: fixed, so that a price in either unit can be told from the other by the tokens' own
 * numbers.
 */
export const SOL_USD = 150

/** What happens on the market, in SOL and whole tokens; `frames.ts` writes it as the service would. */
export type MarketEvent = TradeEvent | LaunchEvent | PriceEvent

export interface TradeEvent {
  type: 'trade'
  mint: string
  signature: string
  trader: string
  side: 'buy' | 'sell'
  /** SOL that entered or left the curve, before fees. */
  sol: number
  tokens: number
  /** SOL a whole token: sol / tokens. In a noisy print both are off. */
  price: number
  marketCapSol: number
  slippagePercent: number
  priorityFeeSol: number
}

export interface LaunchEvent {
  type: 'newToken'
  mint: string
  symbol: string
  name: string
  creator: string
  liquiditySol: number
  marketCapSol: number
  metadata: TokenMetadata
}

export interface PriceEvent {
  type: 'priceUpdate'
  mint: string
  /** SOL a whole token. */
  price: number
  /** Percent since the last update, and since the launch or 24 hours ago. */
  changePercent: number
  change24hPercent: number
  marketCapSol: number
  volume24hSol: number
  liquiditySol: number
}

export interface TokenMetadata {
  description: string
  image: string
  website: string
  twitter: string
}

/** What strangers say about a token; hostile text now and then. */
export interface TokenLabel {
  symbol: string
  name: string
  metadata: TokenMetadata
}

export interface MarketToken extends TokenLabel {
  mint: string
  creator: string
  curve: Curve
}

/** A trade as it went through the token's curve; amounts in lamports and base units. */
export interface CurveTrade {
  mint: string
  signature: string
  trader: string
  side: 'buy' | 'sell'
  sol: bigint
  tokens: bigint
  slippagePercent: number
  priorityFeeSol: number
}

/** Strangers and their tokens, run by whoever holds it: it knows its own time only, milliseconds since it opened. */
export interface Market {
  /** When something happens next; undefined when nothing will. */
  readonly nextAt: number | undefined
  /** Lets everything up to `until` happen, one `emit` an event, in order. */
  advance(until: number): void
  token(mint: string): MarketToken | undefined
  /** A token that outlives the process because our wallets hold it: it trades on. */
  adopt(token: MarketToken): void
  /** Tells the market of our trade, which has moved the curve already: it is printed like anybody's. */
  print(trade: CurveTrade): void
}

export type Emit = (event: MarketEvent) => void

export function tradeEvent({ curve }: MarketToken, trade: CurveTrade): TradeEvent {
  const { mint, signature, trader, side, slippagePercent, priorityFeeSol } = trade
  const sol = Number(trade.sol) / 1e9
  const tokens = Number(trade.tokens) / 10 ** TOKEN_DECIMALS
  const price = sol / tokens
  const marketCapSol = curve.marketCapSol
  return {
    type: 'trade',
    mint,
    signature,
    trader,
    side,
    sol,
    tokens,
    price,
    marketCapSol,
    slippagePercent,
    priorityFeeSol,
  }
}
