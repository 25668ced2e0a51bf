import { printable } from '../../base/text.ts'
import { type JournalReader, openReader } from '../../journal/reader/reader.ts'
import type { Options } from '../options.ts'

type Row = Readonly<Record<string, unknown>>

/** Prints rows of a journal: one line of JSON with an array called `name`, or a table of the given columns with a hint
 *  on stderr. */
export function printJournal(
  name: string,
  read: (reader: JournalReader) => readonly object[],
  columns: readonly string[],
  { journal = 'data/sluice.db', json }: Options,
  hint = '',
): number {
  const reader = openReader(journal)
  const rows = read(reader) as readonly Row[]
  reader.close()
  if (json === true) console.log(JSON.stringify({ [name]: rows }))
  else for (const line of tableOf(rows, columns, `no ${name} in ${journal}`)) console.log(line)
  if (json !== true && hint !== '' && rows.length > 0) console.error(hint)
  return 0
}

function tableOf(rows: readonly Row[], columns: readonly string[], empty: string): string[] {
  if (rows.length === 0) return [empty]
  const cells = rows.map((row) => columns.map((column) => cellOf(row[column])))
  const heads = columns.map(headOf)
  const widths = heads.map((head, at) => Math.max(head.length, ...cells.map((row) => row[at]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()
  return [line(heads), ...cells.map(line)]
}

/** `costSol` is COST SOL. */
function headOf(column: string): string {
  return column.replace(/[A-Z]/g, ' $&').toUpperCase()
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  return printable(typeof value === 'number' ? String(Number(value.toPrecision(9))) : String(value))
}
