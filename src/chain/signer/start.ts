import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, dirname, join } from 'node:path/posix'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Clock } from '../../base/machine.ts'
import type { Line } from './client.ts'
import { keepRunning, type Retries, type RunningSigner } from './running.ts'
import type { Caps } from './spending.ts'

/** A child that dies is started again at once; one that dies three times within a minute has a reason. */
export const RESTARTS: Retries = { spacingMs: 0, mostPerMinute: 3 }
/** Somebody else starts it again, whenever that is. */
export const RECONNECTS: Retries = { spacingMs: 1_000, mostPerMinute: 100 }

interface Parts {
  readonly clock: Clock
  readonly tell: (line: string) => void
}

/** Starts a signer of our own, as a child that never outlives this process, and starts it again where it dies. Throws a
 *  SluiceError that says what is wrong with the key file. */
export function startSigner(launch: Omit<SignerLaunch, 'socketPath'>, { clock, tell }: Parts): Promise<RunningSigner> {
  const { wallet } = launch
  const dial = (): Line => childLine(launch)
  return keepRunning({ dial, retries: RESTARTS, clock, tell, ...(wallet !== undefined && { wallet }) })
}

/** Connects to `sluice signer --socket`, which another user may have started, and again where that ends. Throws a
 *  SluiceError where nobody listens there, or for another wallet. */
export async function connectSigner(socketPath: string, wallet: string, parts: Parts): Promise<RunningSigner> {
  checkSocket(socketPath)
  return keepRunning({ dial: () => socketLine(socketPath), retries: RECONNECTS, wallet, ...parts })
}

/** `gone`: its exit code. */
export function childLine(launch: SignerLaunch): Line & { readonly gone: Promise<number> } {
  const child = launchSigner(launch)
  let why = ''
  const gone = new Promise<number>((resolve) => {
    child.once('error', (error) => {
      why = `it could not be started: ${error.message}`
      resolve(ExitCode.failed)
    })
    child.once('exit', (code, signal) => {
      why = `it ended with ${signal ?? code}`
      resolve(code ?? ExitCode.failed)
    })
  })
  const stream = child.stdio[3] as Duplex
  return {
    stream,
    gone,
    cut: () => {
      stream.destroy()
      child.kill('SIGKILL')
      return gone
    },
    why: () => why,
  }
}

function socketLine(path: string): Line {
  const stream = connect(path)
  let why = ''
  stream.once('error', ({ code }: NodeJS.ErrnoException) => {
    why = code === 'EACCES' ? notAllowed(path) : `nobody answers at ${path} (${code}); ${startIt(path)}`
  })
  return {
    stream,
    cut: () => {
      stream.destroy()
      return Promise.resolve()
    },
    why: () => why,
  }
}

/** What is not there yet may come. */
function checkSocket(path: string): void {
  try {
    const status = lstatSync(path, { throwIfNoEntry: false })
    if (status === undefined) return
    if (!status.isSocket()) throw new SluiceError(`${path}: not a socket`, ExitCode.usage)
    if ((status.mode & 0o007) !== 0)
      throw new SluiceError(`${path}: everybody may connect to it; let its group alone (mode 0660)`, ExitCode.unsafe)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    throw new SluiceError(notAllowed(path), ExitCode.usage)
  }
}

function notAllowed(path: string): string {
  return `${path}: this user may not connect to it; put him into the group of the signer`
}

function startIt(path: string): string {
  return `start it: sluice signer --socket ${path} --key FILE`
}

/** What a signer is started with; nothing of it can be changed while it runs. Paths are absolute. */
export interface SignerLaunch {
  /** What `solana-keygen` wrote; the signer reads it, nobody else does. */
  readonly keyPath: string
  /** Where it keeps what was signed away. */
  readonly stateFile: string
  readonly caps: Caps
  /** Whose key it has to be; absent: anybody's. */
  readonly wallet?: string
  /** Programs that may be called beside Solana's own; absent: any. */
  readonly programs?: readonly string[]
  /** The policy that requests have to name; absent: any. */
  readonly policyHash?: string
  /** Where engines of other users may connect; absent: it signs for the process that started it. */
  readonly socketPath?: string
}

/** The shell takes the right to dump core from itself, and becomes the signer: Node cannot, and a dump would hold the
 *  key. The environment is emptied once more, since a shell puts variables of its own there. */
const WITHOUT_CORE = 'ulimit -c 0 && exec /usr/bin/env -i "$0" "$@"'

/** Starts the process: no core dumps, an empty environment, nothing of our own arguments, no package, and of the disk
 *  its own files, the key and its state. It is talked to over descriptor 3, and ends when that does. */
export function launchSigner(launch: SignerLaunch): ChildProcess {
  if (process.platform === 'win32')
    throw new SluiceError('the signer needs file modes that Windows does not have; use WSL', ExitCode.usage)
  const { keyPath, stateFile, socketPath } = launch
  const entry = fileURLToPath(new URL('./process.ts', import.meta.url))
  const key = real(keyPath)
  const state = join(folderOf(stateFile), basename(stateFile))
  const sockets = socketPath === undefined ? [] : [socketPath]
  const addresses = fileURLToPath(new URL('../addresses.ts', import.meta.url))
  const own = ['..', '../../verifier', '../../../base', '../../../solana'].map((folder) => join(entry, folder, '*'))
  const readable = [...own, ...[addresses, key, state, ...sockets].map(plain)]
  const writable = [state, ...sockets]
  const flags = [
    '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    ...writable.map((path) => `--allow-fs-write=${path}`),
    // Since Node 25 a socket of the file system counts as the network.
    ...(process.allowedNodeEnvironmentFlags.has('--allow-net') && socketPath !== undefined ? ['--allow-net'] : []),
    '--disable-sigusr1',
    '--disallow-code-generation-from-strings',
    '--disable-warning=ExperimentalWarning',
  ]
  const command = [process.execPath, ...flags, entry, ...argumentsOf(launch, key, state)]
  return spawn('/bin/sh', ['-c', WITHOUT_CORE, ...command], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    cwd: '/',
    env: {},
  })
}

function argumentsOf(launch: SignerLaunch, key: string, state: string): string[] {
  const { wallet, socketPath, programs, policyHash, caps } = launch
  const optional: [string, string | bigint | null | undefined][] = [
    ['wallet', wallet],
    ['socket', socketPath],
    ['policy', policyHash],
    ['per-transaction', caps.perTransaction],
    ['per-hour', caps.perHour],
    ['per-day', caps.perDay],
    ...(programs ?? []).map((program): [string, string] => ['program', program]),
  ]
  return [
    `--key=${key}`,
    `--state=${state}`,
    ...optional.flatMap(([name, value]) => (value === undefined || value === null ? [] : [`--${name}=${value}`])),
  ]
}

/** Made where it is not there. */
function folderOf(path: string): string {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    return realpathSync(dirname(path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new SluiceError(`${path}: what was signed away cannot be kept there (${code})`, ExitCode.usage)
  }
}

/** Where a link leads; what is not there stays as it is, and the signer says so. */
function real(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

function plain(path: string): string {
  if (path.includes('*')) throw new SluiceError(`${path}: a path with * would open more than itself`, ExitCode.usage)
  return path
}
