import { stripVTControlCharacters, styleText } from 'node:util'
import { printable } from '../../base/text.ts'
import type { Millis } from '../../base/units.ts'
import type { EntryStop } from '../../live/entry-stops.ts'
import type { PositionStatus, Status } from '../../live/status.ts'
import type { UndecidedStatus } from '../../live/undecided.ts'
import type { Hold } from '../../orders/budget.ts'
import { localDateOf } from '../../runtime/time-text.ts'
import { wrapped } from '../terminal.ts'

const POSITIONS_SHOWN = 10
const MOST_STOP_LINES = 4

const dim = (text: string): string => styleText('dim', text)
const bold = (text: string): string => styleText('bold', text)

/** What a person wants to see of running bots, as lines of at most `columns` characters. Every stranger's text in it is
 *  escaped. `rowsPerSecond`: undefined where nobody has counted for long enough. */
export function liveTable(status: Status, title: string, rowsPerSecond: number | undefined, columns: number): string[] {
  return [
    `${bold('sluice')}  ${title}  ${dim(duration(status.time - status.startedAt))}`,
    ...status.stops.flatMap((stop) => stopLines(stop, status, columns)),
    ...status.undecided.flatMap((order) => undecidedLines(order, status.time, columns)),
    statusLine(status, rowsPerSecond),
    ...status.requests.holds.map((hold) => holdLine(hold, status)),
    ...(status.planNotice === '' ? [] : [styleText('yellow', printable(status.planNotice))]),
    ...status.brokenLists.map((problem) => styleText('red', printable(problem))),
    '',
    ...botLines(status),
    '',
    ...positionLines(status),
    '',
    ...fillLines(status),
  ].map((line) => cut(line, columns))
}

/** What keeps bots from buying, in a few words: `HALTED`, `EXITS ONLY dips`. */
export function stopName({ code, bots }: EntryStop, all: readonly unknown[]): string {
  const name = code.replaceAll('_', ' ')
  return bots.length === all.length ? name : `${name} ${bots.join(', ')}`
}

function stopLines(stop: EntryStop, { bots, time }: Status, columns: number): string[] {
  const since = stop.since === null ? 'since before this start' : `since ${timeOf(stop.since, time)}`
  const until = stop.until === null ? '' : ` until ${timeOf(stop.until, time)}`
  return headed(stopName(stop, bots), 'red', `${since}${until}: ${printable(stop.text)}`, columns)
}

function undecidedLines(
  { orderId, bot, mint, side, since, text }: UndecidedStatus,
  now: Millis,
  columns: number,
): string[] {
  const what = `${bot} ${side} ${mint.slice(0, 8)}, sent ${timeOf(since, now)}: ${printable(text)}`
  return headed(`UNDECIDED ${orderId}`, 'yellow', what, columns)
}

/** Wrapped: the end of it says what to do. */
function headed(name: string, color: 'red' | 'yellow', text: string, columns: number): string[] {
  const [first = '', ...rest] = wrapped(`${name} ${text}`, columns)
  const head = `${styleText(['bold', color], first.slice(0, name.length))}${first.slice(name.length)}`
  const shown = rest.slice(0, MOST_STOP_LINES - 1)
  return [
    head,
    ...shown.map((line, index) => (index === shown.length - 1 && rest.length > shown.length ? `${line} …` : line)),
  ]
}

/** Why fewer requests can be sent than the plan has. */
function holdLine({ code, until, text }: Hold, { time }: Status): string {
  const end = until === null ? '' : ` until ${timeOf(until, time)}`
  return `${styleText('yellow', code.replaceAll('_', ' '))}${end}: ${text}`
}

