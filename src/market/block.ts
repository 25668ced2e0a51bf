import type { Millis } from '../base/units.ts'

/** Number of a mint in this process. `Mints` assigns the numbers without gaps. */
export type TokenId = number

/** Kind of a market row. The side of a trade is part of the kind, so rows need no column for the side. */
export const RowKind = { buy: 0, sell: 1, newToken: 2, priceUpdate: 3 } as const
export type RowKind = (typeof RowKind)[keyof typeof RowKind]

/** Columns of market rows. The table shows which field of the service a column holds, by kind of the row; NaN where the
 *  service sent no number.
 *
 *  | column      | trade        | newToken         | priceUpdate    |
 *  | price       | price        |                  | price          |
 *  | amount      | amount       | initialLiquidity | liquidityUsd   |
 *  | size        | tokensTraded |                  | volume24h      |
 *  | marketCap   | marketCap    | marketCap        | marketCap      |
 *  | extra       | slippage     |                  | priceChange    |
 *  | extra2      | priorityFee  |                  | priceChange24h |
 */
export interface Columns {
  /** Arrival time of the row by the runner's clock, ms since the epoch; never lower than in the row before. */
  readonly time: Float64Array
  /** The service's own `timestamp` of the event, ms. */
  readonly stamp: Float64Array
  readonly kind: Uint8Array
  readonly token: Uint32Array
  readonly price: Float64Array
  readonly amount: Float64Array
  readonly size: Float64Array
  readonly marketCap: Float64Array
  readonly extra: Float64Array
  readonly extra2: Float64Array
}

/** The strings of rows, decoded on demand. A live block keeps the strings that arrived, and a block from the tape keeps
 *  encoded bytes. */
export interface Texts {
  /** Transaction signature of a trade; '' if missing. */
  signature(row: number): string
  /** Trader of a trade, or creator of a new token; '' if missing. */
  trader(row: number): string
  /** Writes the signature (or the trader) as UTF-8 to the start of `target`. Returns the number of bytes, or -1 if they
   *  do not fit. */
  signatureInto(row: number, target: Uint8Array): number
  traderInto(row: number, target: Uint8Array): number
  /** The texts of a column as a tape packs them; absent if the block has them in another form. */
  readonly packed?: (column: 'signature' | 'trader') => PackedTexts
  /** Name, symbol and metadata of a new token. The texts are untrusted. */
  details(row: number): TokenDetails
}

/** A column of texts, packed in base58 (journal/tape/packed-text.ts). */
export interface PackedTexts {
  /** Packed texts of equal length. */
  readonly entries: Uint8Array
  /** The index in `entries` of each row's text: the element `firstRow + n`, its place, belongs to row n of the block.
   *  If null, the index is the place modulo the number of entries. */
  readonly index: Uint8Array | Uint16Array | null
  readonly firstRow: number
  /** Texts that cannot be packed, by the place (see `index`) of their row. The entries of these rows have no
   *  meaning. */
  readonly odd: Readonly<Record<number, string>> | undefined
}

export interface TokenDetails {
  readonly symbol: string
  readonly name: string
  readonly metadata: Readonly<Record<'description' | 'image' | 'website' | 'twitter', string>>
}

export const NO_DETAILS: TokenDetails = {
  symbol: '',
  name: '',
  metadata: { description: '', image: '', website: '', twitter: '' },
}

/** A batch of market rows in columns, append-only. The feed writes it, the engine reads it, the journal stores it, and
 *  a backtest loads it. All use this form, so a strategy sees only values that the tape can restore. */
export interface Block extends Columns {
  readonly length: number
  readonly texts: Texts
  /** Mints by token number. */
  readonly mints: readonly string[]
}

/** A trade as a strategy sees it, with the service's field names. A strategy may keep the object, because its fields
 *  are read from append-only columns. `toJSON` returns the service's message. */
