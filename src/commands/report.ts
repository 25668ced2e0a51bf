import { openReader } from '../journal/reader.ts'
import { tradesOf } from './bot-trades.ts'
import type { Options } from './options.ts'
import { reportText } from './report-text.ts'

/** `sluice report`: what each bot of a journal has made, and by what. `sluice ledger` has the same money by line. */
export async function run(_args: string[], { journal = 'data/sluice.db', json }: Options): Promise<number> {
  const reader = openReader(journal)
  try {
    const bots = tradesOf(reader)
    if (json === true) console.log(JSON.stringify({ bots }))
    else for (const line of reportText(bots, journal)) console.log(line)
    return 0
  } finally {
    reader.close()
  }
}