function statusLine(status: Status, rowsPerSecond: number | undefined): string {
  const { feed, rows, reconnects, decisionUs } = status
  const { held, allowed, perMinute, waiting } = status.requests
  const parts = [
    `feed ${feed === 'live' ? styleText('green', feed) : styleText('yellow', feed)}`,
    ...(rowsPerSecond === undefined ? [] : [`${rowsPerSecond.toFixed(0)} rows/s`]),
    `${rows} rows`,
    ...(reconnects > 0 ? [`${reconnects} reconnects`] : []),
    `requests ${held}/${allowed}${allowed < perMinute ? ` of ${perMinute}` : ''}${waiting > 0 ? `, ${waiting} waiting` : ''}`,
    `decides in ${decisionUs.p50.toFixed(1)} us, p99 ${decisionUs.p99.toFixed(0)} us`,
  ]
  return parts.join(dim('  |  '))
}

function botLines({ bots, time }: Status): string[] {
  const rows = bots.map(({ name, mode, executor, positions, openOrders, realizedSol, feesSol, last }) => [
    name,
    mode === 'live' ? `live, ${executor}` : 'paper',
    String(positions),
    String(openOrders),
    signed(realizedSol),
    signed(-feesSol),
    last === null ? dim('has not acted yet') : `${dim(timeOf(last.time, time))} ${printable(last.text)}`,
  ])
  return table(['BOT', 'MODE', 'HOLDS', 'ORDERS', 'REALISED SOL', 'FEES SOL', 'LAST'], rows, [2, 3, 4, 5])
}

function positionLines({ positions, time }: Status): string[] {
  const rows = positions.slice(0, POSITIONS_SHOWN).map((position) => {
    const { mint, bot, tokens, costSol, valueSol, openedAt } = position
    const change = valueSol === null || costSol === 0 ? undefined : (valueSol / costSol - 1) * 100
    return [
      mint.slice(0, 8),
      bot,
      costSol.toFixed(4),
      tokens === 0 ? dim('-') : valueSol === null ? dim('no price') : valueSol.toFixed(4),
      change === undefined ? '' : colored(change, `${change >= 0 ? '+' : ''}${change.toFixed(1)} %`),
      duration(time - openedAt),
      printable(stateOf(position)),
    ]
  })
  if (rows.length === 0) return [dim('holds nothing')]
  const more = positions.length > rows.length ? [dim(`and ${positions.length - rows.length} more`)] : []
  return [...table(['TOKEN', 'BOT', 'COST SOL', 'WORTH SOL', 'CHANGE', 'HELD', 'STATE'], rows, [2, 3, 4, 5]), ...more]
}

function stateOf({ state, selling, unsellable }: PositionStatus): string {
  if (selling === '') return state
  return unsellable ? selling : `selling: ${selling}`
}

function fillLines({ lastFills, time }: Status): string[] {
  const rows = lastFills.map((fill) => [
    dim(timeOf(fill.time, time)),
    fill.bot,
    fill.side === 'buy' ? styleText('cyan', 'bought') : styleText('magenta', 'sold'),
    fill.mint.slice(0, 8),
    fill.sol.toFixed(4),
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
  const isColored = kept !== stripVTControlCharacters(kept)
  return isColored ? `${kept}\u001b[0m…` : `${kept}…`
}

/** As exact as somebody who watches wants it; `sluice fills` has every lamport. */
function signed(sol: number): string {
  const text = `${sol > 0 ? '+' : ''}${sol.toFixed(4)}`
  return sol === 0 ? dim('0') : colored(sol, text)
}

function colored(value: number, text: string): string {
  return styleText(value >= 0 ? 'green' : 'red', text)
}

/** By the clock, with the day where that is another one than now. */
function timeOf(time: Millis, now: Millis): string {
  const [at, today] = [new Date(time), new Date(now)]
  const clock = at.toTimeString().slice(0, 8)
  return at.toDateString() === today.toDateString() ? clock : `${localDateOf(time)} ${clock}`
}

function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const rest = `${String(Math.floor(seconds / 60) % 60).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`
  return seconds >= 3600 ? `${Math.floor(seconds / 3600)}:${rest}` : rest
}
