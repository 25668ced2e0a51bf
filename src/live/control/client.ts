import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { type ExitCode, SluiceError } from '../../base/errors.ts'
import type { ControlCommand } from './command.ts'
import { controlPath, readLine } from './command.ts'

/** Longest wait for an answer. No command takes long; for example, `flatten` answers when the sales are accepted, not
 *  when they are filled. */
const ANSWER_TIMEOUT_MS = 10_000
/** Longest answer, in characters. The answer to `status` is long, because it lists every position. */
const LONGEST_ANSWER = 16 * 1024 * 1024

interface Answer {
  readonly ok?: boolean
  readonly result?: object
  readonly error?: string
  readonly exitCode?: ExitCode
}

/** Error that is thrown if no process is running on this journal. */
export class NothingRuns extends SluiceError {
  constructor(journalPath: string) {
    super(`no process runs on the journal ${journalPath}`)
  }
}

/** Sends a command to the process that runs on this journal and returns its answer. Throws NothingRuns if no process
 *  runs, and SluiceError if the answer does not arrive within 10 s. If the answer is a refusal, throws a SluiceError
 *  with the message and the exit code of the refusal. */
export async function sendCommand(journalPath: string, command: ControlCommand): Promise<object> {
  const noProcess = new NothingRuns(journalPath)
  if (!existsSync(dirname(journalPath))) throw noProcess
  const socket = await dial(controlPath(journalPath), noProcess)
  try {
    socket.write(`${JSON.stringify(command)}\n`)
    const answer = parse(await readLine(socket, LONGEST_ANSWER))
    if (answer.ok === true) return answer.result ?? {}
    throw new SluiceError(answer.error ?? 'invalid response from the running process', answer.exitCode)
  } catch (error) {
    throw error instanceof SluiceError ? error : new SluiceError(`the running process: ${(error as Error).message}`)
  } finally {
    socket.destroy()
  }
}

/** Whether a process listens on this journal's socket, even one that is too busy to answer. */
export async function isListening(journalPath: string): Promise<boolean> {
  try {
    const socket = await dial(controlPath(journalPath), new NothingRuns(journalPath))
    socket.destroy()
    return true
  } catch {
    return false
  }
}

function dial(path: string, noProcess: SluiceError): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => {
      const isMissing = error.code === 'ENOENT' || error.code === 'ECONNREFUSED'
      reject(isMissing ? noProcess : new SluiceError(`${path}: ${error.message}`))
    }
    const socket = connect(path)
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy(new Error('no answer within 10 s')))
    socket.once('error', refuse)
    socket.once('connect', () => {
      socket.off('error', refuse)
      socket.on('error', () => {}) // ignored here, because readLine also rejects with this error
      resolve(socket)
    })
  })
}

function parse(line: string): Answer {
  try {
    return JSON.parse(line) as Answer
  } catch {
    throw new SluiceError('invalid response from the running process')
  }
}
