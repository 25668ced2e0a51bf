import { inspect } from 'node:util'

const LONGEST = 500
const LINES_A_SECOND = 20
const METHODS = ['log', 'info', 'warn', 'error', 'debug', 'trace', 'dir', 'table'] as const

/** What is written to the console of this thread goes to `say`, as one line each: the thread's own way out needs an event loop, which it
 *  does not have. More than 20 lines a second are dropped, and counted in the next one. */
export function takeConsole(say: (text: string) => void, nowMs = () => performance.now()): void {
  let second = 0
  let lines = 0
  let dropped = 0
  const write = (...values: unknown[]): void => {
    const now = Math.floor(nowMs() / 1000)
    if (now !== second) [second, lines] = [now, 0]
    if (++lines > LINES_A_SECOND) {
      dropped++
      return
    }
    const more = dropped === 0 ? '' : ` (${dropped} lines before it were dropped)`
    dropped = 0
    say(`${values.map(shown).join(' ').slice(0, LONGEST)}${more}`)
  }
  for (const method of METHODS) console[method] = write
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, LONGEST)
  try {
    return inspect(value, {
      depth: 2,
      breakLength: Number.POSITIVE_INFINITY,
      maxArrayLength: 20,
      maxStringLength: LONGEST,
    })
  } catch {
    return 'something that cannot be shown'
  }
}
