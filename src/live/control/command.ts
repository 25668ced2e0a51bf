import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path/posix'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import { isPublicKey, isSignature } from '../../solana/base58.ts'

/** Commands of an operator to a running process. They are sent as JSON, such as `{"command": "sell", "mint":
 *  "..."}`. */
export type ControlCommand =
  /** `wallet`: name of the only wallet that the command concerns; absent for all wallets. */
  | { readonly command: 'halt' | 'resume' | 'flatten'; readonly wallet?: string }
  | { readonly command: 'status' }
  | { readonly command: 'sell'; readonly mint: string; readonly wallet?: string }
  | { readonly command: 'buy'; readonly mint: string; readonly bot: string; readonly sol: number }
  /** Cancels an order that was not sent yet, or a conditional order. */
  | { readonly command: 'cancel'; readonly order: string }
  | { readonly command: 'signal'; readonly signal: string; readonly data: Json }
  /** Accepts a foreign transaction by signature, or `all` of them. */
  | { readonly command: 'accept'; readonly signature: string; readonly wallet?: string }
  /** Shows the evidence about an undecided order, or records the operator's decision on whether it executed. */
  | { readonly command: 'resolve'; readonly order: string; readonly verdict: Verdict }
  | { readonly command: 'adopt'; readonly mint: string; readonly bot: string }
  /** Creates a login link of the desk. `name`: name of the session in the journal; '' for a default name. */
  | { readonly command: 'desk-link'; readonly readOnly: boolean; readonly name: string }

/** Commands that may come from the desk; Telegram accepts some of them. */
export const REMOTE_COMMANDS = ['halt', 'resume', 'flatten', 'sell', 'cancel', 'buy'] as const
export type RemoteCommand = Extract<ControlCommand, { command: (typeof REMOTE_COMMANDS)[number] }>

export type Verdict = 'show' | 'not-executed' | { readonly executed: string }

const LONGEST_SIGNAL = 100
const COMMANDS = 'halt, resume, accept, flatten, sell, buy, cancel, resolve, adopt, signal, desk-link, status'

/** Parses one line that a client sent. Throws a SluiceError that names the problem. */
export function readCommand(line: string): ControlCommand {
  return commandOf(fieldsOf(line))
}

/** Checks the fields of a command. Throws a SluiceError that names the problem. */
export function commandOf(fields: Readonly<Record<string, unknown>>): ControlCommand {
  const { command, mint, signal, data = null, signature, order, verdict, bot, readOnly, name, sol, wallet } = fields
  switch (command) {
    case 'halt':
    case 'resume':
    case 'flatten':
      return { command, ...onlyOf(wallet) }
    case 'status':
      return { command }
    case 'sell':
      if (isPublicKey(mint)) return { command, mint, ...onlyOf(wallet) }
      throw new SluiceError('sell needs a mint: a base58 key of 32 bytes', ExitCode.usage)
    case 'buy':
      return buyOf(mint, bot, sol)
    case 'cancel':
      if (isOrderId(order) || isConditionalId(order)) return { command, order }
      throw new SluiceError('cancel needs the id of an order, such as o12 or c3', ExitCode.usage)
    case 'signal':
      if (typeof signal === 'string' && signal !== '' && signal.length <= LONGEST_SIGNAL) {
        return { command, signal, data: data as Json }
      }
      throw new SluiceError(`signal needs a name of at most ${LONGEST_SIGNAL} characters`, ExitCode.usage)
    case 'accept':
      if (signature === 'all' || isSignature(signature)) return { command, signature, ...onlyOf(wallet) }
      throw new SluiceError('accept needs the signature of a transaction, or the word all', ExitCode.usage)
    case 'resolve':
      if (isOrderId(order)) return { command, order, verdict: verdictOf(verdict) }
      throw new SluiceError('resolve needs the id of an order, such as o12', ExitCode.usage)
    case 'adopt':
      if (isPublicKey(mint) && typeof bot === 'string' && bot !== '') return { command, mint, bot }
      throw new SluiceError('adopt needs a mint and the name of a bot', ExitCode.usage)
    case 'desk-link':
      if (isSessionName(name)) return { command, readOnly: readOnly === true, name }
      throw new SluiceError(SESSION_NAME, ExitCode.usage)
    default:
      throw new SluiceError(`unknown command: expected ${COMMANDS}`, ExitCode.usage)
  }
}

