import { readFileSync } from 'node:fs'
import { encodeBase58, isPublicKey } from '../core/base58.ts'
import { digest } from './addresses.ts'
import { Curve } from './curve.ts'
import { type CurveTrade, type Emit, type Market, type MarketEvent, type MarketToken, tradeEvent } from './market.ts'
import { parseRecorded, type Recorded } from './recording.ts'

/** A token's price is the median of so many prints: one in six is a router leg and more than twice off. */
const MEDIAN_PRINTS = 9
/** Where a whole market is silent for so long the recorder had stopped; a player need not wait for it. */
const STOP_MS = 30_000
const SHORTENED_STOP_MS = 1_000

interface RecordedToken extends MarketToken {
  prices: number[]
}

/**
 * Plays a file of the service's messages (NDJSON, amounts and prices in SOL) by their timestamps, the recorder's stops
 * (30 s and more of silence) shortened to a second. Our orders execute on a curve at the recorded price, which the next
 * print of the token sets again. At the end: silence, or from the start again with `repeat`.
 */
export class RecordedMarket implements Market {
  /** Lines that are no market message. */
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
      throw new Error(`${path} has no market messages: expected one JSON message a line, e.g. {"type":"trade", ...}`)
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

  /** One round of the file, with a moment of silence before the next. */
  get #roundMs(): number {
    return this.#events.at(-1)!.timestamp + SHORTENED_STOP_MS
  }

  /** A second round is not a duplicate of the first. */
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

/** The events, in order, with times from 0 on. */
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
