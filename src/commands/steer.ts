import { resolve } from 'node:path'
import { printable } from '../core/printable.ts'
import { sendCommand } from '../runtime/control-client.ts'
import type { ControlCommand } from '../runtime/control-command.ts'
import type { Options } from './options.ts'

/** Tells the process that runs on a journal to do something, and prints what it answers. */
export async function steer(command: ControlCommand, { journal = 'data/sluice.db' }: Options): Promise<number> {
  const answer = (await sendCommand(resolve(journal), command)) as { text?: string }
  console.log(printable(answer.text ?? JSON.stringify(answer)))
  return 0
}
