import { liquidationOf } from '../../backtest/report/liquidation-value.ts'
import { defineCommand, JOURNAL, JSON_LINE } from '../options.ts'
import { printJournal } from './journal-table.ts'

export const command = defineCommand({
  options: { journal: JOURNAL, json: JSON_LINE },
  run: async (_args, options) =>
    printJournal({
      name: 'positions',
      read: (reader) => reader.positions(liquidationOf(reader)),
      columns: ['bot', 'mint', 'state', 'tokens', 'costSol', 'valueSol', 'selling'],
      ...options,
    }),
})
