import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ExitCode, SluiceError } from '../../core/errors.ts'
import type { Caps } from './spending.ts'

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

/** Starts the process: no core dumps, an empty environment, nothing of our own arguments, no package, and of the disk its own files, the
 *  key and its state. It is talked to over descriptor 3, and ends when that does. */
export function launchSigner(launch: SignerLaunch): ChildProcess {
  if (process.platform === 'win32')
    throw new SluiceError('the signer needs file modes that Windows does not have; use WSL', ExitCode.usage)
  const { keyPath, stateFile, socketPath } = launch
  const entry = fileURLToPath(new URL('./process.ts', import.meta.url))
  const key = real(keyPath)
  const state = join(folderOf(stateFile), basename(stateFile))
  const sockets = socketPath === undefined ? [] : [socketPath]
  const own = [dirname(entry), join(entry, '../../verifier'), join(entry, '../../../core')]
  const readable = [...own.map((folder) => join(folder, '*')), ...[key, state, ...sockets].map(plain)]
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
