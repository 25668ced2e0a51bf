import { closeSync, openSync, readSync } from 'node:fs'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { csvCell, withoutGuard } from '../../base/text.ts'
import type { Millis } from '../../base/units.ts'
import type { RowKind } from '../../market/block.ts'
import { Mints } from '../../market/mints.ts'
import type {
  Captured,
  CaptureImporter as CaptureImporterPort,
  CaptureReader as CaptureReaderPort,
  CaptureWriter,
  DeliverRows,
  Line,
} from '../venue.ts'
import { Intake } from './intake.ts'
import { MintIndex } from './mint-index.ts'
import { Decoder } from './wire/decode.ts'
import { asRecord, ownValue } from './wire/frame.ts'
import type { Row } from './wire/row.ts'

const FIRST_BYTES = 1 << 20
/** Maximum length of a line of a capture, in bytes. */
const MAX_BYTES = 1 << 23
const NEWLINE = 0x0a
/** Largest number of milliseconds that a Date can hold. */
const LAST_TIME = 8.64e15

const NOTHING: Captured = { kind: 'nothing' }
const KEYS: Record<RowKind, string> = { 0: 'trades', 1: 'trades', 2: 'newTokens', 3: 'priceUpdates' }

/** Reads a recorded feed: one message of the service per line, with two additions. Any message may have `receivedAt`
 *  (ms since the epoch), and a line of type `gap` has `from`, `to` and `keys` for an interruption. */
export class CaptureReader implements CaptureReaderPort {
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

/** A reader of captures (recorded feeds) that also appends the rows to blocks, and drops duplicates. */
export class CaptureImporter extends CaptureReader implements CaptureImporterPort {
  readonly #intake: Intake

  constructor(deliverRows: DeliverRows) {
    super()
    this.#intake = new Intake(new Mints(), () => true, deliverRows)
  }

  append(time: Millis): boolean {
    return this.#intake.add(this.row, time, 0) !== 'duplicate'
  }

