import { ExitCode } from '../../core/errors.ts'

/** Why a signer does not start; the message is for a person and never holds anything of a key. */
export class SignerFailure extends Error {
  readonly exitCode: ExitCode
  constructor(message: string, exitCode: ExitCode = ExitCode.unsafe) {
    super(message)
    this.name = 'SignerFailure'
    this.exitCode = exitCode
  }
}
