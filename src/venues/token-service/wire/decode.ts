import { RowKind } from '../../../market/block.ts'
import { asRecord, Frame, fillFrame, ownValue } from './frame.ts'
import { Row, type RowMisfit } from './row.ts'
import { Scanner } from './scan.ts'

/** Result of decoding a frame. The data of a row is in `Decoder.row` until the next call. */
export type Decoded = { kind: 'row' } | Control | { kind: 'misfit'; why: Misfit }

export type Control =
  | { kind: 'authenticated'; userId: string; plan: string }
  | { kind: 'subscribed'; keys: readonly string[] }
  | { kind: 'pong' }
  /** `code` is in capitals, and '' if missing. It may be an undocumented code. */
  | { kind: 'error'; code: string; message: string }

/** Why a frame was rejected. */
export type Misfit = RowMisfit | 'binary' | 'too long' | 'not JSON' | 'not an object' | 'no type' | 'no keys'

/** Maximum length of a frame in bytes. Documented records and confirmations are far shorter. */
const LONGEST_FRAME = 1_048_576
const LONGEST_TEXT = 500

/** A decoder that throws on invalid UTF-8. It keeps a byte order mark, so that JSON.parse rejects a text with one. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const ROW: Decoded = { kind: 'row' }
const PONG: Control = { kind: 'pong' }

/** Decodes the seven record types of the feed. Never throws; for a rejected frame, the result is the reason. */
export class Decoder {
  readonly row = new Row()
  readonly #frame = new Frame()
  readonly #scanner = new Scanner()

  /** Decodes bytes `start..end` of `data`. */
  decode(data: Uint8Array, binary: boolean, start = 0, end = data.length): Decoded {
    if (binary) return misfit('binary')
    if (end - start > LONGEST_FRAME) return misfit('too long')
    if (this.#scanner.scan(data, start, end, this.#frame)) {
      const why = this.row.read(this.#frame)
      // The record of a new token has texts that the scanner skips, and a record of unknown type may be a control
      // message. Records of both types are parsed below.
      if (why === '' && this.row.kind !== RowKind.newToken) return ROW
      if (why !== '' && why !== 'unknown type') return misfit(why)
    }
    return this.#parse(data, start, end)
  }

  /** Number of undocumented fields in the last row. They show a change of the service, not an error. */
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

/** Decodes a range of bytes as UTF-8. A Buffer is fast, but replaces invalid UTF-8 by U+FFFD. If the text contains
 *  U+FFFD, the strict decoder checks whether the bytes are valid. */
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
