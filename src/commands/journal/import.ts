import { statSync } from 'node:fs'
import { importTape } from '../../backtest/tape-import.ts'
import { printable } from '../../base/text.ts'
import { DEFAULT_JOURNAL, defineCommand, flag, JSON_LINE, text } from '../options.ts'
import { withProgress } from '../terminal.ts'

/** Number of errors that are printed; further errors are only counted. */
const SHOWN = 20

/** Imports recorded messages of the feed as the tape of a new journal. */
export const command = defineCommand({
  options: {
    journal: text('<db>', 'write this new journal', DEFAULT_JOURNAL),
    strict: flag('stop at the first invalid line and write nothing'),
    json: JSON_LINE,
  },
  async run(files, { journal, strict, json }) {
    let shown = 0
    const complain = (complaint: string): void => {
      if (++shown <= SHOWN) console.error(`sluice: ${printable(complaint)}`)
    }
    const bytes = files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0)
    const imported = await withProgress(
      2 * bytes,
      (line) => importTape(files, journal, { strict, complain, progress: (done) => line.at(done) }),
      'bytes',
    )
    if (shown > SHOWN) console.error(`sluice: and ${shown - SHOWN} more invalid lines`)
    const { rows, gaps, badLines, duplicates, late, keys } = imported
    if (json) console.log(JSON.stringify(imported))
    else
      console.log(
        `imported ${rows} market rows (${keys.join(', ')}) and ${gaps} gaps into ${journal}; ${badLines} invalid lines, ${duplicates} duplicates, ${late} out of order`,
      )
    return 0
  },
})
