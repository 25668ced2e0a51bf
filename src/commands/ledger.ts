import { ExitCode, SluiceError } from '../core/errors.ts'
import { holdingsOf } from '../core/lots.ts'
import { openReader } from '../journal/reader.ts'
import { entriesText, ledgerText } from './ledger-text.ts'
import { liquidationOf } from './ledger-value.ts'
import type { Options } from './options.ts'
import { profitsOf } from './profit.ts'

/** `sluice ledger`: where the SOL of each wallet went, and what was made with it; `sluice ledger ORDER`: the postings of one order. Exit 1
 *  where a lamport is not explained. */
export async function run([order]: string[], { journal = 'data/sluice.db', json }: Options): Promise<number> {
  return order === undefined ? books(journal, json === true) : entries(journal, order, json === true)
}

function books(journal: string, json: boolean): number {
  const reader = openReader(journal)
  try {
    const ledger = reader.ledger()
    const profit = profitsOf(holdingsOf(reader.movements()), liquidationOf(reader))
    if (json) console.log(JSON.stringify({ ledger, profit }))
    else if (ledger.length === 0) console.log(`no ledger in ${journal}: nothing was traded`)
    else
      for (const one of ledger) {
        const own = profit.filter(({ account }) => account === one.account)
        for (const line of ledgerText(one, own)) console.log(line)
      }
    return ledger.some(({ audit }) => (audit?.remainderLamports ?? 0) !== 0) ? ExitCode.failed : ExitCode.done
  } finally {
    reader.close()
  }
}

function entries(journal: string, order: string, json: boolean): number {
  if (!/^o\d{1,15}$/.test(order))
    throw new SluiceError(`not the id of an order: ${order}; \`sluice orders\` lists them`, ExitCode.usage)
  const reader = openReader(journal)
  try {
    const found = reader.ledgerEntries(order)
    if (json) console.log(JSON.stringify({ entries: found }))
    else if (found.length === 0) console.log(`${order} has moved no money`)
    else for (const line of entriesText(found)) console.log(line)
    return ExitCode.done
  } finally {
    reader.close()
  }
}
