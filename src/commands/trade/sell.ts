import { ExitCode, SluiceError } from '../../base/errors.ts'
import { isPublicKey } from '../../solana/base58.ts'
import { defineCommand, PROCESS } from '../options.ts'
import { control } from './control.ts'

export const command = defineCommand({
  options: PROCESS,
  async run([mint = ''], process) {
    if (!isPublicKey(mint)) throw new SluiceError('sell needs a mint: a base58 key of 32 bytes', ExitCode.usage)
    return control({ command: 'sell', mint }, process)
  },
})
