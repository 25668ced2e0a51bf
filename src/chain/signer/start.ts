import { lstatSync } from 'node:fs'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { ExitCode, SluiceError } from '../../core/errors.ts'
import type { Clock } from '../../core/ports.ts'
import type { Line } from './client.ts'
import { launchSigner, type SignerLaunch } from './launch.ts'
import { keepRunning, type Retries, type RunningSigner } from './running.ts'

/** A child that dies is started again at once; one that dies three times within a minute has a reason. */
export const RESTARTS: Retries = { spacingMs: 0, mostPerMinute: 3 }
/** Somebody else starts it again, whenever that is. */
export const RECONNECTS: Retries = { spacingMs: 1_000, mostPerMinute: 100 }

interface Parts {
  readonly clock: Clock
  readonly tell: (line: string) => void
}

/** Starts a signer of our own, as a child that never outlives this process, and starts it again where it dies. Throws a SluiceError that
 *  says what is wrong with the key file. */
export function startSigner(launch: Omit<SignerLaunch, 'socketPath'>, { clock, tell }: Parts): Promise<RunningSigner> {
  const { wallet } = launch
  const dial = (): Line => childLine(launch)
  return keepRunning({ dial, retries: RESTARTS, clock, tell, ...(wallet !== undefined && { wallet }) })
}

/** Connects to `sluice signer --socket`, which another user may have started, and again where that ends. Throws a SluiceError where nobody
 *  listens there, or for another wallet. */
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
