import { exportTape } from '../../backtest/tape-export.ts'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { exportTax } from '../../journal/reader/tax-export.ts'
import { openTape } from '../../journal/tape-files.ts'
import type { Options } from '../options.ts'

/** `sluice export --journal DB... --out FILE`: the tape as the service's messages, with when they arrived and what was
 *  missed; `--tax FILE`: what was sold. */
export async function run(_args: string[], options: Options): Promise<number> {
  const { journals = ['data/sluice.db'], out, tax, json } = options
  if ((out === undefined) === (tax === undefined))
    throw new SluiceError('export needs --out FILE (the tape) or --tax FILE.csv (what was sold)', ExitCode.usage)
  if (tax !== undefined) requireEnding('--tax', tax, ['.csv'])
  else if (out !== undefined) requireEnding('--out', out, ['.ndjson', '.jsonl', '.csv'])
  if (tax !== undefined) taxed(journals, tax, json === true)
  else taped(journals, out ?? '', json === true)
  return 0
}

/** The ending decides the format, so one that no format has is an error, not a file of another format. */
function requireEnding(option: string, file: string, endings: readonly string[]): void {
  if (endings.some((ending) => file.toLowerCase().endsWith(ending))) return
  const known = new Intl.ListFormat('en', { type: 'disjunction' }).format(endings)
  throw new SluiceError(`${option} ${file}: expected a file that ends in ${known}`, ExitCode.usage)
}

function taped(journals: readonly string[], out: string, json: boolean): void {
  const tape = openTape(journals)
  try {
    const exported = exportTape(tape.market, out)
    if (json) console.log(JSON.stringify(exported))
    else console.log(`${exported.rows} market rows and ${exported.gaps} gaps in ${out}`)
  } finally {
    tape.close()
  }
}

function taxed(journals: readonly string[], file: string, json: boolean): void {
  const told = exportTax(journals, file)
  if (json) {
    console.log(JSON.stringify(told))
    return
  }
  console.log(`${told.disposals} disposals in ${file}: first in, first out, amounts in SOL, live accounts only`)
  if (told.notFinal > 0) console.log(`${told.notFinal} fills are not final yet and not in it`)
  if (told.sandbox > 0) console.log(`${told.sandbox} movements on a sandbox are not in it: its money is not real`)
  if (told.unknownCost > 0)
    console.log(`${told.unknownCost} are of tokens that came from elsewhere: no date, and a cost of 0`)
}
