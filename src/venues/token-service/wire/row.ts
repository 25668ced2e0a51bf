import type { Millis } from '../../../base/units.ts'
import { RowKind, type TokenDetails } from '../../../market/block.ts'
import type { RowBytes, RowNumbers } from '../../../market/live-block.ts'
import { bytesOf } from './bytes.ts'
import { type Frame, NUMBER, TEXT } from './frame.ts'

/** Reason why a market record was rejected. */
export type RowMisfit =
  | 'unknown type'
  | 'text too long'
  | 'mint'
  | 'side'
  | 'price'
  | 'amount'
  | 'tokensTraded'
  | 'timestamp'

const LONGEST_SIGNATURE = 88
const LONGEST_KEY = 44
const SHORTEST_KEY = 32
/** Largest number of milliseconds that a Date can hold. */
const LAST_TIME = 8.64e15

const TRADE = Buffer.from('trade')
const NEW_TOKEN = Buffer.from('newToken')
const PRICE_UPDATE = Buffer.from('priceUpdate')
const BUY = Buffer.from('buy')
const SELL = Buffer.from('sell')

/** A market record. Its numbers are in the order of a block's columns, and its texts are still positions in the frame.
 *  One object is reused for every frame. */
export class Row {
  kind: RowKind = RowKind.buy
  stamp: Millis = 0
  mintStart = 0
  mintEnd = 0
  details: TokenDetails | undefined
  readonly numbers: RowNumbers = { price: 0, amount: 0, size: 0, marketCap: 0, extra: 0, extra2: 0 }
  readonly texts: RowBytes = {
    ...bytesOf(new ArrayBuffer(0)),
    signatureStart: 0,
    signatureEnd: 0,
    traderStart: 0,
    traderEnd: 0,
  }

  /** Reads a frame. Returns the reason why it is rejected; '' if it is accepted. Every row needs a mint and a time, and
   *  trades and price updates need finite amounts. Other missing fields become NaN or ''. */
  read(frame: Frame): RowMisfit | '' {
    return this.#readKind(frame) || this.#readTexts(frame) || this.#readNumbers(frame)
  }

  #readKind(frame: Frame): RowMisfit | '' {
    if (frame.is('type', TRADE)) {
      if (frame.is('side', BUY)) this.kind = RowKind.buy
      else if (frame.is('side', SELL)) this.kind = RowKind.sell
      else return 'side'
    } else if (frame.is('type', PRICE_UPDATE)) this.kind = RowKind.priceUpdate
    else if (frame.is('type', NEW_TOKEN)) this.kind = RowKind.newToken
    else return 'unknown type'
    return ''
  }

  #readTexts({ source, starts, ends, details }: Frame): RowMisfit | '' {
    const { texts } = this
    const trader = this.kind === RowKind.newToken ? TEXT.creator : TEXT.trader
    this.details = details
    this.mintStart = starts[TEXT.mint] as number
    this.mintEnd = ends[TEXT.mint] as number
    texts.bytes = source.bytes
    texts.view = source.view
    texts.signatureStart = starts[TEXT.signature] as number
    texts.signatureEnd = ends[TEXT.signature] as number
    texts.traderStart = starts[trader] as number
    texts.traderEnd = ends[trader] as number
    if (this.mintEnd - this.mintStart < SHORTEST_KEY || this.mintEnd - this.mintStart > LONGEST_KEY) return 'mint'
    const isLong = texts.signatureEnd - texts.signatureStart > LONGEST_SIGNATURE
    return isLong || texts.traderEnd - texts.traderStart > LONGEST_KEY ? 'text too long' : ''
  }

  /** Reads the numbers of a frame. `Columns` in market/block.ts documents which field goes to which column. */
  #readNumbers({ numbers }: Frame): RowMisfit | '' {
    const row = this.numbers
    const stamp = numbers[NUMBER.timestamp] as number
    if (!(stamp >= 0 && stamp <= LAST_TIME)) return 'timestamp'
    this.stamp = Math.floor(stamp)
    row.marketCap = finite(numbers[NUMBER.marketCap] as number)
    if (this.kind === RowKind.newToken) {
      row.price = row.size = row.extra = row.extra2 = Number.NaN
      row.amount = finite(numbers[NUMBER.initialLiquidity] as number)
      return ''
    }
    row.price = finite(numbers[NUMBER.price] as number)
    if (!(row.price > 0)) return 'price'
    if (this.kind === RowKind.priceUpdate) {
      row.amount = finite(numbers[NUMBER.liquidityUsd] as number)
      row.size = finite(numbers[NUMBER.volume24h] as number)
      row.extra = finite(numbers[NUMBER.priceChange] as number)
      row.extra2 = finite(numbers[NUMBER.priceChange24h] as number)
      return ''
    }
    row.amount = finite(numbers[NUMBER.amount] as number)
    row.size = finite(numbers[NUMBER.tokensTraded] as number)
    row.extra = finite(numbers[NUMBER.slippage] as number)
    row.extra2 = finite(numbers[NUMBER.priorityFee] as number)
    if (!(row.amount >= 0)) return 'amount'
    return row.size >= 0 ? '' : 'tokensTraded'
  }
}

/** Maps infinity to NaN. JSON.parse returns infinity for a number such as 1e999. */
function finite(value: number): number {
  return value - value === 0 ? value : Number.NaN
}
