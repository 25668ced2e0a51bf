import { ExitCode, SluiceError } from '../../base/errors.ts'
import { isPublicKey } from '../../solana/base58.ts'
import type { Options } from '../options.ts'
import { steer } from './steer.ts'

export async function run([mint = '']: string[], options: Options): Promise<number> {
  if (!isPublicKey(mint)) throw new SluiceError('sell needs a mint: a base58 key of 32 bytes', ExitCode.usage)
  return steer({ command: 'sell', mint }, options)
}
