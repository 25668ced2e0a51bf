import { createInterface } from 'node:readline/promises'
import { ExitCode, SluiceError } from '../core/errors.ts'

/** A person types yes, or said so before. Throws a SluiceError where none does. */
export async function confirm(option: string, question: string, yes: boolean): Promise<void> {
  if (yes) return
  refuseNobody(option, yes)
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await prompt.question(`\n${question} Type yes: `)
  prompt.close()
  if (answer.trim() !== 'yes') throw new SluiceError('not confirmed', ExitCode.unsafe)
}

/** Throws a SluiceError where there is nobody to ask. */
export function refuseNobody(option: string, yes: boolean): void {
  if (!yes && process.stdin.isTTY !== true)
    throw new SluiceError(`${option} has to be confirmed by a person, or by --yes`, ExitCode.unsafe)
}
