import type { TokenDetails } from '../../core/block.ts'
import { type Bytes, bytesOf } from './bytes.ts'

/** Number fields of the three market records, in the order of `Frame.numbers`. */
export const NUMBER_FIELDS = [
  'amount',
  'tokensTraded',
  'price',
  'marketCap',
  'timestamp',
  'slippage',
  'priorityFee',
  'initialLiquidity',
  'priceChange',
  'priceChange24h',
  'volume24h',
  'liquidityUsd',
] as const

/** Text fields whose bytes are kept; a new token's name, symbol and metadata become `details`. */
export const TEXT_FIELDS = ['type', 'mint', 'signature', 'trader', 'side', 'creator'] as const

export type NumberField = (typeof NUMBER_FIELDS)[number]
export type TextField = (typeof TEXT_FIELDS)[number]

/** Place of each field in the arrays of a frame. */
export const NUMBER = Object.fromEntries(NUMBER_FIELDS.map((name, index) => [name, index])) as Record<
  NumberField,
  number
>
export const TEXT = Object.fromEntries(TEXT_FIELDS.map((name, index) => [name, index])) as Record<TextField, number>

/** One market record taken apart: numbers, and where its texts lie. One object, used again for every frame. */
export class Frame {
  /** What `starts` and `ends` point into: the buffer of the frame itself, or texts that were decoded and written again. */
  source: Bytes = bytesOf(new ArrayBuffer(0))
  /** NaN where the field is missing. */
  readonly numbers = new Float64Array(NUMBER_FIELDS.length)
  /** Both 0 where the field is missing. */
  readonly starts = new Int32Array(TEXT_FIELDS.length)
  readonly ends = new Int32Array(TEXT_FIELDS.length)
  details: TokenDetails | undefined
  /** Fields that the document does not have. */
  unknownFields = 0

  clear(source: Bytes): void {
    this.source = source
    // Loops: for so few numbers `fill` costs more than it does.
    for (let index = 0; index < NUMBER_FIELDS.length; index++) this.numbers[index] = Number.NaN
    for (let index = 0; index < TEXT_FIELDS.length; index++) this.starts[index] = this.ends[index] = 0
    this.details = undefined
    this.unknownFields = 0
  }

  /** Whether a text is exactly these bytes. */
  is(field: TextField, expected: Uint8Array): boolean {
    const index = TEXT[field]
    const start = this.starts[index] as number
    if ((this.ends[index] as number) - start !== expected.length) return false
    const { bytes } = this.source
    for (let at = 0; at < expected.length; at++) if (bytes[start + at] !== expected[at]) return false
    return true
  }
}
