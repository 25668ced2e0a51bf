import { defineCommand, JOURNAL, JSON_LINE } from '../options.ts'
import { printJournal } from './journal-table.ts'

export const command = defineCommand({
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
