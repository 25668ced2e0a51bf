import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path/posix'
import { printable } from '../../base/text.ts'

const LINES_AROUND = 2
/** Matches the first place in a message: `strategies/dips.ts:12:5` or `bots.yaml:4:3`. */
const PLACE = /([^\s:'"()]+\.(?:[cm]?[jt]s|ya?ml)):(\d+)(?::(\d+))?/

/**
 * Lines of code around the first place that a message names, with a mark below the column. Empty if the message names
 * no place, or if the file of the place cannot be read.
 */
export function codeFrame(message: string, cwd = process.cwd()): string[] {
  const [, file = '', lineText = '', columnText] = PLACE.exec(message) ?? []
  const path = resolve(cwd, file)
  if (file === '' || !existsSync(path)) return []
  const line = Number(lineText)
  const lines = readFileSync(path, 'utf8').split('\n')
  const first = Math.max(1, line - LINES_AROUND)
  const width = String(line + LINES_AROUND).length
  return lines.slice(first - 1, line + LINES_AROUND).flatMap((text, index) => {
    const number = first + index
    const shown = `${number === line ? '>' : ' '} ${String(number).padStart(width)} | ${printable(text)}`.trimEnd()
    const isMarked = number === line && columnText !== undefined
    return isMarked ? [shown, `  ${' '.repeat(width)} | ${' '.repeat(Number(columnText) - 1)}^`] : [shown]
  })
}