export function isOrderId(value: unknown): value is string {
  return typeof value === 'string' && /^o\d{1,15}$/.test(value)
}

export function isConditionalId(value: unknown): value is string {
  return typeof value === 'string' && /^c\d{1,15}$/.test(value)
}

function onlyOf(wallet: unknown): { wallet?: string } {
  if (wallet === undefined) return {}
  if (typeof wallet === 'string' && wallet !== '') return { wallet }
  throw new SluiceError('expected the name of a wallet', ExitCode.usage)
}

function buyOf(mint: unknown, bot: unknown, sol: unknown): ControlCommand {
  if (!isPublicKey(mint)) throw new SluiceError('buy needs a mint: a base58 key of 32 bytes', ExitCode.usage)
  if (typeof bot !== 'string' || bot === '') throw new SluiceError('buy needs the name of a bot', ExitCode.usage)
  if (typeof sol !== 'number' || !(sol > 0)) throw new SluiceError('buy needs an amount of SOL above 0', ExitCode.usage)
  return { command: 'buy', mint, bot, sol }
}

export const SESSION_NAME = 'the name of a session has at most 40 letters, digits, dots, dashes, underscores and spaces'

/** Whether the value is the name of a session of the desk, or '' for a default name. */
export function isSessionName(value: unknown): value is string {
  return typeof value === 'string' && /^(?!terminal$)([A-Za-z0-9][\w. -]{0,39})?$/.test(value)
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
  throw new SluiceError('a command must be one line of JSON that holds an object', ExitCode.usage)
}

/** Longest path of a socket, in bytes. The limit of the system is 104 on macOS and 108 on Linux. */
const LONGEST_SOCKET_PATH = 100

/** Path of the control socket. It is next to the journal, or in the runtime directory if the path next to the journal
 *  would be too long. The journal's folder must exist. Throws SluiceError if the runtime directory belongs to another
 *  user. */
export function controlPath(journalPath: string): string {
  const path = join(realpathSync(dirname(resolve(journalPath))), basename(journalPath))
  const beside = `${path}.sock`
  if (Buffer.byteLength(beside) <= LONGEST_SOCKET_PATH) return beside
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16)
  return join(runtimeDirectory(), `sluice-${name}.sock`)
}

/** Path of the file that halts entries while it exists, next to the journal. */
export function haltPath(journalPath: string): string {
  return join(dirname(resolve(journalPath)), 'HALT')
}

function runtimeDirectory(): string {
  const path = process.env.XDG_RUNTIME_DIR || join(tmpdir(), `sluice-${userInfo().uid}`)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const { mode, uid } = lstatSync(path)
  if (uid !== userInfo().uid || (mode & 0o077) !== 0) {
    throw new SluiceError(`${path} must be a directory that only you can access (chmod 700)`, ExitCode.unsafe)
  }
  return path
}

/** Maximum length of a request line. No command is longer. */
const LONGEST_LINE = 256 * 1024

/** Reads the first line that the peer sends; '' if the peer closes the connection without sending a line. Throws if the
 *  line is too long or the socket fails. */
export async function readLine(socket: Socket, longest = LONGEST_LINE): Promise<string> {
  socket.setEncoding('utf8')
  let text = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += chunk
    const end = text.indexOf('\n')
    if (end >= 0) return text.slice(0, end)
    if (text.length > longest) throw new Error('the line is too long')
  }
  return text
}
