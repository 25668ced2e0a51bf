import type { Millis } from '../../base/units.ts'
import { RowKind, type TokenDetails } from '../../market/block.ts'
import type { LiveBlock, RowNumbers } from '../../market/live-block.ts'
import type { Mints } from '../../market/mints.ts'
import { type Market, type MarketEvent, SOL_USD } from './market.ts'

const TRADE_KINDS = { buy: RowKind.buy, sell: RowKind.sell } as const

/** Appends a market event as the row that a recorder of the feed writes. Returns false if the row does not fit. */
export function appendEvent(block: LiveBlock, mints: Mints, time: Millis, event: MarketEvent): boolean {
  const isTrade = event.type === 'trade'
  const kind = isTrade ? TRADE_KINDS[event.side] : event.type === 'newToken' ? RowKind.newToken : RowKind.priceUpdate
  const [signature, trader] = isTrade
    ? [event.signature, event.trader]
    : ['', event.type === 'newToken' ? event.creator : '']
  const token = mints.intern(event.mint)
  return block.append(time, time, kind, token, numbersOf(event), signature, trader, detailsOf(event))
}

function numbersOf(event: MarketEvent): RowNumbers {
  const { marketCapSol: marketCap } = event
  if (event.type === 'trade') {
    const { price, sol, tokens, slippagePercent, priorityFeeSol } = event
    return { price, amount: sol, size: tokens, marketCap, extra: slippagePercent, extra2: priorityFeeSol }
  }
  const none = Number.NaN
  if (event.type === 'newToken')
    return { price: none, amount: event.liquiditySol, size: none, marketCap, extra: none, extra2: none }
  const { price, liquiditySol, volume24hSol, changePercent, change24hPercent } = event
  return {
    ...{ price, amount: liquiditySol * SOL_USD, size: volume24hSol, marketCap },
    ...{ extra: changePercent, extra2: change24hPercent },
  }
}

function detailsOf(event: MarketEvent): TokenDetails | undefined {
  if (event.type !== 'newToken') return undefined
  const { symbol, name, metadata } = event
  return { symbol, name, metadata }
}

/** Runs a market up to a time, step by step. Calls `before` with the market time of each step, ms, before the events of
 *  the step are emitted. */
export function runSteps(market: Market, until: number, before: (at: number) => void): void {
  for (let at = market.nextAt; at !== undefined && at <= until; at = market.nextAt) {
    before(at)
    market.advance(at)
  }
}
