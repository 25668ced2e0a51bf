import { lstatSync, statSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Clock } from '../../base/machine.ts'
import { encodeBase58 } from '../../solana/base58.ts'
import { SignerClient } from './client.ts'
import { refuseChangeable, refuseWritable } from './own-files.ts'
import type { SignerLaunch } from './start.ts'
import { childLine } from './start.ts'

export interface ListeningSigner {
  /** Public key of the wallet, base58. */
  readonly wallet: string
  /** Resolves with the exit code when the signer has ended. */
  readonly ended: Promise<number>
  close(): void
}

/** Maximum length of a socket path in bytes, which is below the limits of macOS (104) and Linux (108). */
const LONGEST_SOCKET_PATH = 100

/** Starts a signer for engines of other users. Only the signer's user may write to the folder of its socket and key, so
 *  no other user can replace them. Members of the socket's group may connect. Throws a SluiceError if the signer does
 *  not start. */
export async function listenAsSigner(
  launch: SignerLaunch & { readonly socketPath: string },
  clock: Clock,
): Promise<ListeningSigner> {
  const { socketPath } = launch
  refuseChangeable(launch.keyPath)
  checkFolder(socketPath)
  await removeStale(socketPath)
  const line = childLine(launch)
  let isClosing = false
  const ended = line.gone.then((code) => (isClosing ? ExitCode.done : code))
  const client = new SignerClient(line, clock, () => {})
  const begun = await client.begin()
  if (begun.kind === 'failed') {
    await client.end(begun.reason)
    throw new SluiceError(begun.reason, begun.exitCode === 0 ? ExitCode.failed : begun.exitCode)
  }
  const close = (): void => {
    isClosing = true
    line.stream.end()
  }
  return { wallet: encodeBase58(begun.publicKey), ended, close }
}

function checkFolder(path: string): void {
  if (Buffer.byteLength(path) > LONGEST_SOCKET_PATH)
    throw new SluiceError(`${path}: a socket path has at most ${LONGEST_SOCKET_PATH} bytes`, ExitCode.usage)
  const folder = dirname(path)
  const status = statSync(folder, { throwIfNoEntry: false })
  if (!status?.isDirectory()) throw new SluiceError(`${folder}: no such folder`, ExitCode.usage)
  refuseWritable(folder, 'chmod 750')
}

/** Removes the socket of a signer that was killed. */
async function removeStale(path: string): Promise<void> {
  const status = lstatSync(path, { throwIfNoEntry: false })
  if (status === undefined) return
  if (!status.isSocket()) throw new SluiceError(`${path}: exists and is not a socket`, ExitCode.usage)
  if (await isAnswered(path)) throw new SluiceError(`${path}: another signer is already listening`, ExitCode.unsafe)
  unlinkSync(path)
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const answer = (value: boolean) => () => {
      socket.destroy()
      resolve(value)
    }
    socket.once('connect', answer(true)).once('error', answer(false))
  })
}
