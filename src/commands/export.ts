import { ExitCode, SluiceError } from '../core/errors.ts'
import { openTape } from '../journal/tape-files.ts'
import { exportTape } from '../tape-export.ts'
import type { Options } from './options.ts'

/** `sluice export --journal DB... --out FILE`: the tape as the service's messages, with when they arrived and what was missed. */
export async function run(_args: string[], { journals = ['data/sluice.db'], out, json }: Options): Promise<number> {
  if (out === undefined) throw new SluiceError('export needs --out FILE', ExitCode.usage)
  const tape = openTape(journals)
  try {
    const exported = exportTape(tape.market, out)
    if (json === true) console.log(JSON.stringify(exported))
    else console.log(`${exported.rows} market rows and ${exported.gaps} gaps in ${out}`)
  } finally {
    tape.close()
  }
  return 0
}
