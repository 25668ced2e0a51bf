import { RowKind } from '../../../market/block.ts'
import { asRecord, Frame, fillFrame, ownValue } from './frame.ts'
import { Row, type RowMisfit } from './row.ts'
import { Scanner } from './scan.ts'

/** What a frame of the service is. A row lies in `Decoder.row` until the next call. */
export type Decoded = { kind: 'row' } | Control | { kind: 'misfit'; why: Misfit }

export type Control =
  | { kind: 'authenticated'; userId: string; plan: string }
  | { kind: 'subscribed'; keys: readonly string[] }
  | { kind: 'pong' }
  /** `code` in capitals, '' where there is none; it need not be one of the document's. */
  | { kind: 'error'; code: string; message: string }

/** Why a frame does not fit. */
export type Misfit = RowMisfit | 'binary' | 'too long' | 'not JSON' | 'not an object' | 'no type' | 'no keys'

/** Bytes; no record or confirmation of the document comes near it. */
const LONGEST_FRAME = 1_048_576
const LONGEST_TEXT = 500

/** Wrong UTF-8 throws; a byte order mark stays, and so is no JSON. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const ROW: Decoded = { kind: 'row' }
const PONG: Control = { kind: 'pong' }

/** Reads the seven records that the service streams. Never throws, whatever comes; what does not fit is named by its
 *  reason. */
export class Decoder {
  readonly row = new Row()
  readonly #frame = new Frame()
  readonly #scanner = new Scanner()

  /** Bytes `start..end` of `data`. */
  decode(data: Uint8Array, binary: boolean, start = 0, end = data.length): Decoded {
    if (binary) return misfit('binary')
    if (end - start > LONGEST_FRAME) return misfit('too long')
    if (this.#scanner.scan(data, start, end, this.#frame)) {
      const why = this.row.read(this.#frame)
      // A new token has texts that the scanner passes over; an unknown type may be a control message.
      if (why === '' && this.row.kind !== RowKind.newToken) return ROW
      if (why !== '' && why !== 'unknown type') return misfit(why)
    }
    return this.#parse(data, start, end)
  }

  /** Fields of the last row that the document does not have: drift, not an error. */
  get unknownFields(): number {
    return this.#frame.unknownFields
  }

  #parse(data: Uint8Array, start: number, end: number): Decoded {
    let value: unknown
    try {
      value = JSON.parse(textOf(data, start, end))
    } catch {
      return misfit('not JSON')
    }
    const record = asRecord(value)
    if (record === undefined) return misfit('not an object')
    const type = ownValue(record, 'type')
    if (typeof type !== 'string') return misfit('no type')
    if (type !== 'trade' && type !== 'newToken' && type !== 'priceUpdate') return controlOf(type, record)
    if (!fillFrame(record, this.#frame)) return misfit('text too long')
    const why = this.row.read(this.#frame)
    return why === '' ? ROW : misfit(why)
  }
}

/** A Buffer reads a range without a view of it, and puts U+FFFD where the UTF-8 is wrong; only then it matters which it
 *  was. */
function textOf(data: Uint8Array, start: number, end: number): string {
  if (!(data instanceof Buffer)) return decoder.decode(data.subarray(start, end))
  const text = data.toString('utf8', start, end)
  return text.includes('\ufffd') ? decoder.decode(data.subarray(start, end)) : text
}

function controlOf(type: string, record: Readonly<Record<string, unknown>>): Decoded {
  const text = (name: string): string => {
    const value = ownValue(record, name)
    return typeof value === 'string' ? value.slice(0, LONGEST_TEXT) : ''
  }
  switch (type) {
    case 'pong':
      return PONG
    case 'authenticated':
      return { kind: 'authenticated', userId: text('userId'), plan: text('plan') }
    case 'subscribed': {
      const keys = ownValue(record, 'keys')
      return Array.isArray(keys)
        ? { kind: 'subscribed', keys: keys.filter((key) => typeof key === 'string') }
        : misfit('no keys')
    }
    case 'error':
      return { kind: 'error', code: text('code').toUpperCase(), message: text('message') }
    default:
      return misfit('unknown type')
  }
}

function misfit(why: Misfit): Decoded {
  return { kind: 'misfit', why }
}
