import { ExitCode, SluiceError } from '../../base/errors.ts'
import { isPublicKey } from '../../solana/base58.ts'
import type { Options } from '../options.ts'
import { steer } from './steer.ts'

export async function run([mint = '']: string[], options: Options): Promise<number> {
  const { bot = '' } = options
  if (!isPublicKey(mint)) throw new SluiceError('adopt needs a mint: a base58 key of 32 bytes', ExitCode.usage)
  if (bot === '') throw new SluiceError('adopt needs --bot NAME: whose position it becomes', ExitCode.usage)
  return steer({ command: 'adopt', mint, bot }, options)
}
