import type { JournalReader } from '../../journal/reader/reader.ts'
import { PRINTED_FILL } from '../../journal/schema/fills.ts'
import type { Options } from '../options.ts'
import { printJournal } from './journal-table.ts'

/** `sluice fills`: each fill with where its SOL went. */
export async function run(_args: string[], options: Options): Promise<number> {
  const rows = options.json === true ? (reader: JournalReader) => reader.fills() : tableRows
  return printJournal('fills', rows, Object.keys(PRINTED_FILL), options)
}

function tableRows(reader: JournalReader): object[] {
  const cells = Object.entries(PRINTED_FILL)
  return reader.fills().map((row) => Object.fromEntries(cells.map(([heading, of]) => [heading, of(row)])))
}
