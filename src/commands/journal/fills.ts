import type { JournalReader } from '../../journal/reader/reader.ts'
import type { Options } from '../options.ts'
import { printJournal } from './journal-table.ts'

const COLUMNS = [
  ...['orderId', 'bot', 'mint', 'side', 'sol', 'tokens', 'venueFee', 'serviceFee', 'network', 'rent', 'other'],
  ...['wallet', 'final', 'signature'],
]

/** `sluice fills`: each with where its SOL went; a fee that is inside of what stands before it is `?`. */
export async function run(_args: string[], options: Options): Promise<number> {
  return printJournal('fills', options.json === true ? (reader) => reader.fills() : tableRows, COLUMNS, options)
}

function tableRows(reader: JournalReader): object[] {
  return reader.fills().map(({ costs, feeSol, rentSol, walletSol, ...row }) => ({
    ...row,
    venueFee: costs.unknown.includes('venueFee') ? '?' : costs.venueFeeSol,
    serviceFee: costs.unknown.includes('serviceFee') ? '?' : costs.serviceFeeSol,
    network: feeSol,
    rent: rentSol,
    other: costs.remainderSol + costs.wrappedSol,
    wallet: walletSol,
  }))
}