  deliver(): void {
    this.#intake.deliver()
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

/** Yields the lines of a file, numbered from 1. A part of a line that is too long for any message is left out. Throws
 *  SluiceError if the file cannot be read. */
export function* linesOf(path: string): Generator<Line, void, undefined> {
  const file = openFile(path)
  try {
    let data = Buffer.alloc(FIRST_BYTES)
    let filled = 0
    let number = 1
    for (let count = -1; count !== 0; ) {
      if (filled === data.length) {
        if (data.length >= MAX_BYTES)
          filled = data.length >> 1 // the line is too long, so a part of it is left out
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

/** Returns the error for a file that cannot be read. Its exit code is 2 if there is no file at the path, else 1. */
function unreadable(path: string, { message, code }: Error & { readonly code?: unknown }): SluiceError {
  const isNoFile = code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR'
  return new SluiceError(`${path} cannot be read: ${message}`, isNoFile ? ExitCode.usage : ExitCode.failed)
}

const TIMES = ['receivedAt', 'timestamp', 'from', 'to'] as const

const FIGURES = [
  ...(['price', 'amount', 'tokensTraded', 'marketCap', 'slippage', 'priorityFee', 'initialLiquidity'] as const),
  ...(['priceChange', 'priceChange24h', 'volume24h', 'liquidityUsd'] as const),
]

const TEXTS = ['signature', 'trader', 'symbol', 'name', 'creator'] as const
const METADATA = ['description', 'image', 'website', 'twitter'] as const
/** Columns of a CSV file that Sluice writes. In a file that Sluice reads, their order does not matter, most of them may
 *  be missing, and other columns are ignored. */
const COLUMNS = ['type', ...TIMES, 'keys', 'mint', 'side', ...FIGURES, ...TEXTS, ...METADATA] as const
const NEEDED = ['type', 'mint', 'timestamp']
const NUMBERS: ReadonlySet<string> = new Set([...TIMES, ...FIGURES])
const KNOWN: ReadonlySet<string> = new Set(COLUMNS)
/** Maximum number of lines of a cell. A quoted description may have several lines; a cell with more than these lines
 *  has an unclosed quote. */
const MAX_LINES = 200

function isCsv(path: string): boolean {
  return path.toLowerCase().endsWith('.csv')
}

/** Yields the messages of a capture. The file is CSV if its name ends in .csv, else NDJSON. */
export function messageLinesOf(path: string): Generator<Line, void, undefined> {
  return isCsv(path) ? csvLinesOf(path) : linesOf(path)
}

export function captureWriter(path: string): CaptureWriter {
  return isCsv(path) ? { header: CSV_HEADER, line: csvLine } : { header: '', line: jsonLine }
}

function jsonLine(message: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(message, finite)
}

/** Omits numbers that are not finite from a line, because NaN stands for a number that the service did not send. */
function finite(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? undefined : value
}

export const CSV_HEADER = COLUMNS.join(',')

/** Formats a message of a capture as a CSV line, without the line end. `csvLinesOf` reads it back as the same
 *  message. */
export function csvLine({ metadata, ...message }: Readonly<Record<string, unknown>>): string {
  const all: Readonly<Record<string, unknown>> = { ...message, ...(metadata as object | undefined) }
  return COLUMNS.map((name) => csvCell(all[name])).join(',')
}

/** Yields the records of a CSV file, each converted to a line in the service's message format, with the number of its
 *  first line. The first record names the columns. Throws SluiceError if a required column is missing or the file
 *  cannot be read. */
export function* csvLinesOf(path: string): Generator<Line, void, undefined> {
  let columns: readonly string[] | undefined
  for (const { number, text } of recordsOf(path)) {
    const cells = text === undefined ? undefined : cellsOf(text.replace(/\r$/, ''))
    if (columns === undefined) columns = columnsOf(path, cells)
    else if (cells?.length === 1 && cells[0] === undefined) continue
    else yield lineOf(number, cells === undefined ? 'unpaired or misplaced quotes' : messageOf(columns, cells))
  }
}

interface Numbered {
  readonly number: number
  readonly text: string
}

/** Splits a file into CSV records. A quoted cell may contain line ends. `text` is undefined for a record with unpaired
 *  quotes; the lines after the record's first line are then parsed again as new records. */
function* recordsOf(path: string): Generator<{ number: number; text: string | undefined }, void, undefined> {
  const lines = linesOf(path)
  const again: Numbered[] = []
  let open: Numbered[] = []
  let quotes = 0
  for (;;) {
    const line = again.shift() ?? numbered(lines.next())
    if (line !== undefined) {
      open.push(line)
      quotes += line.text.split('"').length - 1
      if (quotes % 2 === 1 && open.length < MAX_LINES) continue
    }
    const [first] = open
    if (first === undefined) return
    if (quotes % 2 === 0) yield { number: first.number, text: open.map(({ text }) => text).join('\n') }
    else {
      yield { number: first.number, text: undefined }
      again.unshift(...open.slice(1))
    }
    open = []
    quotes = 0
  }
}

function numbered({ value, done }: IteratorResult<Line, void>): Numbered | undefined {
  if (done === true || value === undefined) return undefined
  return { number: value.number, text: value.data.toString('utf8', value.start, value.end) }
}

/** Splits a record into cells; an empty cell is undefined. Returns undefined if a quote is inside an unquoted cell. */
function cellsOf(text: string): (string | undefined)[] | undefined {
  const cells: (string | undefined)[] = []
  for (let at = 0; at <= text.length; at++) {
    if (text[at] === '"') {
      let end = at + 1
      while (text[end] !== '"' || text[end + 1] === '"') end += text[end] === '"' ? 2 : 1
      cells.push(text.slice(at + 1, end).replaceAll('""', '"'))
      at = end + 1
      if (at < text.length && text[at] !== ',') return undefined
    } else {
      const comma = text.indexOf(',', at)
      const end = comma < 0 ? text.length : comma
      const cell = text.slice(at, end)
      if (cell.includes('"')) return undefined
      cells.push(cell === '' ? undefined : cell)
      at = end
    }
  }
  return cells
}

function columnsOf(path: string, cells: readonly (string | undefined)[] | undefined): readonly string[] {
  const names = cells?.map((cell) => (cell ?? '').replace(/^\ufeff/, '').trim()) ?? []
  const lacks = NEEDED.filter((name) => !names.includes(name))
  if (lacks.length === 0) return names
  throw new SluiceError(`${path}:1: the first line must name the columns; missing: ${lacks.join(', ')}`)
}

/** Returns the message of a record, or the reason why the record is not a message. */
function messageOf(columns: readonly string[], cells: readonly (string | undefined)[]): object | string {
  if (cells.length > columns.length) return 'more cells than columns'
  const message: Record<string, unknown> = {}
  const metadata: Record<string, string> = {}
  for (const [index, cell] of cells.entries()) {
    const name = columns[index] as string
    if (cell === undefined || !KNOWN.has(name)) continue
    if (NUMBERS.has(name)) {
      const number = cell.trim() === '' ? Number.NaN : Number(cell)
      if (Number.isNaN(number)) return name
      message[name] = number
      continue
    }
    const text = withoutGuard(cell)
    if ((METADATA as readonly string[]).includes(name)) metadata[name] = text
    else message[name] = name === 'keys' ? text.split(' ') : text
  }
  const { type } = message
  return type === 'newToken' ? { ...message, metadata } : message
}

function lineOf(number: number, message: object | string): Line {
  if (typeof message === 'string') return { number, data: Buffer.alloc(0), start: 0, end: 0, bad: message }
  const data = Buffer.from(JSON.stringify(message))
  return { number, data, start: 0, end: data.length }
}
