import { stripVTControlCharacters, styleText } from 'node:util'
import type { RunningBots } from '../bot.ts'
import { liquidationSol } from '../core/liquidation.ts'
import { isUnsellable, sellingText } from '../core/position.ts'
import { printable } from '../core/printable.ts'
import { lamportsToSol } from '../core/units.ts'

const POSITIONS_SHOWN = 10
const FILLS_SHOWN = 6

const dim = (text: string): string => styleText('dim', text)
const bold = (text: string): string => styleText('bold', text)

/** What a person wants to see of running bots, as lines of at most `columns` characters. Every stranger's text in it is escaped. */
export function liveTable(
  running: RunningBots,
  title: string,
  rowsPerSecond: number,
  now: number,
  columns: number,
): string[] {
  return [
    `${bold('sluice')}  ${title}  ${dim(duration(now - running.startedAt))}`,
    statusLine(running, rowsPerSecond),
    ...[...running.world.lists.broken.values()].map((problem) => styleText('red', printable(problem))),
    '',
    ...botLines(running),
    '',
    ...positionLines(running, now),
    '',
    ...fillLines(running),
  ].map((line) => cut(line, columns))
}

function statusLine({ world, tally }: RunningBots, rowsPerSecond: number): string {
  const { state, counts } = world.feed
  const { held, allowed, waiting } = world.limiter.status()
  const feed = state === 'live' ? styleText('green', state) : styleText('yellow', state)
  const parts = [
    `feed ${feed}`,
    `${rowsPerSecond.toFixed(0)} rows/s`,
    `${tally.rows} rows`,
    ...(counts.losses > 0 ? [`${counts.losses} reconnects`] : []),
    `requests ${held}/${allowed}${waiting > 0 ? `, ${waiting} waiting` : ''}`,
    `decides in ${world.decisionTime.p50().toFixed(1)} us, p99 ${world.decisionTime.p99().toFixed(0)} us`,
  ]
  return parts.join(dim('  |  '))
}

function botLines({ bots, tally }: RunningBots): string[] {
  const rows = bots.map(({ name, account, executor }) => {
    const own = [...tally.positions.values()].filter(({ bot }) => bot === name)
    const { realized, fees } = tally.resultOf(name)
    const act = tally.acts.get(name)
    const how = account.mode === 'live' ? `live, ${executor}` : 'paper'
    return [
      name,
      how,
      String(own.length),
      signed(realized),
      signed(-fees),
      act === undefined ? dim('has not acted yet') : `${dim(timeOfDay(act.time))} ${printable(act.text)}`,
    ]
  })
  return table(['BOT', 'MODE', 'HOLDS', 'REALISED SOL', 'FEES SOL', 'LAST'], rows, [2, 3, 4])
}

function positionLines({ tally, world }: RunningBots, now: number): string[] {
  const held = [...tally.positions.values()].sort((a, b) => a.openedAt - b.openedAt)
  const rows = held.slice(0, POSITIONS_SHOWN).map((position) => {
    const value = liquidationSol(position, world.priceOf(position.mint))
    const change =
      value === undefined || position.costLamports === 0
        ? undefined
        : (value / lamportsToSol(position.costLamports) - 1) * 100
    const selling = sellingText(position)
    const state = selling === '' ? position.state : isUnsellable(position) ? selling : `selling: ${selling}`
    return [
      position.mint.slice(0, 8),
      position.bot,
      solText(position.costLamports),
      position.tokens === 0n ? dim('-') : value === undefined ? dim('no price') : value.toFixed(4),
      change === undefined ? '' : colored(change, `${change >= 0 ? '+' : ''}${change.toFixed(1)} %`),
      duration(now - position.openedAt),
      printable(state),
    ]
  })
  if (rows.length === 0) return [dim('holds nothing')]
  const more = held.length > rows.length ? [dim(`and ${held.length - rows.length} more`)] : []
  return [...table(['TOKEN', 'BOT', 'COST SOL', 'WORTH SOL', 'CHANGE', 'HELD', 'STATE'], rows, [2, 3, 4, 5]), ...more]
}

function fillLines({ tally }: RunningBots): string[] {
  const rows = [...tally.fills.values()]
    .sort((one, other) => other.time - one.time)
    .slice(0, FILLS_SHOWN)
    .map((fill) => [
      dim(timeOfDay(fill.time)),
      fill.bot,
      fill.side === 'buy' ? styleText('cyan', 'bought') : styleText('magenta', 'sold'),
      fill.mint.slice(0, 8),
      solText(fill.tradeLamports),
      fill.final ? 'final' : dim('confirmed'),
      dim(fill.signature.slice(0, 16)),
    ])
  return rows.length === 0 ? [] : table(['TIME', 'BOT', 'FILL', 'TOKEN', 'SOL', 'SEEN', 'SIGNATURE'], rows, [4])
}

/** Columns as wide as their widest cell; those listed in `right` end flush. */
function table(head: readonly string[], rows: readonly (readonly string[])[], right: readonly number[]): string[] {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => width(row[column] ?? ''))))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => pad(cell, widths[column] ?? 0, right.includes(column)))
      .join('  ')
      .trimEnd()
  return [dim(line(head)), ...rows.map(line)]
}

function pad(cell: string, to: number, right: boolean): string {
  const space = ' '.repeat(Math.max(0, to - width(cell)))
  return right ? space + cell : cell + space
}

function width(text: string): number {
  return stripVTControlCharacters(text).length
}

/** Cuts what would wrap; the part behind the cut loses its colour with it. */
function cut(line: string, columns: number): string {
  if (width(line) <= columns) return line
  let seen = 0
  let kept = ''
  // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colour codes
  for (const [part] of line.matchAll(/\u001b\[[0-9;]*m|[^\u001b]/g)) {
    if (part.length === 1 && ++seen >= columns) break
    kept += part
  }
  return `${kept}\u001b[0m…`
}

/** As exact as somebody who watches wants it; `sluice fills` has every lamport. */
function solText(lamports: number): string {
  return lamportsToSol(lamports).toFixed(4)
}

function signed(lamports: number): string {
  const text = `${lamports > 0 ? '+' : ''}${solText(lamports)}`
  return lamports === 0 ? dim('0') : colored(lamports, text)
}

function colored(value: number, text: string): string {
  return styleText(value >= 0 ? 'green' : 'red', text)
}

function timeOfDay(time: number): string {
  return new Date(time).toTimeString().slice(0, 8)
}

function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const rest = `${String(Math.floor(seconds / 60) % 60).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`
  return seconds >= 3600 ? `${Math.floor(seconds / 3600)}:${rest}` : rest
}
