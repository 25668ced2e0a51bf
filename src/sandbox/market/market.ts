import type { Clock } from '../../base/machine.ts'
import { Curve, type Reserves } from '../../solana/bonding-curve.ts'
import { TOKEN_DECIMALS } from '../../solana/constants.ts'
import type { Records } from '../records.ts'

/** Exchange rate of the sandbox, USD per SOL. Because it is fixed, a client can find out from a token's numbers whether
 *  a price is in SOL or in USD. */
export const SOL_USD = 150

/** Market events in SOL and whole tokens. `frames.ts` formats them as messages of the service. */
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
  /** Price in SOL per whole token: sol / tokens. In a distorted print, one of these amounts and the price are wrong. */
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
  /** Price in SOL per whole token. */
  price: number
  /** Price change in percent since the last update. `change24hPercent`: since 24 hours ago, or since the launch. */
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

/** Texts about a token that its creator has chosen; some are hostile. */
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

/** An executed trade; amounts in lamports and base units. */
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

/** Tokens and their traders. A market has its own time, in milliseconds since it opened. */
export interface Market {
  /** Time of the next event; undefined if there will be none. */
  readonly nextAt: number | undefined
  /** Processes all events up to the market time `until` in order, and emits each of them once. */
  advance(until: number): void
  token(mint: string): MarketToken | undefined
  /** Adds a token from before a restart, because our wallets may hold it. */
  adopt(token: MarketToken): void
  /** Emits a print of our own trade, which has already moved the curve. */
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

/** At high speeds the market advances in steps of this much real time, to limit the number of timers. */
const STRIDE_MS = 5
/** Longest time, ms, for which the market runs without a pause while it catches up. No event is skipped. */
const LONGEST_TURN_MS = 20
/** Largest delay for which the market catches up, ms of real time. After a longer delay the market continues where it
 *  stopped, because catching up would take time from the other parts of the sandbox. */
const MAX_BEHIND_MS = 100

/** Runs a market in real time, `speed` times as fast. Returns a function that stops it. */
export function runMarket(market: Market, clock: Clock, speed: number): () => void {
  let startedAt = clock.now()
  let cancel = (): void => {}
  const turn = (): void => {
    const turnStartedAt = clock.now()
    const behind = turnStartedAt - startedAt - (market.nextAt ?? Number.POSITIVE_INFINITY) / speed
    if (behind > MAX_BEHIND_MS) startedAt += behind - MAX_BEHIND_MS
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

/** Saved form of a token that our wallets have traded. */
interface PoolRecord extends TokenLabel {
  creator: string
  reserves: Reserves
}

export function savePool(records: Records, { mint, creator, symbol, name, metadata, curve }: MarketToken): void {
  const pool: PoolRecord = { creator, symbol, name, metadata, reserves: curve.reserves }
  records.write([{ kind: 'pool', key: mint, body: pool }])
}

/** Restores the saved tokens after a restart, so that held tokens can be sold. */
export function restorePools(records: Records, market: Market): void {
  for (const [mint, { reserves, ...label }] of records.read<PoolRecord>('pool')) {
    market.adopt({ mint, ...label, curve: new Curve(reserves) })
  }
}
