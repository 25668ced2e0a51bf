import { closeSync, openSync, readSync } from 'node:fs'
import type { RowKind } from '../core/block.ts'
import { ExitCode, SluiceError } from '../core/errors.ts'
import { Mints } from '../core/mints.ts'
import type { Millis } from '../core/units.ts'
import { MintIndex } from './mint-index.ts'
import { Decoder } from './wire/decode.ts'
import { asRecord, ownValue } from './wire/parse.ts'
import type { Row } from './wire/row.ts'

const FIRST_BYTES = 1 << 20
/** No line of a capture is longer. */
const MOST_BYTES = 1 << 23
const NEWLINE = 0x0a
/** Last ms that a Date can hold. */
const LAST_TIME = 8.64e15

/** A line of a file, as it lies in memory until the next one is asked for. */
export interface Line {
  readonly number: number
  readonly data: Buffer
  readonly start: number
  readonly end: number
  /** Why it cannot be a message, where that is known already. */
  readonly bad?: string
}

/** What a line of a capture is; a row lies in `CaptureReader.row` until the next call. */
export type Captured =
  | { readonly kind: 'row'; readonly key: string; readonly time: Millis }
  | { readonly kind: 'gap'; readonly time: Millis; readonly from: Millis; readonly keys: readonly string[] | undefined }
  /** Empty, or a message that says nothing of the market. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'bad'; readonly why: string }

const NOTHING: Captured = { kind: 'nothing' }
const KEYS: Record<RowKind, string> = { 0: 'trades', 1: 'trades', 2: 'newTokens', 3: 'priceUpdates' }

/** Reads what was kept of a feed, one message a line, with two additions: `receivedAt`, ms since the epoch, in any of them, and lines of
 *  type `gap` with `from`, `to` and `keys` for when nothing was heard. */
export class CaptureReader {
  readonly #decoder = new Decoder()
  readonly #index = new MintIndex(new Mints())

  get row(): Row {
    return this.#decoder.row
  }

  read({ data, start, end, bad: why }: Line): Captured {
    if (why !== undefined) return bad(why)
    if (data.subarray(start, end).every((byte) => byte <= 0x20)) return NOTHING
    const decoded = this.#decoder.decode(data, false, start, end)
    if (decoded.kind === 'row') return this.#row(data.subarray(start, end))
    if (decoded.kind !== 'misfit') return NOTHING
    return decoded.why === 'unknown type' ? gapOf(data.toString('utf8', start, end)) : bad(decoded.why)
  }

  #row(bytes: Buffer): Captured {
    const { row } = this
    if (this.#index.intern(row.texts, row.mintStart, row.mintEnd) < 0) return bad('mint')
    const key = KEYS[row.kind]
    if (!bytes.includes('"receivedAt"')) return { kind: 'row', key, time: row.stamp }
    const time = timeOf(recordOf(bytes.toString()), 'receivedAt')
    return time === undefined ? bad('receivedAt') : { kind: 'row', key, time }
  }
}

function gapOf(text: string): Captured {
  const record = recordOf(text)
  if (ownValue(record, 'type') !== 'gap') return bad('unknown type')
  const [from, to] = [timeOf(record, 'from'), timeOf(record, 'to')]
  const keys = ownValue(record, 'keys')
  if (from === undefined || to === undefined || from > to) return bad('from, to')
  if (keys === undefined) return { kind: 'gap', time: to, from, keys }
  const isList = Array.isArray(keys) && keys.every((key) => typeof key === 'string')
  return isList ? { kind: 'gap', time: to, from, keys } : bad('keys')
}

function recordOf(text: string): Readonly<Record<string, unknown>> {
  return asRecord(JSON.parse(text)) ?? {}
}

function timeOf(record: Readonly<Record<string, unknown>>, name: string): Millis | undefined {
  const value = ownValue(record, name)
  return typeof value === 'number' && value >= 0 && value <= LAST_TIME ? Math.floor(value) : undefined
}

function bad(why: string): Captured {
  return { kind: 'bad', why }
}

/** The lines of a file, counted from 1. One that is too long for any message comes cut off. Throws SluiceError where it cannot be read. */
export function* linesOf(path: string): Generator<Line, void, undefined> {
  const file = openFile(path)
  try {
    let data = Buffer.alloc(FIRST_BYTES)
    let filled = 0
    let number = 1
    for (let count = -1; count !== 0; ) {
      if (filled === data.length) {
        if (data.length >= MOST_BYTES)
          filled = data.length >> 1 // it does not fit, whatever else it holds
        else data = Buffer.concat([data], data.length * 2)
      }
      count = readSync(file, data, filled, data.length - filled, null)
      filled += count
      let start = 0
      for (let end = data.indexOf(NEWLINE); end >= 0 && end < filled; end = data.indexOf(NEWLINE, start)) {
        yield { number: number++, data, start, end }
        start = end + 1
      }
      if (count === 0 && start < filled) yield { number, data, start, end: filled }
      data.copyWithin(0, start, filled)
      filled -= start
    }
  } catch (error) {
    throw error instanceof Error && 'syscall' in error ? unreadable(path, error) : error
  } finally {
    closeSync(file)
  }
}

function openFile(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    throw unreadable(path, error as Error)
  }
}

/** Exit 2 where the path names no file, else 1. */
function unreadable(path: string, { message, code }: Error & { readonly code?: unknown }): SluiceError {
  const isNoFile = code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR'
  return new SluiceError(`${path} cannot be read: ${message}`, isNoFile ? ExitCode.usage : ExitCode.failed)
}
