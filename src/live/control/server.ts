import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Stop } from '../../base/machine.ts'
import { type ControlCommand, controlPath, haltPath, readCommand, readLine } from './command.ts'
import { watchHaltFile } from './halt-file.ts'
import { TERMINAL } from './operator.ts'
import { announce } from './running-processes.ts'

const MOST_CLIENTS = 16
const CLIENT_TIMEOUT_MS = 10_000

/** Executes a command and returns its result. If the handler throws, the client receives the error as the answer. `by`:
 *  source of the command. */
export type ControlHandler = (command: ControlCommand, by: string) => object | Promise<object>

export interface ControlOptions {
  readonly journalPath: string
  readonly handle: ControlHandler
  /** Logs problems that no client receives: a HALT file of another user, or a halt that failed. */
  readonly warn: (message: string) => void
}

/** Receives the operator's commands in three ways: through a socket, which only its owner may open, through the file
 *  HALT, and through SIGUSR2. Socket and file are next to the journal. The file and the signal mean `halt`. The caller
 *  must hold the journal's lock, so a file that already exists at the socket's path was left by a crash, and it is
 *  replaced. */
export async function serveControl({ journalPath, handle, warn }: ControlOptions): Promise<Stop> {
  const path = controlPath(journalPath)
  const halt = (why: string): void => {
    Promise.resolve({ command: 'halt' } as const)
      .then((command) => handle(command, why))
      .then(
        () => warn(`entries halted by ${why}`),
        (error: Error) => warn(`${why} could not halt entries: ${error.message}`),
      )
  }
  const bySignal = (): void => halt('SIGUSR2')
  const server = createServer((socket) => {
    answer(socket, handle).catch(() => socket.destroy())
  })
  server.maxConnections = MOST_CLIENTS
  rmSync(path, { force: true })
  await listen(server, path)
  process.on('SIGUSR2', bySignal)
  const withdraw = announce(journalPath, warn)
  const stopWatching = watchHaltFile(haltPath(journalPath), () => halt('the file HALT'), warn)
  return async () => {
    process.off('SIGUSR2', bySignal)
    withdraw()
    stopWatching()
    await new Promise((closed) => server.close(closed))
    rmSync(path, { force: true })
  }
}

/** Listens at `path`. The umask restricts the socket to its owner from the first moment. */
async function listen(server: Server, path: string): Promise<void> {
  const mask = process.umask(0o177)
  try {
    server.listen(path)
  } finally {
    process.umask(mask)
  }
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve)
    server.once('error', (error) => reject(new SluiceError(`cannot listen on ${path}: ${error.message}`)))
  })
  chmodSync(path, 0o600)
}

async function answer(socket: Socket, handle: ControlHandler): Promise<void> {
  socket.setTimeout(CLIENT_TIMEOUT_MS, () => socket.destroy())
  socket.on('error', () => socket.destroy())
  const line = await readLine(socket)
  socket.setTimeout(0)
  socket.end(`${JSON.stringify(await resultOf(line, handle))}\n`)
}

async function resultOf(line: string, handle: ControlHandler): Promise<object> {
  try {
    return { ok: true, result: await handle(readCommand(line), TERMINAL) }
  } catch (error) {
    const { message } = error as Error
    return { ok: false, error: message, exitCode: error instanceof SluiceError ? error.exitCode : ExitCode.failed }
  }
}
