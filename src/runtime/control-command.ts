import { isPublicKey } from '../core/base58.ts'
import { ExitCode, SluiceError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'

/** What an operator may tell a running process. On the wire `{"command": "sell", "mint": "..."}`. */
export type ControlCommand =
  | { readonly command: 'halt' | 'resume' | 'flatten' | 'status' }
  | { readonly command: 'sell'; readonly mint: string }
  | { readonly command: 'signal'; readonly signal: string; readonly data: Json }

const LONGEST_SIGNAL = 100

/** Reads one line of the wire. Throws a SluiceError that says what is wrong with it. */
export function readCommand(line: string): ControlCommand {
  const { command, mint, signal, data = null } = fieldsOf(line)
  switch (command) {
    case 'halt':
    case 'resume':
    case 'flatten':
    case 'status':
      return { command }
    case 'sell':
      if (isPublicKey(mint)) return { command, mint }
      throw new SluiceError('sell needs a mint: a base58 key of 32 bytes', ExitCode.usage)
    case 'signal':
      if (typeof signal === 'string' && signal !== '' && signal.length <= LONGEST_SIGNAL) {
        return { command, signal, data: data as Json }
      }
      throw new SluiceError(`signal needs a name of at most ${LONGEST_SIGNAL} characters`, ExitCode.usage)
    default:
      throw new SluiceError('unknown command; there are halt, resume, flatten, sell, signal, status', ExitCode.usage)
  }
}

function fieldsOf(line: string): Record<string, unknown> {
  try {
    const fields: unknown = JSON.parse(line)
    if (typeof fields === 'object' && fields !== null) return fields as Record<string, unknown>
  } catch {}
  throw new SluiceError('a command is one line of JSON, an object', ExitCode.usage)
}
