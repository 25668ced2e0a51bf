import type { Group, TagGroups } from '../backtest/metrics/groups.ts'
import { printable } from '../base/text.ts'
import { signedShortSol, table } from './terminal.ts'

/** Largest number of tags in a table: those with the most trades. */
const TAGS = 20
const HEADS = ['TRADES', 'NET SOL', 'AVERAGE', 'WON', 'HELD']

/** Lines of two tables with the trades by tag of the entry and of the exit; none if no trade has a tag. */
export function tagLines({ byEntryTag, byExitTag }: TagGroups): string[] {
  return [...linesOf('ENTRY TAG', byEntryTag), ...linesOf('EXIT TAG', byExitTag)]
}

function linesOf(head: string, groups: readonly Group[]): string[] {
  if (groups.length === 0) return []
  const shown = groups.toSorted((one, other) => other.trades - one.trades).slice(0, TAGS)
  const left = groups.length - shown.length
  const lines = table([[head, ...HEADS], ...shown.map(cellsOf)]).map((line) => `  ${line}`)
  return left === 0 ? lines : [...lines, `  and ${left} more`]
}

function cellsOf({ name, trades, netSol, averagePercent, winPercent, holdingSeconds }: Group): string[] {
  const figure = (value: number | null, unit: string, digits: number): string =>
    value === null ? 'n/a' : `${value.toFixed(digits)} ${unit}`
  return [
    ...[name === '' ? '(no tag)' : printable(name), `${trades}`, signedShortSol(netSol)],
    ...[figure(averagePercent, '%', 1), figure(winPercent, '%', 0), figure(holdingSeconds, 's', 0)],
  ]
}
