import { readFileSync } from 'node:fs'
import { encodeBase58, isPublicKey } from '../../solana/base58.ts'
import { Curve } from '../../solana/bonding-curve.ts'
import { digest } from '../keys.ts'
import {
  type CurveTrade,
  type Emit,
  type LaunchEvent,
  type Market,
  type MarketEvent,
  type MarketToken,
  type PriceEvent,
  SOL_USD,
  type TradeEvent,
  tradeEvent,
} from './market.ts'

/** Number of prints whose median is a token's price. A single print is not reliable: one in six shows only one part of
 *  a router's swap and is wrong by more than a factor of two. */
const MEDIAN_PRINTS = 9
/** Silence of the whole market after which the recorder is assumed to have stopped, ms. */
const STOP_MS = 30_000
const SHORTENED_STOP_MS = 1_000

interface RecordedToken extends MarketToken {
  prices: number[]
}

/** Replays a file of the service's messages (NDJSON, amounts and prices in SOL) by their timestamps. Interruptions of
 *  the recording (30 s and more of silence) are shortened to one second. Our orders execute on a curve at the recorded
 *  price; the next print of the token sets the curve to the recorded price again. At the end of the file there are no
 *  more events; with `repeat` the file starts again. */
export class RecordedMarket implements Market {
  /** Number of lines that are not market messages. */
  readonly skipped: number
  readonly #events: Recorded[]
  readonly #emit: Emit
  readonly #repeat: boolean
  readonly #tokens = new Map<string, RecordedToken>()
  #next = 0
  #round = 0

  constructor({ path, emit, repeat = false }: { path: string; emit: Emit; repeat?: boolean }) {
    const lines = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
    const events = lines.map(parseRecorded).filter((event) => event !== undefined)
    if (events.length === 0)
      throw new Error(`${path} has no market messages: expected one JSON message per line, e.g. {"type":"trade", ...}`)
    this.skipped = lines.length - events.length
    this.#events = withoutStops(events.sort((a, b) => a.timestamp - b.timestamp))
    this.#emit = emit
    this.#repeat = repeat
  }

  get nextAt(): number | undefined {
    const next = this.#events[this.#next]
    return next && this.#round * this.#roundMs + next.timestamp
  }

  advance(until: number): void {
    for (let at = this.nextAt; at !== undefined && at <= until; at = this.nextAt) {
      const { event } = this.#events[this.#next++]!
      this.#note(event)
      this.#emit(
        this.#round > 0 && event.type === 'trade' ? { ...event, signature: this.#signature(event.signature) } : event,
      )
      if (this.#next === this.#events.length && this.#repeat) {
        this.#next = 0
        this.#round++
      }
    }
  }

  token(mint: string): MarketToken | undefined {
    return this.#tokens.get(mint)
  }

  adopt(token: MarketToken): void {
    if (!this.#tokens.has(token.mint)) this.#tokens.set(token.mint, { ...token, prices: [] })
  }

  print(trade: CurveTrade): void {
    const token = this.#tokens.get(trade.mint)
    if (token) this.#emit(tradeEvent(token, trade))
  }

  /** Duration of one pass through the file, including the silence before the next pass. */
  get #roundMs(): number {
    return this.#events.at(-1)!.timestamp + SHORTENED_STOP_MS
  }

  /** Changes a signature in each pass, so that a client does not treat the events of a later pass as duplicates. */
  #signature(signature: string): string {
    return encodeBase58(Buffer.concat(['a', 'b'].map((half) => digest(signature, `${this.#round}${half}`))))
  }

  #note(event: MarketEvent): void {
    if (!isPublicKey(event.mint)) return
    const known = this.#tokens.get(event.mint)
    if (event.type === 'newToken' && !known) {
      const { mint, creator, symbol, name, metadata } = event
      this.#tokens.set(mint, { mint, creator, symbol, name, metadata, curve: new Curve(), prices: [] })
    } else if (event.type !== 'newToken' && event.price > 0)
      this.#price(known ?? this.#stranger(event.mint), event.price)
  }

  #stranger(mint: string): RecordedToken {
    const metadata = { description: '', image: '', website: '', twitter: '' }
    const token = { mint, creator: mint, symbol: '', name: '', metadata, curve: new Curve(), prices: [] }
    this.#tokens.set(mint, token)
    return token
  }

  #price({ prices, curve }: RecordedToken, price: number): void {
    prices.push(price)
    if (prices.length > MEDIAN_PRINTS) prices.shift()
    curve.moveTo([...prices].sort((a, b) => a - b)[prices.length >> 1]!)
  }
}

/** The events in order, with shortened interruptions and with times that begin at 0. */
function withoutStops(events: Recorded[]): Recorded[] {
  let last = events[0]!.timestamp
  let time = 0
  return events.map(({ timestamp, event }) => {
    const gap = timestamp - last
    last = timestamp
    time += gap > STOP_MS ? SHORTENED_STOP_MS : gap
    return { timestamp: time, event }
  })
}

/** A recorded message and the time at which the service sent it (ms since the epoch). */
export interface Recorded {
  timestamp: number
  event: MarketEvent
}

type Fields = Record<string, unknown>

/** Parses one line of a recording; undefined if it is not one of the three kinds of market messages. */
function parseRecorded(line: string): Recorded | undefined {
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
