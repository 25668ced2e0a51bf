import { relative } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { journalPathOf } from '../../config/journal-path.ts'
import { running } from '../../live/control/running.ts'
import { DEFAULT_JOURNAL, type PROCESS, type Values } from '../options.ts'

export type ProcessOptions = Values<typeof PROCESS>

/** Journal of the process that a command addresses: from --journal, from --config, else of the only running process of
 *  this user, else the default journal. Throws a SluiceError (exit 2) if several processes run. */
export async function runningJournal({ journal, config }: ProcessOptions): Promise<string> {
  if (journal !== undefined && config.length > 0)
    throw new SluiceError('--journal and --config both select the process: give only one of them', ExitCode.usage)
  if (journal !== undefined) return journal
  if (config.length > 0) return shown(journalPathOf(config, process.cwd()))
  const all = await running()
  const [only] = all
  if (only === undefined) return DEFAULT_JOURNAL
  if (all.length > 1) {
    const lines = all.map((one) => `  --journal ${shown(one.journal)}   (process ${one.pid})`)
    throw new SluiceError(
      `${all.length} processes are running; select one of them:\n${lines.join('\n')}`,
      ExitCode.usage,
    )
  }
  if (shown(only.journal) !== DEFAULT_JOURNAL)
    console.error(`sluice: using process ${only.pid}, journal ${shown(only.journal)}`)
  return only.journal
}

/** Path as a person would type it in this folder. */
function shown(path: string): string {
  const near = relative('', path)
  return printable(near.startsWith('..') ? path : near)
}
