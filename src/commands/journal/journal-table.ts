import { printable } from '../../base/text.ts'
import { type JournalReader, openReader } from '../../journal/reader/reader.ts'
import { table } from '../terminal.ts'

type Row = Readonly<Record<string, unknown>>

interface Listing {
  /** Name of the rows, and key of their array in JSON. */
  readonly name: string
  readonly read: (reader: JournalReader) => readonly object[]
  readonly columns: readonly string[]
  readonly journal: string
  readonly json: boolean
  /** Printed to stderr below a table. */
  readonly hint?: string
}

/** Prints rows of a journal as a table or as one line of JSON. Returns the exit code. */
export function printJournal({ name, read, columns, journal, json, hint }: Listing): number {
  const reader = openReader(journal)
  const rows = read(reader) as readonly Row[]
  reader.close()
  if (json) console.log(JSON.stringify({ [name]: rows }))
  else if (rows.length === 0) console.log(`no ${name} in ${journal}`)
  else for (const line of tableOf(rows, columns)) console.log(line)
  if (!json && hint !== undefined && rows.length > 0) console.error(hint)
  return 0
}

function tableOf(rows: readonly Row[], columns: readonly string[]): string[] {
  const cells = rows.map((row) => columns.map((column) => cellOf(row[column])))
  return table([columns.map(headingOf), ...cells], () => false)
}

/** `costSol` becomes COST SOL. */
function headingOf(column: string): string {
  return column.replace(/[A-Z]/g, ' $&').toUpperCase()
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  return printable(typeof value === 'number' ? String(Number(value.toPrecision(9))) : String(value))
}
