import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url))

/** A `sluice` process. */
export interface Sluice {
  readonly child: ChildProcess
  readonly pid: number
  stdout: string
  stderr: string
  /** The exit code; null if a signal ended the process. */
  readonly ended: Promise<number | null>
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Starts Node itself, so that the process id is that of the bots. `logTo`: descriptor that receives stderr. The bots
 *  serve a desk only if `args` contains `--desk`, because a desk would take time in each of many tests. */
export function launch(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  program = PROGRAM,
  logTo: 'pipe' | number = 'pipe',
): Sluice {
  const child = spawn(process.execPath, program === '' ? args : [program, ...withoutDesk(args)], {
    stdio: ['ignore', 'pipe', logTo],
    env: { ...process.env, NODE_OPTIONS: '', VITEST: '', ...compiledCode(args), ...env },
  })
  const one: Sluice = {
    child,
    pid: child.pid as number,
    stdout: '',
    stderr: '',
    ended: once(child, 'close').then(([code]) => code as number | null),
  }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (one.stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (one.stderr += text))
  return one
}

/**
 * Returns the environment that selects a folder for compiled code. Backtests run with other V8 flags than the other
 * commands, and V8 refuses code that was compiled with other flags. Therefore backtests have folders of their own.
 */
function compiledCode([command, ...args]: readonly string[]): Record<string, string> {
  const { NODE_COMPILE_CACHE: folder } = process.env
  if (folder === undefined || command !== 'backtest') return {}
  return { NODE_COMPILE_CACHE: `${folder}-${args.includes('--out') ? 'backtest-out' : 'backtest'}` }
}

function withoutDesk(args: readonly string[]): readonly string[] {
  if (args.includes('--desk')) return args.filter((one) => one !== '--desk')
  return ['run', 'demo'].includes(args[0] ?? '') ? [...args, '--no-desk'] : args
}

/** Runs a `sluice` command until it ends. */
export async function sluice(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended> {
  const one = launch(args, env)
  const code = await one.ended
  return { code, stdout: one.stdout, stderr: one.stderr }
}

/** Sends SIGKILL and waits until the process has ended. */
export async function kill({ child, ended }: Sluice): Promise<void> {
  child.kill('SIGKILL')
  await ended
}