export class Trade {
  /** Kind of the event. */
  readonly type = 'trade'
  readonly #block: Block
  readonly #row: number
  constructor(block: Block, row: number) {
    this.#block = block
    this.#row = row
  }
  /** Mint of the token, base58. */
  get mint(): string {
    return mintOf(this.#block, this.#row)
  }
  /** Signature of the transaction, base58; '' if missing. */
  get signature(): string {
    return this.#block.texts.signature(this.#row)
  }
  /** Public key of the trader, base58; '' if missing. */
  get trader(): string {
    return this.#block.texts.trader(this.#row)
  }
  /** Whether the trader bought or sold. */
  get side(): TradeSide {
    return this.#block.kind[this.#row] === RowKind.buy ? 'buy' : 'sell'
  }
  /** Price as the service sends it; NaN if missing. Use `token.price` for decisions, because this price is in SOL per
   *  token only if its unit is proved. */
  get price(): number {
    return this.#block.price[this.#row] as number
  }
  /** Size of the trade, SOL, once the unit is proved; NaN if missing. */
  get amount(): number {
    return this.#block.amount[this.#row] as number
  }
  /** Size of the trade, whole tokens; NaN if missing. */
  get tokensTraded(): number {
    return this.#block.size[this.#row] as number
  }
  /** Market capitalization as the service sends it, in a unit that the service does not document; NaN if missing.
   *  @unitless */
  get marketCap(): number {
    return this.#block.marketCap[this.#row] as number
  }
  /** Time of the event according to the service, ms since the Unix epoch. */
  get timestamp(): Millis {
    return this.#block.stamp[this.#row] as number
  }
  /** The trader's slippage limit, percent; NaN if missing. */
  get slippage(): number {
    return this.#block.extra[this.#row] as number
  }
  /** The trader's priority fee, SOL; NaN if missing. */
  get priorityFee(): number {
    return this.#block.extra2[this.#row] as number
  }
  /** Arrival time of the row, ms since the Unix epoch. */
  get time(): Millis {
    return this.#block.time[this.#row] as number
  }
  /** Returns the service's message. */
  toJSON(): object {
    const {
      type,
      mint,
      signature,
      trader,
      amount,
      tokensTraded,
      price,
      marketCap,
      timestamp,
      side,
      slippage,
      priorityFee,
    } = this
    return {
      type,
      mint,
      signature,
      trader,
      amount,
      tokensTraded,
      price,
      marketCap,
      timestamp,
      side,
      slippage,
      priorityFee,
    }
  }
}

/** The announcement of a new token, with the service's field names. A strategy may keep the object. `toJSON` returns
 *  the service's message. */
export class NewToken {
  /** Kind of the event. */
  readonly type = 'newToken'
  readonly #block: Block
  readonly #row: number
  constructor(block: Block, row: number) {
    this.#block = block
    this.#row = row
  }
  /** Mint of the token, base58. */
  get mint(): string {
    return mintOf(this.#block, this.#row)
  }
  /** Symbol of the token: untrusted text. */
  get symbol(): string {
    return this.#block.texts.details(this.#row).symbol
  }
  /** Name of the token: untrusted text. */
  get name(): string {
    return this.#block.texts.details(this.#row).name
  }
  /** Description and addresses of the token: untrusted text. */
  get metadata(): TokenDetails['metadata'] {
    return this.#block.texts.details(this.#row).metadata
  }
  /** Public key of the creator, base58; '' if missing. */
  get creator(): string {
    return this.#block.texts.trader(this.#row)
  }
  /** Liquidity at the launch as the service sends it: SOL on the curves of pump.fun; NaN if missing. */
  get initialLiquidity(): number {
    return this.#block.amount[this.#row] as number
  }
  /** Market capitalization as the service sends it, in a unit that the service does not document; NaN if missing.
   *  @unitless */
  get marketCap(): number {
    return this.#block.marketCap[this.#row] as number
  }
  /** Time of the event according to the service, ms since the Unix epoch. */
  get timestamp(): Millis {
    return this.#block.stamp[this.#row] as number
  }
  /** Arrival time of the row, ms since the Unix epoch. */
  get time(): Millis {
    return this.#block.time[this.#row] as number
  }
  /** Returns the service's message. */
  toJSON(): object {
    const { type, mint, symbol, name, creator, initialLiquidity, marketCap, timestamp, metadata } = this
    return { type, mint, symbol, name, creator, initialLiquidity, marketCap, timestamp, metadata }
  }
}

/** A price update of the service, with the service's field names. A strategy may keep the object. `toJSON` returns the
 *  service's message. */
export class PriceUpdate {
  /** Kind of the event. */
  readonly type = 'priceUpdate'
  readonly #block: Block
  readonly #row: number
  constructor(block: Block, row: number) {
    this.#block = block
    this.#row = row
  }
  /** Mint of the token, base58. */
  get mint(): string {
    return mintOf(this.#block, this.#row)
  }
  /** Price as the service sends it, SOL or USD per token; NaN if missing. Use `token.price` for decisions. */
  get price(): number {
    return this.#block.price[this.#row] as number
  }
  /** Change since the last update, percent; NaN if missing. */
  get priceChange(): number {
    return this.#block.extra[this.#row] as number
  }
  /** Change within 24 hours, percent; NaN if missing. */
  get priceChange24h(): number {
    return this.#block.extra2[this.#row] as number
  }
  /** Market capitalization as the service sends it, in a unit that the service does not document; NaN if missing.
   *  @unitless */
  get marketCap(): number {
    return this.#block.marketCap[this.#row] as number
  }
  /** Volume of 24 hours as the service sends it, in a unit that the service does not document; NaN if missing.
   *  @unitless */
  get volume24h(): number {
    return this.#block.size[this.#row] as number
  }
  /** Liquidity of the pool, USD; NaN if missing. */
  get liquidityUsd(): number {
    return this.#block.amount[this.#row] as number
  }
  /** Time of the event according to the service, ms since the Unix epoch. */
  get timestamp(): Millis {
    return this.#block.stamp[this.#row] as number
  }
  /** Arrival time of the row, ms since the Unix epoch. */
  get time(): Millis {
    return this.#block.time[this.#row] as number
  }
  /** Returns the service's message. */
  toJSON(): object {
    const { type, mint, price, priceChange, priceChange24h, marketCap, volume24h, liquidityUsd, timestamp } = this
    return { type, mint, price, priceChange, priceChange24h, marketCap, volume24h, liquidityUsd, timestamp }
  }
}

export type MarketEvent = Trade | NewToken | PriceUpdate

function mintOf(block: Block, row: number): string {
  return block.mints[block.token[row] as number] as string
}

/** Returns a row as an event of its kind. */
export function eventOf(block: Block, row: number): MarketEvent {
  const kind = block.kind[row] as RowKind
  if (kind <= RowKind.sell) return new Trade(block, row)
  return kind === RowKind.newToken ? new NewToken(block, row) : new PriceUpdate(block, row)
}

/** Side of a trade, from the view of the trader. */
export type TradeSide = 'buy' | 'sell'
