import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, dirname, join } from 'node:path/posix'
import type { Duplex } from 'node:stream'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Clock } from '../../base/machine.ts'
import type { Line } from './client.ts'
import { type SignerProgram, signerProgram } from './program.ts'
import { keepRunning, type Retries, type RunningSigner } from './running.ts'
import type { Caps } from './spending-caps.ts'

/** Restart policy of a signer that is a child process: it is restarted immediately, up to three times a minute. */
export const RESTARTS: Retries = { spacingMs: 0, mostPerMinute: 3 }
/** Retry policy for the connection to a signer of another user. That user may restart the signer at any time. */
export const RECONNECTS: Retries = { spacingMs: 1_000, mostPerMinute: 100 }

interface Parts {
  readonly clock: Clock
  readonly tell: (line: string) => void
}

/** Starts a signer as a child process, which never outlives this process, and restarts it if it ends. Throws a
 *  SluiceError that names the problem with the key file. */
export function startSigner(launch: Omit<SignerLaunch, 'socketPath'>, { clock, tell }: Parts): Promise<RunningSigner> {
  const { wallet } = launch
  const dial = (): Line => childLine(launch)
  return keepRunning({ dial, retries: RESTARTS, clock, tell, ...(wallet !== undefined && { wallet }) })
}

/** Connects to a running `sluice signer --socket`, and reconnects if the connection ends. Throws a SluiceError if no
 *  signer is running there, or if it has the key of another wallet. */
export async function connectSigner(socketPath: string, wallet: string, parts: Parts): Promise<RunningSigner> {
  checkSocket(socketPath)
  return keepRunning({ dial: () => socketLine(socketPath), retries: RECONNECTS, wallet, ...parts })
}

/** Starts a signer as a child process. `gone` resolves with its exit code. */
export function childLine(launch: SignerLaunch, program?: SignerProgram): Line & { readonly gone: Promise<number> } {
  const child = launchSigner(launch, program)
  let why = ''
  const gone = new Promise<number>((resolve) => {
    child.once('error', (error) => {
      why = `it cannot be started: ${error.message}`
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
    why = code === 'EACCES' ? notAllowed(path) : `no signer answers at ${path} (${code}); ${startIt(path)}`
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

/** Throws a SluiceError if the path is not a socket, or if every user may connect to it. A missing socket is accepted,
 *  because it may still appear. */
function checkSocket(path: string): void {
  try {
    const status = lstatSync(path, { throwIfNoEntry: false })
    if (status === undefined) return
    if (!status.isSocket()) throw new SluiceError(`${path}: not a socket`, ExitCode.usage)
    if ((status.mode & 0o007) !== 0)
      throw new SluiceError(
        `${path}: every user may connect to it; restrict it to its group (mode 0660)`,
        ExitCode.unsafe,
      )
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    throw new SluiceError(notAllowed(path), ExitCode.usage)
  }
}

function notAllowed(path: string): string {
  return `${path}: this user may not connect to it; add the user to the signer's group`
}

function startIt(path: string): string {
  return `start it: sluice signer --socket ${path} --key FILE`
}

/** Settings of a signer, fixed while it runs. Paths are absolute. */
export interface SignerLaunch {
  /** Key file of `solana-keygen`. Only the signer reads it. */
  readonly keyPath: string
  /** File in which the signer stores its spending counters. */
  readonly stateFile: string
  readonly caps: Caps
  /** Expected wallet; absent: any wallet. */
  readonly wallet?: string
  /** Ids of the trading programs that a message may call; absent: any program. */
  readonly programs?: readonly string[]
  /** Policy hash that requests must name; absent: any hash. */
  readonly policyHash?: string
  /** Path of the socket for engines of other users; if absent, the signer signs for its parent process. */
  readonly socketPath?: string
}

/** Shell command that starts the signer without core dumps, because a dump would contain the key. Node cannot disable
 *  dumps, so a shell disables them and then replaces itself by the signer. `env -i` removes the variables that the
 *  shell adds. */
const WITHOUT_CORE = 'ulimit -c 0 && exec /usr/bin/env -i "$0" "$@"'

/** Starts the signer process. Core dumps are off, its environment is empty, and it gets none of our arguments and no
 *  packages. On the disk it may read only its own files, the key and its state. It communicates over file descriptor 3,
 *  and ends when that descriptor closes. */
export function launchSigner(launch: SignerLaunch, program: SignerProgram = signerProgram()): ChildProcess {
  if (process.platform === 'win32')
    throw new SluiceError('the signer needs file modes that Windows does not have; use WSL', ExitCode.usage)
  const { keyPath, stateFile, socketPath } = launch
  const key = real(keyPath)
  const state = join(folderOf(stateFile), basename(stateFile))
  const sockets = socketPath === undefined ? [] : [socketPath]
  const readable = [...program.readable, ...[key, state, ...sockets].map(plain)]
  const writable = [state, ...sockets]
  const flags = [
    '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    ...writable.map((path) => `--allow-fs-write=${path}`),
    // From Node 25 on, a Unix socket counts as network access, which needs this permission.
    ...(process.allowedNodeEnvironmentFlags.has('--allow-net') && socketPath !== undefined ? ['--allow-net'] : []),
    '--disable-sigusr1',
    '--disallow-code-generation-from-strings',
    '--disable-warning=ExperimentalWarning',
  ]
  const command = [process.execPath, ...flags, plain(program.entry), ...argumentsOf(launch, key, state)]
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

/** Creates the folder of this path if it does not exist. Returns the folder without symbolic links. */
function folderOf(path: string): string {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    return realpathSync(dirname(path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new SluiceError(`${path}: the spending counters cannot be stored there (${code})`, ExitCode.usage)
  }
}

/** Resolves symbolic links. The path of a missing file is returned unchanged, and the signer reports the problem. */
function real(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

function plain(path: string): string {
  if (path.includes('*'))
    throw new SluiceError(`${path}: the path must not contain *, which would match other files too`, ExitCode.usage)
  return path
}
