import { ExitCode, SluiceError } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { formatSol } from '../../base/units.ts'
import { isOrderId } from '../../live/control/command.ts'
import { isSignature } from '../../solana/base58.ts'
import { defineCommand, flag, PROCESS, text } from '../options.ts'
import { confirm } from '../terminal.ts'
import { control, type ProcessChoice, request, runningJournal } from './control.ts'

/** Shows the evidence about an undecided order. With --executed or --not-executed, the operator decides whether it
 *  executed. */
export const command = defineCommand({
  options: {
    executed: text(
      '<signature>',
      'declare that this transaction executed the order; Sluice verifies this on the chain',
    ),
    notExecuted: flag('declare that an order that is held for your decision did not execute'),
    yes: flag('confirm without a prompt'),
    ...PROCESS,
  },
  async run([order = ''], { executed, notExecuted, yes, ...process }) {
    if (!isOrderId(order)) throw new SluiceError('resolve needs the id of an order, such as o12', ExitCode.usage)
    if (executed !== undefined && notExecuted)
      throw new SluiceError('--executed and --not-executed exclude each other', ExitCode.usage)
    if (executed !== undefined && !isSignature(executed))
      throw new SluiceError('--executed needs the signature of a transaction', ExitCode.usage)
    if (executed !== undefined) return control({ command: 'resolve', order, verdict: { executed } }, process)
    if (!notExecuted) return control({ command: 'resolve', order, verdict: 'show' }, process)
    const chosen = { journal: await runningJournal(process), config: [], json: process.json }
    await confirmRisk(order, chosen, yes)
    return control({ command: 'resolve', order, verdict: 'not-executed' }, chosen)
  },
})

/** Asks the person to type the amount at risk, so that a "yes" out of habit cannot decide the order. */
async function confirmRisk(order: string, process: ProcessChoice, yes: boolean): Promise<void> {
  const evidence = await request({ command: 'resolve', order, verdict: 'show' }, process)
  const { text, held, riskLamports } = evidence as { text: string; held: boolean; riskLamports: number }
  for (const line of text.split('\n')) console.error(printable(line))
  if (!held)
    throw new SluiceError(
      `${order} is not held for a decision by a person: the running process will find its outcome on the chain`,
    )
  const risk = formatSol(riskLamports)
  console.error(`\nat risk if the order did execute and the token is bought again: ${risk} SOL`)
  await confirm({ option: '--not-executed', question: 'Confirm the amount at risk.', answer: risk, yes })
}
