import { styleText } from 'node:util'
import { formatSol } from '../core/units.ts'

const dim = (text: string) => styleText('dim', text)

/** Four places are enough to judge by. */
export function shortSol(amount: number): string {
  return formatSol(Math.round(amount / 100_000) * 100_000)
}

export function rows(lines: readonly (readonly [string, string])[]): string {
  return lines.map(([label, text]) => `  ${dim(label.padEnd(8))} ${text}`).join('\n')
}

/** First column to the left, numbers to the right; the first line names them. */
export function table(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0)
  return lines
    .map((line) => `  ${line.map(cell).join('  ')}`.trimEnd())
    .map((line, index) => (index === 0 ? dim(line) : line))
    .join('\n')
}
