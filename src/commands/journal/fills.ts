import type { JournalReader } from '../../journal/reader/reader.ts'
import { PRINTED_FILL } from '../../journal/schema/fills.ts'
import { defineCommand, JOURNAL, JSON_LINE } from '../options.ts'
import { printJournal } from './journal-table.ts'

/** Fills with their costs. `?` marks a fee whose amount is unknown because the traded price includes it. */
export const command = defineCommand({
  options: { journal: JOURNAL, json: JSON_LINE },
  run: async (_args, options) =>
    printJournal({
      name: 'fills',
      read: options.json ? (reader) => reader.fills() : tableRows,
      columns: Object.keys(PRINTED_FILL),
      ...options,
    }),
})

function tableRows(reader: JournalReader): object[] {
  const cells = Object.entries(PRINTED_FILL)
  return reader.fills().map((row) => Object.fromEntries(cells.map(([heading, of]) => [heading, of(row)])))
}
