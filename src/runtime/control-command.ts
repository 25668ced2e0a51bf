import { isPublicKey, isSignature } from '../core/base58.ts'
import { ExitCode, SluiceError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'

/** What an operator may tell a running process. On the wire `{"command": "sell", "mint": "..."}`. */
export type ControlCommand =
  | { readonly command: 'halt' | 'resume' | 'flatten' | 'status' }
  | { readonly command: 'sell'; readonly mint: string }
  | { readonly command: 'signal'; readonly signal: string; readonly data: Json }
  /** What somebody else did with the wallet is all right: one transaction, or `all` that there are. */
  | { readonly command: 'accept'; readonly signature: string }
  /** An order that is not decided: what is known of it, or how a person decides it. */
  | { readonly command: 'resolve'; readonly order: string; readonly verdict: Verdict }
  | { readonly command: 'adopt'; readonly mint: string; readonly bot: string }

export type Verdict = 'show' | 'not-executed' | { readonly executed: string }

const LONGEST_SIGNAL = 100
const COMMANDS = 'halt, resume, accept, flatten, sell, resolve, adopt, signal, status'

/** Reads one line of the wire. Throws a SluiceError that says what is wrong with it. */
export function readCommand(line: string): ControlCommand {
  const { command, mint, signal, data = null, signature, order, verdict, bot } = fieldsOf(line)
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
    case 'accept':
      if (signature === 'all' || isSignature(signature)) return { command, signature }
      throw new SluiceError('accept needs the signature of a transaction, or all', ExitCode.usage)
    case 'resolve':
      if (isOrderId(order)) return { command, order, verdict: verdictOf(verdict) }
      throw new SluiceError('resolve needs the id of an order, such as o12', ExitCode.usage)
    case 'adopt':
      if (isPublicKey(mint) && typeof bot === 'string' && bot !== '') return { command, mint, bot }
      throw new SluiceError('adopt needs a mint and the name of a bot', ExitCode.usage)
    default:
      throw new SluiceError(`unknown command; there are ${COMMANDS}`, ExitCode.usage)
  }
}

export function isOrderId(value: unknown): value is string {
  return typeof value === 'string' && /^o\d{1,15}$/.test(value)
}

function verdictOf(value: unknown): Verdict {
  if (value === 'show' || value === 'not-executed') return value
  const executed = typeof value === 'object' && value !== null && 'executed' in value ? value.executed : undefined
  if (isSignature(executed)) return { executed }
  throw new SluiceError('--executed needs the signature of a transaction', ExitCode.usage)
}

function fieldsOf(line: string): Record<string, unknown> {
  try {
    const fields: unknown = JSON.parse(line)
    if (typeof fields === 'object' && fields !== null) return fields as Record<string, unknown>
  } catch {}
  throw new SluiceError('a command is one line of JSON, an object', ExitCode.usage)
}
