import { type ExitCode, SluiceError } from '../../core/errors.ts'

/** Why bots ended by themselves. */
export interface Ending {
  readonly exitCode: ExitCode
  readonly message: string
}

/** Rejects with the reason of an ending that comes first. */
export function unlessEnded<T>(ending: Promise<Ending>, coming: T | Promise<T>): Promise<T> {
  const ended = ending.then(({ message, exitCode }) => {
    throw new SluiceError(message, exitCode)
  })
  return Promise.race([coming, ended])
}
