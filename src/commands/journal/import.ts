import { importTape } from '../../backtest/tape-import.ts'
import { printable } from '../../base/text.ts'
import type { Options } from '../options.ts'

/** Bad lines that are shown; the rest is counted. */
const SHOWN = 20

/** `sluice import FILE... --journal DB`: captures of the feed (NDJSON in the service's message format) as the tape of a
 *  new journal. */
export async function run(
  files: string[],
  { journal = 'data/sluice.db', strict = false, json }: Options,
): Promise<number> {
  let shown = 0
  const complain = (complaint: string): void => {
    if (++shown <= SHOWN) console.error(`sluice: ${printable(complaint)}`)
  }
  const imported = await importTape(files, journal, { strict, complain })
  if (shown > SHOWN) console.error(`sluice: and ${shown - SHOWN} more bad lines`)
  const { rows, gaps, badLines, duplicates, late, keys } = imported
  if (json === true) console.log(JSON.stringify(imported))
  else
    console.log(
      `${rows} market rows (${keys.join(', ')}) and ${gaps} gaps in ${journal}; ${badLines} bad lines, ${duplicates} duplicates, ${late} out of order`,
    )
  return 0
}
