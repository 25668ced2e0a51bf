import { bringUpToDate } from '../../journal/migration.ts'
import type { Options } from '../options.ts'

/** `sluice migrate --journal DB`: a journal of an older Sluice, to be read by this one. */
export async function run(_args: string[], { journal = 'data/sluice.db', json }: Options): Promise<number> {
  const { from, to } = bringUpToDate(journal)
  if (json === true) console.log(JSON.stringify({ from, to }))
  else if (from === to) console.log(`${journal} is up to date (schema ${to})`)
  else console.log(`${journal}: from schema ${from} to ${to}; an older Sluice does not read it any more`)
  return 0
}
