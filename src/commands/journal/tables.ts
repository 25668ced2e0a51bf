import { liquidationOf } from '../../backtest/report/liquidation-value.ts'
import { printable } from '../../base/text.ts'
import { type JournalReader, openReader } from '../../journal/reader/reader.ts'
import { PRINTED_FILL } from '../../journal/schema/fills.ts'
import { defineCommand, JOURNAL, JSON_LINE } from '../options.ts'
import { table } from '../terminal.ts'

export const orders = defineCommand({
  options: { journal: JOURNAL, json: JSON_LINE },
  run: async (_args, options) =>
    printJournal({
      name: 'orders',
      read: (reader) => reader.orders(),
      columns: ['id', 'bot', 'mint', 'side', 'state', 'code', 'reason'],
      hint: 'run `sluice why ORDER` to see why an order was made and how it ended',
      ...options,
    }),
})

/** Lists the fills with their costs. `?` marks a fee whose amount is unknown because the traded price includes it. */
export const fills = defineCommand({
  options: { journal: JOURNAL, json: JSON_LINE },
  run: async (_args, options) =>
    printJournal({
      name: 'fills',
      read: options.json ? (reader) => reader.fills() : tableRows,
      columns: Object.keys(PRINTED_FILL),
      ...options,
    }),
})

export const positions = defineCommand({
  options: { journal: JOURNAL, json: JSON_LINE },
  run: async (_args, options) =>
    printJournal({
      name: 'positions',
      read: (reader) => reader.positions(liquidationOf(reader)),
      columns: ['bot', 'mint', 'state', 'tokens', 'costSol', 'valueSol', 'selling'],
      ...options,
    }),
})

function tableRows(reader: JournalReader): object[] {
  const cells = Object.entries(PRINTED_FILL)
  return reader.fills().map((row) => Object.fromEntries(cells.map(([heading, of]) => [heading, of(row)])))
}

type Row = Readonly<Record<string, unknown>>

interface Listing {
  /** Name of the rows in messages, and the key of their array in JSON. */
  readonly name: string
  readonly read: (reader: JournalReader) => readonly object[]
  readonly columns: readonly string[]
  readonly journal: string
  readonly json: boolean
  /** Text that is printed to stderr below a table. */
  readonly hint?: string
}

/** Prints rows of a journal as a table or as one line of JSON. Returns the exit code. */
function printJournal({ name, read, columns, journal, json, hint }: Listing): number {
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

/** Heading of a column: `costSol` becomes COST SOL. */
function headingOf(column: string): string {
  return column.replace(/[A-Z]/g, ' $&').toUpperCase()
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  return printable(typeof value === 'number' ? String(Number(value.toPrecision(9))) : String(value))
}
