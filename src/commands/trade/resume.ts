import { ExitCode, SluiceError } from '../../base/errors.ts'
import { isSignature } from '../../solana/base58.ts'
import { defineCommand, PROCESS, text } from '../options.ts'
import { control } from './control.ts'

export const command = defineCommand({
  options: {
    accept: text('<signature>', 'accept this foreign transaction of the wallet, or `all` unexplained ones'),
    ...PROCESS,
  },
  async run(_args, { accept, ...process }) {
    if (accept === undefined) return control({ command: 'resume' }, process)
    if (accept !== 'all' && !isSignature(accept))
      throw new SluiceError('--accept needs the signature of a transaction, or all', ExitCode.usage)
    return control({ command: 'accept', signature: accept }, process)
  },
})
