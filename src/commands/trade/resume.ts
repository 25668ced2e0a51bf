import { ExitCode, SluiceError } from '../../base/errors.ts'
import { isSignature } from '../../solana/base58.ts'
import type { Options } from '../options.ts'
import { steer } from './steer.ts'

export async function run(_args: string[], options: Options): Promise<number> {
  const { accept } = options
  if (accept === undefined) return steer({ command: 'resume' }, options)
  if (accept !== 'all' && !isSignature(accept))
    throw new SluiceError('--accept needs the signature of a transaction, or all', ExitCode.usage)
  return steer({ command: 'accept', signature: accept }, options)
}
