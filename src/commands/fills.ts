import { printJournal } from './journal-table.ts'
import type { Options } from './options.ts'

export async function run(_args: string[], options: Options): Promise<number> {
  const columns = ['orderId', 'bot', 'mint', 'side', 'sol', 'tokens', 'feeSol', 'final', 'signature']
  return printJournal('fills', (reader) => reader.fills(), columns, options)
}
