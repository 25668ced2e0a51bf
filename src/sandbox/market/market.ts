import type { Clock } from '../../base/machine.ts'
import { Curve, type Reserves } from '../../solana/bonding-curve.ts'
import { TOKEN_DECIMALS } from '../../solana/constants.ts'
import type { Records } from '../records.ts'

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

/** At high speeds the market runs in strides of this much real time, so that timers do not rule the process. */
const STRIDE_MS = 5
/** A market that the process could not keep up with skips no event, but lets everything else run this often. */
const LONGEST_TURN_MS = 20
/** Real time that it fills up in one turn. Where a machine stood still for longer the market goes on later, not faster:
 *  filling all of it up would take the time that everybody else was short of. */
const MOST_BEHIND_MS = 100

/** Runs a market on the clock, `speed` times as fast as life. Returns how to stop it. */
export function runMarket(market: Market, clock: Clock, speed: number): () => void {
  let startedAt = clock.now()
  let cancel = (): void => {}
  const turn = (): void => {
    const turnStartedAt = clock.now()
    const behind = turnStartedAt - startedAt - (market.nextAt ?? Number.POSITIVE_INFINITY) / speed
    if (behind > MOST_BEHIND_MS) startedAt += behind - MOST_BEHIND_MS
    const due = (turnStartedAt - startedAt) * speed
    while (market.nextAt !== undefined && market.nextAt <= due && clock.now() - turnStartedAt < LONGEST_TURN_MS) {
      market.advance(Math.min(market.nextAt + STRIDE_MS * speed, due))
    }
    wait()
  }
  const wait = (): void => {
    if (market.nextAt === undefined) return
    const until = startedAt + market.nextAt / speed - clock.now()
    cancel = clock.after(Math.max(until, speed > 1 ? STRIDE_MS : 0), turn)
  }
  wait()
  return () => cancel()
}

/** A token that our wallets have traded, as it outlives the process. */
interface PoolRecord extends TokenLabel {
  creator: string
  reserves: Reserves
}

export function savePool(records: Records, { mint, creator, symbol, name, metadata, curve }: MarketToken): void {
  const pool: PoolRecord = { creator, symbol, name, metadata, reserves: curve.reserves }
  records.write([{ kind: 'pool', key: mint, body: pool }])
}

/** After a restart the market goes on with those tokens, so that what is held can be sold. */
export function restorePools(records: Records, market: Market): void {
  for (const [mint, { reserves, ...label }] of records.read<PoolRecord>('pool')) {
    market.adopt({ mint, ...label, curve: new Curve(reserves) })
  }
}
