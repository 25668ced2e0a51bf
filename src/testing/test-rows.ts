import type { Millis } from '../base/units.ts'
import type { TradeSide } from '../market/block.ts'
import { RowKind, type TokenDetails } from '../market/block.ts'
import { LiveBlock, type RowNumbers } from '../market/live-block.ts'
import type { Mints } from '../market/mints.ts'
import { appendEvent } from '../sandbox/market/event-rows.ts'
import type { MarketEvent } from '../sandbox/market/market.ts'
import { isPublicKey } from '../solana/base58.ts'

/** Valid mint of a token that does not exist. The events of a test have this mint by default. */
export const MINT = 'TestToken1111111111111111111111111111111111'
/** Mint of a second token. The key is valid, but no such token exists. */
export const OTHER_MINT = 'TestToken2111111111111111111111111111111111'

interface When {
  /** Seconds after the previous event; default 1. */
  readonly afterSeconds?: number
  /** Age of the event at its arrival, seconds; default 0. */
  readonly ageSeconds?: number
  /** Mint of the event's token; default `MINT`. */
  readonly mint?: string
}

/** A trade on the feed. */
export interface TestTrade extends When {
  /** SOL per whole token. */
  readonly price: number
  /** Size of the trade in SOL; default 1, which is above the minimum size of a print. */
  readonly sol?: number
  /** Side of the trade. By default the trades of a mint alternate: buy, sell, buy, ... Without sales by others, the
   *  paper executor treats a token as UNSELLABLE. */
  readonly side?: TradeSide
  /** Public key of the trader; default: missing. */
  readonly trader?: string
  /** Signature of the transaction; default: a different one for each trade. */
  readonly signature?: string
  /** Market capitalization as the service sends it; default: missing. @unitless */
  readonly marketCap?: number
}

/** An announcement of a new token. */
export interface TestNewToken extends When {
  /** Name of the token; default `Test`. */
  readonly name?: string
  /** Symbol of the token; default `TEST`. */
  readonly symbol?: string
  /** Public key of the creator; default: missing. */
  readonly creator?: string
  /** Liquidity at the launch, SOL; default 30, the value at which a curve of pump.fun starts. */
  readonly initialLiquidity?: number
  /** Market capitalization as the service sends it; default: missing. @unitless */
  readonly marketCap?: number
  /** Description and addresses of the token; default: empty texts. */
  readonly metadata?: Partial<TokenDetails['metadata']>
}

/** A price update of the service. */
export interface TestPriceUpdate extends When {
  /** Price, SOL per whole token. */
  readonly price: number
  /** Change since the last update, percent; default: missing. */
  readonly priceChange?: number
  /** Change within 24 hours, percent; default: missing. */
  readonly priceChange24h?: number
  /** Market capitalization as the service sends it; default: missing. @unitless */
  readonly marketCap?: number
  /** Volume of 24 hours as the service sends it; default: missing. @unitless */
  readonly volume24h?: number
  /** Liquidity of the pool, USD; default: missing. */
  readonly liquidityUsd?: number
}

const NONE: RowNumbers = { price: NaN, amount: NaN, size: NaN, marketCap: NaN, extra: NaN, extra2: NaN }
const NO_METADATA = { description: '', image: '', website: '', twitter: '' }
const ROWS_A_BLOCK = 256

/** Counters that determine the signatures and sides of prints without given ones, and the times of the last prints. */
export class PrintCounts {
  #signatures = 0
  readonly #byMint = new Map<string, number>()
  readonly #lastAt = new Map<string, Millis>()

  printed(mint: string, time: Millis): void {
    this.#lastAt.set(mint, time)
  }

  /** Time of the last print of a mint; -Infinity if there was none. */
  lastOf(mint: string): Millis {
    return this.#lastAt.get(mint) ?? Number.NEGATIVE_INFINITY
  }

  nextSignature(): string {
    return `test-${++this.#signatures}`
  }

  sideOf(mint: string = MINT): TradeSide {
    const prints = this.#byMint.get(mint) ?? 0
    this.#byMint.set(mint, prints + 1)
    return prints % 2 === 0 ? 'buy' : 'sell'
  }
}

/** Writes rows as the feed does. */
export class TestRows {
  readonly #mints: Mints
  readonly #prints: PrintCounts
  #block: LiveBlock

  /** `prints`: counts that continue across a restart. */
  constructor(mints: Mints, prints: PrintCounts) {
    this.#mints = mints
    this.#prints = prints
    this.#block = this.#newBlock()
  }

  /** The block that ends with the row just written. */
  get block(): LiveBlock {
    return this.#block
  }

  trade(time: Millis, given: TestTrade): void {
    const { price, sol = 1, side = this.#prints.sideOf(given.mint), trader = '', marketCap = NaN } = given
    const { signature = this.#prints.nextSignature() } = given
    const numbers = { ...NONE, price, amount: sol, size: sol / price, marketCap }
    this.#append(time, given, side === 'buy' ? RowKind.buy : RowKind.sell, numbers, signature, trader)
    this.#prints.printed(given.mint ?? MINT, time)
  }

  newToken(time: Millis, given: TestNewToken): void {
    const { name = 'Test', symbol = 'TEST', creator = '', initialLiquidity = 30, marketCap = NaN, metadata } = given
    const details = { name, symbol, metadata: { ...NO_METADATA, ...metadata } }
    this.#append(time, given, RowKind.newToken, { ...NONE, amount: initialLiquidity, marketCap }, '', creator, details)
  }

  priceUpdate(time: Millis, given: TestPriceUpdate): void {
    const { price, priceChange = NaN, priceChange24h = NaN, marketCap = NaN, volume24h = NaN } = given
    const numbers = {
      ...{ price, marketCap, size: volume24h, amount: given.liquidityUsd ?? NaN },
      ...{ extra: priceChange, extra2: priceChange24h },
    }
    this.#append(time, given, RowKind.priceUpdate, numbers, '', '')
  }

  event(time: Millis, event: MarketEvent): void {
    this.#add(() => appendEvent(this.#block, this.#mints, time, event))
    if (event.type === 'trade') this.#prints.printed(event.mint, time)
  }

  #append(
    time: Millis,
    { mint = MINT, ageSeconds = 0 }: When,
    kind: RowKind,
    numbers: RowNumbers,
    signature: string,
    trader: string,
    details?: TokenDetails,
  ): void {
    if (!isPublicKey(mint))
      throw new RangeError(`invalid mint ${mint}: expected a base58 public key of 32 bytes, for example MINT`)
    const token = this.#mints.intern(mint)
    const stamp = time - Math.round(ageSeconds * 1000)
    this.#add(() => this.#block.append(time, stamp, kind, token, numbers, signature, trader, details))
  }

  #add(append: () => boolean): void {
    if (append()) return
    this.#block = this.#newBlock()
    if (!append()) throw new RangeError('the texts of the row are too long')
  }

  #newBlock(): LiveBlock {
    return new LiveBlock(this.#mints.list, ROWS_A_BLOCK)
  }
}
