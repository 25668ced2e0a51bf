import { exportTape } from '../../backtest/tape-export.ts'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { exportTax } from '../../journal/reader/tax-export.ts'
import { openTape } from '../../journal/tape-files.ts'
import { DEFAULT_JOURNAL, defineCommand, JSON_LINE, text, texts } from '../options.ts'
import { withProgress } from '../terminal.ts'

/** Exports the tape with arrival times and gaps, or with --tax all sales. */
export const command = defineCommand({
  options: {
    journal: texts('<db>', `read this journal; repeat to join several (default: ${DEFAULT_JOURNAL})`),
    out: text('<file>', 'write the tape to this file: .ndjson (or .jsonl) or .csv'),
    tax: text('<file.csv>', 'write one line per sale with cost, proceeds and gain instead of the tape'),
    json: JSON_LINE,
  },
  async run(_args, { journal: given, out, tax, json }) {
    const journals = given.length > 0 ? given : [DEFAULT_JOURNAL]
    if (tax !== undefined && out === undefined) {
      requireEnding('--tax', tax, ['.csv'])
      writeTax(journals, tax, json)
    } else if (out !== undefined && tax === undefined) {
      requireEnding('--out', out, ['.ndjson', '.jsonl', '.csv'])
      writeTape(journals, out, json)
    } else
      throw new SluiceError('export needs either --out FILE (the tape) or --tax FILE.csv (the sales)', ExitCode.usage)
    return 0
  },
})

/** Throws for any other ending of the file name, because the ending selects the format. */
function requireEnding(option: string, file: string, endings: readonly string[]): void {
  if (endings.some((ending) => file.toLowerCase().endsWith(ending))) return
  const known = new Intl.ListFormat('en', { type: 'disjunction' }).format(endings)
  throw new SluiceError(`${option} ${file}: expected a file that ends in ${known}`, ExitCode.usage)
}

function writeTape(journals: readonly string[], out: string, json: boolean): void {
  const tape = openTape(journals)
  try {
    const { market } = tape
    const exported = withProgress(market.rows, (line) => exportTape(market, out, (rows) => line.at(rows)))
    if (json) console.log(JSON.stringify(exported))
    else console.log(`exported ${exported.rows} market rows and ${exported.gaps} gaps to ${out}`)
  } finally {
    tape.close()
  }
}

function writeTax(journals: readonly string[], file: string, json: boolean): void {
  const exported = exportTax(journals, file)
  if (json) {
    console.log(JSON.stringify(exported))
    return
  }
  const { disposals, notFinal, sandbox, unknownCost } = exported
  console.log(`exported ${disposals} disposals of live accounts to ${file}: first in, first out, amounts in SOL`)
  if (notFinal > 0) console.log(`left out ${notFinal} fills that are not final yet`)
  if (sandbox > 0) console.log(`left out ${sandbox} movements on a sandbox: its money is not real`)
  if (unknownCost > 0)
    console.log(`${unknownCost} disposals are of tokens received from elsewhere: no date of purchase, cost 0`)
}
