import { ExitCode, SluiceError } from '../../base/errors.ts'
import { isPublicKey } from '../../solana/base58.ts'
import { defineCommand, PROCESS, text } from '../options.ts'
import { control } from './control.ts'

export const command = defineCommand({
  options: { bot: text('<name>', 'assign the tokens to this bot'), ...PROCESS },
  async run([mint = ''], { bot, ...process }) {
    if (!isPublicKey(mint)) throw new SluiceError('adopt needs a mint: a base58 key of 32 bytes', ExitCode.usage)
    if (bot === undefined || bot === '')
      throw new SluiceError('--bot NAME is required: the bot that receives the position', ExitCode.usage)
    return control({ command: 'adopt', mint, bot }, process)
  },
})
