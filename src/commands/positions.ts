import { printJournal } from './journal-table.ts'
import { liquidationOf } from './ledger-value.ts'
import type { Options } from './options.ts'

export async function run(_args: string[], options: Options): Promise<number> {
  const columns = ['bot', 'mint', 'state', 'tokens', 'costSol', 'valueSol', 'selling']
  return printJournal('positions', (reader) => reader.positions(liquidationOf(reader)), columns, options)
}
