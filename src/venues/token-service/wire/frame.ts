import type { TokenDetails } from '../../../market/block.ts'
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

/** Text fields whose positions are kept. The name, symbol and metadata of a new token are stored in `details`
 *  instead. */
export const TEXT_FIELDS = ['type', 'mint', 'signature', 'trader', 'side', 'creator'] as const

export type NumberField = (typeof NUMBER_FIELDS)[number]
export type TextField = (typeof TEXT_FIELDS)[number]

/** Index of each field in the arrays of a frame. */
export const NUMBER = Object.fromEntries(NUMBER_FIELDS.map((name, index) => [name, index])) as Record<
  NumberField,
  number
>

export const TEXT = Object.fromEntries(TEXT_FIELDS.map((name, index) => [name, index])) as Record<TextField, number>

/** One market record: its numbers, and the positions of its texts. One object is reused for every frame. */
export class Frame {
  /** Buffer to which the positions in `starts` and `ends` refer. It contains the frame, or, if JSON.parse read the
   *  record, the texts encoded as UTF-8. */
  source: Bytes = bytesOf(new ArrayBuffer(0))
  /** Number fields, by index in NUMBER_FIELDS; NaN if the field is missing. */
  readonly numbers = new Float64Array(NUMBER_FIELDS.length)
  /** Positions at which each text field starts and ends; both are 0 if the field is missing. */
  readonly starts = new Int32Array(TEXT_FIELDS.length)
  readonly ends = new Int32Array(TEXT_FIELDS.length)
  details: TokenDetails | undefined
  /** Number of undocumented fields in the record. */
  unknownFields = 0

  clear(source: Bytes): void {
    this.source = source
    // For so few numbers a loop is faster than `fill`.
    for (let index = 0; index < NUMBER_FIELDS.length; index++) this.numbers[index] = Number.NaN
    for (let index = 0; index < TEXT_FIELDS.length; index++) this.starts[index] = this.ends[index] = 0
    this.details = undefined
    this.unknownFields = 0
  }

  /** Whether a text field has exactly these bytes. */
  is(field: TextField, expected: Uint8Array): boolean {
    const index = TEXT[field]
    const start = this.starts[index] as number
    if ((this.ends[index] as number) - start !== expected.length) return false
    const { bytes } = this.source
    for (let at = 0; at < expected.length; at++) if (bytes[start + at] !== expected[at]) return false
    return true
  }
}

/** Maximum length of each kind of text in a new token's details, in UTF-16 units. Longer texts are cut off there. */
const LONGEST = { symbol: 32, name: 128, description: 1000, url: 500 } as const
/** Maximum length of a text field. The longest valid text is a signature with 88 characters. A frame with a longer text
 *  is rejected. */
const LONGEST_TEXT = 128

/** Kind and index of each field; undefined for fields that are stored only in `details`. */
const PLACES = new Map<string, { readonly isText: boolean; readonly index: number } | undefined>([
  ...NUMBER_FIELDS.map((name, index) => [name, { isText: false, index }] as const),
  ...TEXT_FIELDS.map((name, index) => [name, { isText: true, index }] as const),
  ...['symbol', 'name', 'metadata'].map((name) => [name, undefined] as const),
])

/** Texts of the current record, one after the other in one buffer. */
const texts = bytesOf(new ArrayBuffer(TEXT_FIELDS.length * LONGEST_TEXT * 3))
/** `texts` as a Buffer, which encodes text three times as fast as a TextEncoder. */
const textBuffer = Buffer.from(texts.bytes.buffer)

/** Fills a frame from a parsed record that the scanner could not read. Returns false if a text is too long. */
export function fillFrame(record: Readonly<Record<string, unknown>>, frame: Frame): boolean {
  frame.clear(texts)
  let at = 0
  for (const name of Object.keys(record)) {
    const place = PLACES.get(name)
    if (place === undefined) {
      if (!PLACES.has(name)) frame.unknownFields++
      continue
    }
    const { isText, index } = place
    const value = record[name]
    if (typeof value === 'number' && !isText) frame.numbers[index] = value
    if (typeof value !== 'string' || !isText) continue
    if (value.length > LONGEST_TEXT) return false
    frame.starts[index] = at
    at += textBuffer.write(value, at)
    frame.ends[index] = at
  }
  if (record.type === 'newToken') frame.details = detailsOf(record)
  return true
}

function detailsOf(record: Readonly<Record<string, unknown>>): TokenDetails {
  const metadata = asRecord(ownValue(record, 'metadata')) ?? {}
  return {
    symbol: shortText(record, 'symbol', LONGEST.symbol),
    name: shortText(record, 'name', LONGEST.name),
    metadata: {
      description: shortText(metadata, 'description', LONGEST.description),
      image: shortText(metadata, 'image', LONGEST.url),
      website: shortText(metadata, 'website', LONGEST.url),
      twitter: shortText(metadata, 'twitter', LONGEST.url),
    },
  }
}

/** Returns a text cut to `longest` UTF-16 units; '' if the value is not a string. The result is well formed even if the
 *  cut splits a surrogate pair. */
function shortText(record: Readonly<Record<string, unknown>>, name: string, longest: number): string {
  const value = ownValue(record, name)
  return typeof value === 'string' ? value.slice(0, longest).toWellFormed() : ''
}

export function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isRecord ? (value as Record<string, unknown>) : undefined
}

/** Reads a field of an untrusted record. Only own properties count, because a field may have the name of a property of
 *  Object.prototype. */
export function ownValue(record: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined
}
