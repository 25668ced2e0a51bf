import { styleText } from 'node:util'
import { wrapped } from '../wrapped.ts'
import type { Check } from './check.ts'

const COLOUR = { ok: 'green', warn: 'yellow', fail: 'red' } as const
const NAME_WIDTH = 14
const LEAST_ROOM = 30
const INDENT = ' '.repeat(2 + 4 + 2 + NAME_WIDTH + 1)

/** One check: its verdict, its name, what was found; below it what to do. styleText leaves colour away where nobody sees it. */
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
