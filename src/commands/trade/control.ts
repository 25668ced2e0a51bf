import { resolve } from 'node:path'
import { SluiceError } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { neighbourHint } from '../../journal/database.ts'
import { NothingRuns, sendCommand } from '../../live/control/client.ts'
import type { ControlCommand } from '../../live/control/command.ts'
import { type ProcessOptions, runningJournal } from './running-journal.ts'

/** Sends a command to the running process and prints the answer. */
export async function control(command: ControlCommand, options: ProcessOptions): Promise<number> {
  const answer = (await request(command, options)) as { text?: string }
  for (const line of (answer.text ?? JSON.stringify(answer)).split('\n')) console.log(printable(line))
  return 0
}

/** Sends a command to the running process and returns the answer. Throws a SluiceError if no process runs or if the
 *  process refuses. */
export async function request(command: ControlCommand, options: ProcessOptions): Promise<object> {
  const journal = await runningJournal(options)
  try {
    return await sendCommand(resolve(journal), command)
  } catch (error) {
    if (!(error instanceof NothingRuns)) throw error
    const needsChain = ['resolve', 'adopt', 'accept'].includes(command.command)
    const hint = command.command === 'halt' ? '; create a file HALT next to the journal to start without entries' : ''
    if (!needsChain) throw new SluiceError(`${error.message}${neighbourHint(journal)}${hint}`)
    throw new SluiceError(
      `${error.message}: only a running process can write the journal and query the chain. Start \`sluice run\` on it; ` +
        'it continues to look for undecided orders and decides most of them itself. To see their state now: `sluice orders`',
    )
  }
}
