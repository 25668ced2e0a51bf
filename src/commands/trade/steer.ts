import { resolve } from 'node:path'
import { SluiceError } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { neighbourHint } from '../../journal/database.ts'
import { NothingRuns, sendCommand } from '../../live/control/client.ts'
import type { ControlCommand } from '../../live/control/command.ts'
import type { Options } from '../options.ts'
import { steeredJournal } from './steered-journal.ts'

/** Tells the process that runs on a journal to do something, and prints what it answers. */
export async function steer(command: ControlCommand, options: Options): Promise<number> {
  const answer = (await tell(command, options)) as { text?: string }
  for (const line of (answer.text ?? JSON.stringify(answer)).split('\n')) console.log(printable(line))
  return 0
}

/** The answer of the process that runs on the journal that the options name. Throws a SluiceError where none does, or
 *  it says no. */
export async function tell(command: ControlCommand, options: Options): Promise<object> {
  const journal = await steeredJournal(options)
  try {
    return await sendCommand(resolve(journal), command)
  } catch (error) {
    if (!(error instanceof NothingRuns)) throw error
    const needsChain = ['resolve', 'adopt', 'accept'].includes(command.command)
    const hint = command.command === 'halt' ? '; a file HALT beside the journal keeps the next start from buying' : ''
    if (!needsChain) throw new SluiceError(`${error.message}${neighbourHint(journal)}${hint}`)
    throw new SluiceError(
      `${error.message}: only a running process may write the journal and ask the chain. Start \`sluice run\` on it; an order in doubt ` +
        'goes on being proved from there, and most decide themselves. What is known of it by now: `sluice orders`',
    )
  }
}
