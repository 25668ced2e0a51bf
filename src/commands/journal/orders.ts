import type { Options } from '../options.ts'
import { printJournal } from './journal-table.ts'

export async function run(_args: string[], options: Options): Promise<number> {
  return printJournal(
    'orders',
    (reader) => reader.orders(),
    ['id', 'bot', 'mint', 'side', 'state', 'code', 'reason'],
    options,
    '`sluice why ORDER` says why one was made, and all that came of it',
  )
}
