import { styleText } from 'node:util'
import { printable } from '../../base/text.ts'
import type { Millis } from '../../base/units.ts'
import type { FoundToken } from '../../journal/tape/tape-search.ts'
import { clockOf, localDateOf, spanOf } from '../../runtime/time-text.ts'
import type { Step } from '../../runtime/why/format.ts'
import { wrapped } from '../terminal.ts'

const NARROWEST = 80
const WIDEST = 122
/** Width of the lines, in characters, if stdout is not a terminal. */
const DEFAULT_WIDTH = 100
const SINCE = 8
const CLOCK = 12
const WHAT = 8
/** Width of the columns before the text of a step. */
const INDENT = SINCE + CLOCK + WHAT + 5

/** Returns the width of the lines. `columns`: width of the terminal; undefined if there is no terminal. */
export function pageColumns(columns: number | undefined): number {
  return columns === undefined ? DEFAULT_WIDTH : Math.min(WIDEST, Math.max(NARROWEST, columns))
}

/** Formats steps as lines: time since `zero`, time of day, kind, and the wrapped text. When the day changes, a line
 *  with the date is added. Foreign text is escaped. */
export function pageOf(steps: readonly Step[], zero: Millis, columns: number): string[] {
  const lines: string[] = []
  let day = localDateOf(zero)
  for (const { at, what, text } of steps) {
    const today = at === null ? day : localDateOf(at)
    if (today !== day) lines.push(styleText('dim', `${' '.repeat(SINCE + 1)}${today}`))
    day = today
    const since = at === null ? 'now' : spanOf(at - zero)
    const clock = at === null ? '' : clockOf(at)
    const [first = '', ...rest] = wrapped(printable(text), columns - INDENT)
    const head = `${styleText('dim', `${since.padStart(SINCE)} ${clock.padEnd(CLOCK)}`)}  ${styleText('bold', what.padEnd(WHAT))}  `
    lines.push(`${head}${first}`.trimEnd(), ...rest.map((line) => indented(line, columns)))
  }
  return lines
}

/** Lines of a wrapped text, without times. */
export function paragraph(text: string, columns: number, indent = 0): string[] {
  return wrapped(printable(text), columns - indent).map((line) => ' '.repeat(indent) + line)
}

/** Indents a line. A line that would not fit is indented less, so that a signature stays on one line and can be
 *  copied. */
function indented(line: string, columns: number): string {
  return ' '.repeat(Math.max(2, Math.min(INDENT, columns - line.length))) + line
}

export function stepsJson(steps: readonly Step[], zero: Millis): object[] {
  return steps.map(({ at, what, text }) => ({ at, afterMs: at === null ? null : at - zero, what, text }))
}

/** Lines with a mint, and with the symbol and the name that its creator chose. */
export function headLines({ mint, symbol, name }: FoundToken, columns: number): string[] {
  const words = [symbol, name === symbol ? '' : name].filter((word) => word !== '')
  return [styleText('bold', mint), ...(words.length === 0 ? [] : paragraph(words.join(', '), columns, 2))]
}
