import { type ChildProcess, execFile } from 'node:child_process'
import { constants, getPriority, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Millis } from '../base/units.ts'

const PROGRAM = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url))
const MOST_BYTES = 1_000_000

/** The end of a command: its exit code is 0 if `error` is null. */
export interface Ended {
  readonly error: {
    readonly code?: string | number | null | undefined
    /** Signal that ended the process. */
    readonly signal?: string | null | undefined
  } | null
  readonly stdout: string
  readonly stderr: string
}

export interface OwnCommand {
  readonly ended: Promise<Ended>
  kill(): void
}

/** Runs a command of Sluice in a process of its own and with a low priority, so that its work does not delay trades.
 *  The process gets no environment variables, and is killed after `longestMs`. `program`: the program that is run. */
export function runOwnCommand(args: readonly string[], longestMs: Millis, program = PROGRAM): OwnCommand {
  const { promise: ended, resolve } = Promise.withResolvers<Ended>()
  const options = {
    timeout: longestMs,
    maxBuffer: MOST_BYTES,
    env: {},
    encoding: 'utf8',
    killSignal: 'SIGKILL',
  } as const
  try {
    const child = execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) =>
      resolve({ error, stdout, stderr }),
    )
    yieldProcessor(child)
    return { ended, kill: () => void child.kill('SIGKILL') }
  } catch (error) {
    // At the start of a child process, Node throws some errors, for example if there is not enough memory.
    const { code, message } = error as NodeJS.ErrnoException
    resolve({ error: { code }, stdout: '', stderr: message })
    return { ended, kill: () => {} }
  }
}

/** Lowers the priority of the process, so that it does not delay the process that trades on the same core. */
function yieldProcessor({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    setPriority(pid, Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL))
  } catch {} // the process has ended already
}
