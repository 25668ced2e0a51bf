import { relative } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { journalPathOf } from '../../config/journal-path.ts'
import { running } from '../../live/control/running.ts'
import type { Options } from '../options.ts'

const USUAL = 'data/sluice.db'

/** The journal of the process that a command is for: by --journal, by the configuration (--config), else that of the
 *  only process of this user that runs. Throws SluiceError (exit 2) where several run. Where none is known, the usual
 *  journal. */
export async function steeredJournal({ journal, configs }: Pick<Options, 'journal' | 'configs'>): Promise<string> {
  if (journal !== undefined && configs !== undefined)
    throw new SluiceError('--journal and --config name the same thing twice: give one of them', ExitCode.usage)
  if (journal !== undefined) return journal
  if (configs !== undefined) return shown(journalPathOf(configs, process.cwd()))
  const all = await running()
  const [only] = all
  if (only === undefined) return USUAL
  if (all.length > 1) {
    const lines = all.map((one) => `  --journal ${shown(one.journal)}   (process ${one.pid})`)
    throw new SluiceError(`${all.length} processes run; say which one is meant:\n${lines.join('\n')}`, ExitCode.usage)
  }
  if (shown(only.journal) !== USUAL) console.error(`sluice: the process ${only.pid}, journal ${shown(only.journal)}`)
  return only.journal
}

/** As it is typed in this folder. */
function shown(path: string): string {
  const near = relative('', path)
  return printable(near.startsWith('..') ? path : near)
}
