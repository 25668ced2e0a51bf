import { csvCell, withoutGuard } from '../core/csv-cell.ts'
import { SluiceError } from '../core/errors.ts'
import { type Line, linesOf } from './capture.ts'

const TIMES = ['receivedAt', 'timestamp', 'from', 'to'] as const
const FIGURES = [
  ...(['price', 'amount', 'tokensTraded', 'marketCap', 'slippage', 'priorityFee', 'initialLiquidity'] as const),
  ...(['priceChange', 'priceChange24h', 'volume24h', 'liquidityUsd'] as const),
]
const TEXTS = ['signature', 'trader', 'symbol', 'name', 'creator'] as const
const METADATA = ['description', 'image', 'website', 'twitter'] as const
/** Of a file that is written. One that is read may have them in any order, lack most, and have others. */
const COLUMNS = ['type', ...TIMES, 'keys', 'mint', 'side', ...FIGURES, ...TEXTS, ...METADATA] as const
const NEEDED = ['type', 'mint', 'timestamp']
const NUMBERS: ReadonlySet<string> = new Set([...TIMES, ...FIGURES])
const KNOWN: ReadonlySet<string> = new Set(COLUMNS)

/** A description may go over some lines; what goes over more has a quote that was never closed. */
const MOST_LINES = 200

/** Whether a file is one by its name. */
export function isCsv(path: string): boolean {
  return path.toLowerCase().endsWith('.csv')
}

export const CSV_HEADER = COLUMNS.join(',')

/** A message of a capture as a line of CSV, without its end. Reads back as the same message. */
export function csvLine({ metadata, ...message }: Readonly<Record<string, unknown>>): string {
  const all: Readonly<Record<string, unknown>> = { ...message, ...(metadata as object | undefined) }
  return COLUMNS.map((name) => csvCell(all[name])).join(',')
}

/** The records of a CSV file, each as a line in the service's message format, with the number of the line where it begins. The first one
 *  names the columns. Throws SluiceError where it does not, or the file cannot be read. */
export function* csvLinesOf(path: string): Generator<Line, void, undefined> {
  let columns: readonly string[] | undefined
  for (const { number, text } of recordsOf(path)) {
    const cells = text === undefined ? undefined : cellsOf(text.replace(/\r$/, ''))
    if (columns === undefined) columns = columnsOf(path, cells)
    else if (cells?.length === 1 && cells[0] === undefined) continue
    else yield lineOf(number, cells === undefined ? 'its quotes' : messageOf(columns, cells))
  }
}

interface Numbered {
  readonly number: number
  readonly text: string
}

/** A quoted cell may hold line ends. Without text: its quotes do not pair; the lines behind the first are then read for themselves. */
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
      if (quotes % 2 === 1 && open.length < MOST_LINES) continue
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

/** undefined for a cell with nothing in it; undefined for all where a quote stands within a cell. */
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
  throw new SluiceError(`${path}:1: the first line has to name the columns; it lacks ${lacks.join(', ')}`)
}

/** The message, or what is wrong. */
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
