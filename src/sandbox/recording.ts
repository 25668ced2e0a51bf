import { type LaunchEvent, type MarketEvent, type PriceEvent, SOL_USD, type TradeEvent } from './market.ts'

/** A recorded message and when the service sent it (ms since the epoch). */
export interface Recorded {
  timestamp: number
  event: MarketEvent
}

type Fields = Record<string, unknown>

/**
 * One line of a recording; undefined when it is none of the three market messages (a gap line, a control message,
 * damage).
 */
export function parseRecorded(line: string): Recorded | undefined {
  const fields = parse(line)
  const timestamp = fields?.timestamp
  if (!fields || typeof fields.mint !== 'string' || typeof timestamp !== 'number' || !Number.isFinite(timestamp))
    return undefined
  const event = toEvent(fields, fields.mint)
  return event && { timestamp, event }
}

function parse(line: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Fields) : undefined
  } catch {
    return undefined
  }
}

function toEvent(fields: Fields, mint: string): MarketEvent | undefined {
  if (fields.type === 'trade') return toTrade(fields, mint)
  if (fields.type === 'newToken') return toLaunch(fields, mint)
  if (fields.type === 'priceUpdate') return toPrice(fields, mint)
  return undefined
}

function toTrade(fields: Fields, mint: string): TradeEvent {
  return {
    type: 'trade',
    mint,
    signature: text(fields.signature),
    trader: text(fields.trader),
    side: fields.side === 'sell' ? 'sell' : 'buy',
    sol: number(fields.amount),
    tokens: number(fields.tokensTraded),
    price: number(fields.price),
    marketCapSol: number(fields.marketCap),
    slippagePercent: number(fields.slippage),
    priorityFeeSol: number(fields.priorityFee),
  }
}

function toLaunch(fields: Fields, mint: string): LaunchEvent {
  const metadata = (typeof fields.metadata === 'object' && fields.metadata !== null ? fields.metadata : {}) as Fields
  return {
    type: 'newToken',
    mint,
    symbol: text(fields.symbol),
    name: text(fields.name),
    creator: text(fields.creator),
    liquiditySol: number(fields.initialLiquidity),
    marketCapSol: number(fields.marketCap),
    metadata: {
      description: text(metadata.description),
      image: text(metadata.image),
      website: text(metadata.website),
      twitter: text(metadata.twitter),
    },
  }
}

function toPrice(fields: Fields, mint: string): PriceEvent {
  return {
    type: 'priceUpdate',
    mint,
    price: number(fields.price),
    changePercent: number(fields.priceChange),
    change24hPercent: number(fields.priceChange24h),
    marketCapSol: number(fields.marketCap),
    volume24hSol: number(fields.volume24h),
    liquiditySol: number(fields.liquidityUsd) / SOL_USD,
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function number(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
