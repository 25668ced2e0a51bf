import { exportTape } from '../../backtest/tape-export.ts'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { exportTax } from '../../journal/reader/tax-export.ts'
import { openTape } from '../../journal/tape-files.ts'
import { isPublicKey } from '../../solana/base58.ts'
import { DEFAULT_JOURNAL, defineCommand, JSON_LINE, text, texts, type Values } from '../options.ts'
import { marketBetween } from '../tape-window.ts'
import { withProgress } from '../terminal.ts'

const OPTIONS = {
  journal: texts('<db>', `read this journal; repeat to join several (default: ${DEFAULT_JOURNAL})`),
  out: text('<file>', 'write the tape to this file: .ndjson (or .jsonl) or .csv'),
  from: text('<time>', 'start the tape at this UTC time (2026-11-22T09:30)'),
  to: text('<time>', 'end the tape at this UTC time'),
  mint: texts('<mint>', 'write only the rows of this token; repeat for several'),
  tax: text('<file.csv>', 'write one line per sale with cost, proceeds and gain instead of the tape'),
  json: JSON_LINE,
}
type Options = Values<typeof OPTIONS>

/** Exports the tape with arrival times and gaps. With --tax, exports all sales instead of the tape. */
export const command = defineCommand({
  options: OPTIONS,
  async run(_args, options) {
    const { journal: given, out, from, to, mint, tax, json } = options
    const journals = given.length > 0 ? given : [DEFAULT_JOURNAL]
    if (tax !== undefined && out === undefined) {
      if (from !== undefined || to !== undefined || mint.length > 0)
        throw new SluiceError(
          '--from, --to and --mint select a part of the tape; --tax writes all sales',
          ExitCode.usage,
        )
      requireEnding('--tax', tax, ['.csv'])
      writeTax(journals, tax, json)
    } else if (out !== undefined && tax === undefined) {
      requireEnding('--out', out, ['.ndjson', '.jsonl', '.csv'])
      writeTape(journals, out, options)
    } else
      throw new SluiceError('export needs either --out FILE (the tape) or --tax FILE.csv (the sales)', ExitCode.usage)
    return 0
  },
})

/** Throws for any other ending of the file name, because the ending determines the format. */
function requireEnding(option: string, file: string, endings: readonly string[]): void {
  if (endings.some((ending) => file.toLowerCase().endsWith(ending))) return
  const known = new Intl.ListFormat('en', { type: 'disjunction' }).format(endings)
  throw new SluiceError(`${option} ${file}: expected a file that ends in ${known}`, ExitCode.usage)
}

function writeTape(journals: readonly string[], out: string, { from, to, mint, json }: Options): void {
  const wrong = mint.find((one) => !isPublicKey(one))
  if (wrong !== undefined)
    throw new SluiceError(`--mint ${wrong}: expected the address of a token (base58, 32 bytes)`, ExitCode.usage)
  const tape = openTape(journals)
  try {
    const market = marketBetween(tape.market, { from, to })
    const mints = mint.length > 0 ? new Set(mint) : undefined
    const exported = withProgress(market.rows, (line) =>
      exportTape(market, out, { mints, progress: (rows) => line.at(rows) }),
    )
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
  if (notFinal > 0) console.log(`left out ${notFinal} fills that a fork may still reverse`)
  if (sandbox > 0) console.log(`left out ${sandbox} movements on a sandbox, because its money is not real`)
  if (unknownCost > 0)
    console.log(
      `${unknownCost} disposals are of tokens of unknown origin: they have no purchase date, and their cost is 0`,
    )
}
