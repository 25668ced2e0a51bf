import { liquidationOf } from '../../backtest/report/liquidation-value.ts'
import type { Options } from '../options.ts'
import { printJournal } from './journal-table.ts'

export async function run(_args: string[], options: Options): Promise<number> {
  const columns = ['bot', 'mint', 'state', 'tokens', 'costSol', 'valueSol', 'selling']
  return printJournal('positions', (reader) => reader.positions(liquidationOf(reader)), columns, options)
}
