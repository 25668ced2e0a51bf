import { createInterface } from 'node:readline/promises'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { formatSol } from '../../base/units.ts'
import { isOrderId } from '../../live/control/command.ts'
import { isSignature } from '../../solana/base58.ts'
import type { Options } from '../options.ts'
import { steer, tell } from './steer.ts'
import { steeredJournal } from './steered-journal.ts'

/** `sluice resolve ORDER`: what is known of an order that the chain has not decided; with --executed or --not-executed
 *  a person does. */
export async function run([order = '']: string[], options: Options): Promise<number> {
  const { executed, notExecuted } = options
  if (!isOrderId(order)) throw new SluiceError('resolve needs the id of an order, such as o12', ExitCode.usage)
  if (executed !== undefined && notExecuted === true)
    throw new SluiceError('it either executed or it did not', ExitCode.usage)
  if (executed !== undefined && !isSignature(executed))
    throw new SluiceError('--executed needs the signature of a transaction', ExitCode.usage)
  if (executed !== undefined) return steer({ command: 'resolve', order, verdict: { executed } }, options)
  if (notExecuted !== true) return steer({ command: 'resolve', order, verdict: 'show' }, options)
  const chosen: Options = { journal: await steeredJournal(options), yes: options.yes === true }
  await confirmRisk(order, chosen)
  return steer({ command: 'resolve', order, verdict: 'not-executed' }, chosen)
}

/** Nobody should say so by habit: he types what he may lose. */
async function confirmRisk(order: string, options: Options): Promise<void> {
  const shown = { command: 'resolve', order, verdict: 'show' } as const
  const { text, held, riskLamports } = (await tell(shown, options)) as {
    text: string
    held: boolean
    riskLamports: number
  }
  for (const line of text.split('\n')) console.error(printable(line))
  if (!held) throw new SluiceError(`${order} is not held: it decides itself`)
  const risk = formatSol(riskLamports)
  console.error(`\nat risk, if it did execute and is bought again: ${risk} SOL`)
  if (options.yes === true) return
  if (process.stdin.isTTY !== true)
    throw new SluiceError('this has to be confirmed by a person, or by --yes', ExitCode.unsafe)
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await prompt.question(`Type ${risk} to go on: `)
  prompt.close()
  if (answer.trim() !== risk) throw new SluiceError('not confirmed', ExitCode.unsafe)
}
