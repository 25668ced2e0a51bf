import { ExitCode, SluiceError } from '../../base/errors.ts'
import { csvCell, printable } from '../../base/text.ts'
import { didYouMean } from '../../config/yaml/wording.ts'
import { cut, table, visibleWidth } from '../terminal.ts'

export type Cell = string | number | boolean | null

/** A column of a list. */
export interface Column<Row> {
  /** Name in --columns and in the first line of the CSV. The heading of the table shows it as words. */
  readonly name: string
  readonly of: (row: Row) => Cell
  /** Text in a table with enough room. If absent, the table shows the value itself. */
  readonly text?: (row: Row) => string
  /** Shorter text, for a table with too little room. If absent, the table shows `text`. */
  readonly short?: (row: Row) => string
  /** Text in the CSV, if the value itself is not suitable. */
  readonly csv?: (row: Row) => Cell
  /** Rank of the column. If a table is too narrow, columns with the highest ranks are left out first. */
  readonly rank: number
  /** Whether the text may be cut at the end, so that the other columns fit. */
  readonly isElastic?: boolean
  /** Whether a table omits the column if it is empty in every row. */
  readonly isOptional?: boolean
}

/** Returns the columns that --columns names, or all. Throws SluiceError (exit 2) for an unknown name. */
export function chosenColumns<Row>(all: readonly Column<Row>[], names: string | undefined): readonly Column<Row>[] {
  if (names === undefined) return all
  const chosen = names.split(',').map((text, index) => {
    const name = text.trim()
    const column = all.find((one) => one.name === name)
    if (column !== undefined) return column
    const known = all.map((one) => one.name)
    throw new SluiceError(
      printable(
        `--columns ${names}: column ${index + 1}, "${name}", is unknown${didYouMean(name, known)}; the columns are ${known.join(', ')}`,
      ),
      ExitCode.usage,
    )
  })
  return [...new Set(chosen)].map((column) => ({ ...column, isOptional: false }))
}

/** Lines of a table, and the names of the columns that were left out. */
export interface FittedTable {
  readonly lines: readonly string[]
  readonly leftOut: readonly string[]
}

const GAP = 2
/**
 * Smallest width, in characters, of the column that may be cut (`isElastic`) in a table with short texts. A table has
 * full texts only if this column gets at least `ROOMY_ELASTIC` characters.
 */
const LEAST_ELASTIC = 16
const ROOMY_ELASTIC = 48

/** Formats rows as a table of at most `room` characters a line. If the table is wider, all columns get their short
 *  texts, then the elastic column is cut, and then the columns of the highest ranks are left out. Lines are never
 *  wrapped. */
export function fittedTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  room = Number.POSITIVE_INFINITY,
): FittedTable {
  const used = columns.filter(({ isOptional, of }) => isOptional !== true || rows.some((row) => of(row) !== ''))
  let shown = used.map((column) => rendered(column, rows, false))
  if (leastWidth(shown) > room) shown = used.map((column) => rendered(column, rows, true))
  const leftOut: string[] = []
  while (leastWidth(shown) > room && shown.length > 1) {
    const least = shown.reduce((one, other) => (other.rank > one.rank ? other : one))
    leftOut.push(least.name)
    shown = shown.filter((one) => one !== least)
  }
  const spare = Math.max(0, room - leastWidth(shown))
  const cells = shown.map(({ isElastic, least }) => (isElastic ? least + spare : room))
  const lines = [
    shown.map(({ heading }) => heading),
    ...rows.map((_row, at) => shown.map(({ texts }) => texts[at] ?? '')),
  ]
  const isRight = (column: number): boolean => shown[column]?.isNumber === true
  return {
    lines: table(
      lines.map((line) => line.map((text, at) => cut(text, cells[at] ?? room))),
      isRight,
    ).map((line) => cut(line, room)),
    leftOut,
  }
}

/** A column with the text of each row. */
interface Rendered {
  readonly name: string
  readonly heading: string
  readonly texts: readonly string[]
  readonly rank: number
  readonly isNumber: boolean
  readonly isElastic: boolean
  /** Minimum width of the column. If the table has less room, the column is left out. */
  readonly least: number
}

function rendered<Row>(column: Column<Row>, rows: readonly Row[], isShort: boolean): Rendered {
  const { name, rank, of, text, short, isElastic = false } = column
  const textOf = (isShort ? short : undefined) ?? text ?? ((row: Row) => String(of(row) ?? ''))
  const texts = rows.map((row) => printable(textOf(row)) || '-')
  const heading = headingOf(name)
  const width = texts.reduce((most, one) => Math.max(most, visibleWidth(one)), heading.length)
  const isNumber = rows.some((row) => typeof of(row) === 'number') && name !== 'time' && !name.endsWith('At')
  return {
    name,
    heading,
    texts,
    rank,
    isNumber,
    isElastic,
    least: isElastic ? Math.min(width, isShort ? LEAST_ELASTIC : ROOMY_ELASTIC) : width,
  }
}

function leastWidth(columns: readonly Rendered[]): number {
  return columns.reduce((sum, { least }) => sum + least + GAP, -GAP)
}

/** Heading of a column: `costSol` becomes COST SOL. */
function headingOf(name: string): string {
  return name.replace(/[A-Z]/g, ' $&').toUpperCase()
}

/** Formats rows as CSV after RFC 4180: lines end with CRLF, and the first line has the names of the columns. A cell
 *  that a spreadsheet would read as a formula begins with a quote. */
export function csvOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const lines = rows.map((row) => columns.map(({ of, csv = of }) => csvCell(escaped(csv(row)))))
  return [columns.map(({ name }) => name), ...lines].map((cells) => `${cells.join(',')}\r\n`).join('')
}

function escaped(cell: Cell): Cell {
  return typeof cell === 'string' ? printable(cell) : cell
}
