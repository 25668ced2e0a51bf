import { styleText } from 'node:util'
import { ExitCode } from '../../base/errors.ts'
import { wrapped } from '../terminal.ts'

/** One line of `sluice doctor`. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warn' | 'fail'
  /** What was found; no secret in it. */
  readonly found: string
  /** What to do about it; '' where nothing has to be done. */
  readonly fix: string
  /** The service says no to the key or the plan: the command ends with 3. */
  readonly refused: boolean
}

export function ok(name: string, found: string): Check {
  return { name, status: 'ok', found, fix: '', refused: false }
}

export function warn(name: string, found: string, fix: string): Check {
  return { name, status: 'warn', found, fix, refused: false }
}

export function fail(name: string, found: string, fix: string): Check {
  return { name, status: 'fail', found, fix, refused: false }
}

export function refused(name: string, found: string, fix: string): Check {
  return { name, status: 'fail', found, fix, refused: true }
}

/** 0 while nothing fails; 3 where key or plan were refused; else 1. */
export function exitCodeOf(checks: readonly Check[]): ExitCode {
  if (checks.some((check) => check.refused)) return ExitCode.refused
  return checks.some(({ status }) => status === 'fail') ? ExitCode.failed : ExitCode.done
}

export function seconds(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} days`
}

/** `no bots`, `one bot`, `3 bots`. */
export function counted(count: number, noun: string): string {
  const number = count === 0 ? 'no' : count === 1 ? 'one' : count
  return `${number} ${noun}${count === 1 ? '' : 's'}`
}

const COLOUR = { ok: 'green', warn: 'yellow', fail: 'red' } as const
const NAME_WIDTH = 14
const LEAST_ROOM = 30
const INDENT = ' '.repeat(2 + 4 + 2 + NAME_WIDTH + 1)

/** One check: its verdict, its name, what was found; below it what to do. styleText leaves colour away where nobody
 *  sees it. */
export function checkLine({ status, name, found, fix }: Check, columns: number): string {
  const verdict = styleText(status === 'ok' ? COLOUR.ok : ['bold', COLOUR[status]], status.padEnd(4))
  // On a terminal at words, so that what follows stays in its column; else not at all: one line a check.
  const room = columns - INDENT.length > LEAST_ROOM ? columns - INDENT.length : Number.POSITIVE_INFINITY
  const lines = wrapped(found, room)
  const first = `  ${verdict}  ${name.padEnd(NAME_WIDTH)} ${lines[0] ?? ''}`
  const rest = lines.slice(1).map((line) => INDENT + line)
  const todo = fix === '' ? [] : wrapped(`-> ${fix}`, room).map((line) => INDENT + styleText('dim', line))
  return [first, ...rest, ...todo].join('\n')
}

export function summaryLine(checks: readonly Check[]): string {
  const count = (status: Check['status']): number => checks.filter((check) => check.status === status).length
  const [fails, warns] = [count('fail'), count('warn')]
  const said = `${count('ok')} ok, ${warns} to look at, ${fails} failed`
  if (fails > 0) return styleText('red', said)
  return styleText(warns > 0 ? 'yellow' : 'green', said)
}
