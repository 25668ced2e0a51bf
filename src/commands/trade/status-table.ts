import { styleText } from 'node:util'
import { printable } from '../../base/text.ts'
import type { Millis } from '../../base/units.ts'
import type { Hold } from '../../orders/budget-status.ts'
import { durationOf, localDateOf } from '../../runtime/time-text.ts'
import { botsByWallet, summedBots, totalOf } from '../../runtime/view/bot-results.ts'
import type {
  BotStatus,
  EntryStop,
  PositionStatus,
  Result,
  UndecidedStatus,
  View,
  WalletStatus,
} from '../../runtime/view/view.ts'
import { walletSums } from '../../runtime/view/wallet-sums.ts'
import { cut, dim, signedShortSol, table, wrapped } from '../terminal.ts'

const LOG_LINES = 6
const DRAW_EVERY_MS = 500
/** A terminal with fewer rows shows only half as many log lines. */
const LOW_ROWS = 30

const POSITIONS_SHOWN = 10
/**
 * Widths of the terminal, in characters, from which the tables have columns for mode and orders (`MODES_FROM`), and all
 * parts of the all-time results (`ALL_PARTS_FROM`).
 */
const MODES_FROM = 100
const ALL_PARTS_FROM = 136
const MOST_STOP_LINES = 4

const bold = (text: string): string => styleText('bold', text)

/** Formats the status of running bots as lines of at most `columns` characters, with foreign text escaped.
 *  `rowsPerSecond` is undefined before the first measurement. */
export function liveTable(status: View, rowsPerSecond: number | undefined, columns: number): string[] {
  return [
    `${bold('sluice')}  ${status.title}  ${dim(durationOf(wholeSeconds(status.time - status.startedAt)))}`,
    ...status.stops.flatMap((stop) => stopLines(stop, status, columns)),
    ...status.undecided.flatMap((order) => undecidedLines(order, status.time, columns)),
    statusLine(status, rowsPerSecond),
    ...status.requests.holds.map((hold) => holdLine(hold, status)),
    ...(status.planNotice === '' ? [] : [styleText('yellow', printable(status.planNotice))]),
    ...[...status.brokenLists, ...status.brokenSources].map((problem) => styleText('red', printable(problem))),
    '',
    ...resultLines(status, columns),
    ...walletLines(status),
    '',
    ...positionLines(status),
    '',
    ...actLines(status, columns),
    '',
    ...fillLines(status),
  ].map((line) => cut(line, columns))
}

/** Name of a reason that stops entries. If it does not stop all bots, the names of the stopped bots follow: `HALTED`,
 *  `EXITS ONLY dips`. */
export function stopName({ code, bots }: EntryStop, all: readonly unknown[]): string {
  const name = code.replaceAll('_', ' ')
  return bots.length === all.length ? name : `${name} ${bots.join(', ')}`
}

function stopLines(stop: EntryStop, { bots, time }: View, columns: number): string[] {
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

/** Lines with a coloured name and the text after it. The text is wrapped and not cut, because its end tells the
 *  operator how to respond. */
function headed(name: string, color: 'red' | 'yellow', text: string, columns: number): string[] {
  const [first = '', ...rest] = wrapped(`${name} ${text}`, columns)
  const head = `${styleText(['bold', color], first.slice(0, name.length))}${first.slice(name.length)}`
  const shown = rest.slice(0, MOST_STOP_LINES - 1)
  return [
    head,
    ...shown.map((line, index) => (index === shown.length - 1 && rest.length > shown.length ? `${line} …` : line)),
  ]
}

/** Line that explains why fewer requests can be sent than the plan allows. */
function holdLine({ code, until, text }: Hold, { time }: View): string {
  const end = until === null ? '' : ` until ${timeOf(until, time)}`
  return `${styleText('yellow', code.replaceAll('_', ' '))}${end}: ${text}`
}

function statusLine(status: View, rowsPerSecond: number | undefined): string {
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

/**
 * Table of the results in SOL, `realised + fees + unrealised = net`, since this start and since the first start of the
 * journal (all time). In a narrow table, only the row of all bots together shows the parts of the all-time result.
 */
function resultLines({ bots, startedAt, beganAt, time }: View, columns: number): string[] {
  if (bots.length === 0) return []
  const isContinued = beganAt < startedAt
  const hasModes = columns >= MODES_FROM
  const hasAllParts = isContinued && columns >= ALL_PARTS_FROM
  const named = (name: string, mode: string, holds: string, orders: string): string[] =>
    hasModes ? [name, mode, holds, orders] : [name, holds]
  const results = (now: Result, allTime: Result): string[] => [
    ...partsOf(now),
    ...(hasAllParts ? partsOf(allTime) : isContinued ? [signed(allTime.netSol)] : []),
  ]
  const rows = bots.map((bot) => {
    const { name, positions, openOrders, sinceStart, sinceBeginning } = bot
    const about = named(name, modeOf(bot), String(positions), String(openOrders))
    return [...about, ...results(sinceStart, sinceBeginning)]
  })
  for (const { label, bots: summed } of [...botsByWallet(bots), ...summedBots(bots)]) {
    const sum = (of: (bot: BotStatus) => number): string => String(summed.reduce((all, bot) => all + of(bot), 0))
    const allTime = totalOf(summed.map(({ sinceBeginning }) => sinceBeginning))
    rows.push([
      ...named(
        label,
        '',
        sum(({ positions }) => positions),
        sum(({ openOrders }) => openOrders),
      ),
      ...results(totalOf(summed.map(({ sinceStart }) => sinceStart)), allTime),
    ])
    if (isContinued && !hasAllParts && !label.startsWith('wallet '))
      rows.push([...named('all time', '', '', ''), ...partsOf(allTime)])
  }
  if (bots.length === 1 && isContinued && !hasAllParts)
    rows.push([...named('all time', '', '', ''), ...bots.flatMap(({ sinceBeginning }) => partsOf(sinceBeginning))])
  const head = [
    ...named('BOT', 'MODE', 'HOLDS', 'ORDERS'),
    ...PARTS,
    ...(hasAllParts ? ['ALL-TIME REALISED', ...PARTS.slice(1)] : isContinued ? ['ALL-TIME NET'] : []),
  ]
  const [first = '', ...rest] = table([head, ...rows], (column) => column > (hasModes ? 1 : 0))
  const since = `SOL since this start ${timeOf(startedAt, time)}`
  const label = isContinued ? `; all time: since ${timeOf(beganAt, time)}` : ', the first of this journal'
  return [dim(`${since}${label}`), dim(first), ...rest]
}

const PARTS = ['REALISED', 'FEES', 'UNREALISED', 'NET']

function partsOf({ realizedSol, feesSol, unrealizedSol, netSol }: Result): string[] {
  return [signed(realizedSol), signed(-feesSol), signed(unrealizedSol), signed(netSol)]
}

function modeOf({ mode, executor, wallet }: BotStatus): string {
  const text = mode === 'live' ? `live, ${executor}` : 'paper'
  return wallet === undefined ? text : `${text}, ${wallet}`
}

function walletLines({ wallets }: View): string[] {
  return [
    ...wallets.map(({ name, mode, bots, ...money }) => {
      const whose = bots.length === 1 ? bots[0] : `${bots.length} bots`
      return walletLine(name === undefined ? `wallet of ${whose}, ${mode}` : `wallet ${name}, ${mode}`, money)
    }),
    ...walletSums(wallets).map(({ mode, count, ...money }) => walletLine(`${count} wallets, ${mode}`, money)),
  ]
}

function walletLine(label: string, { solBalance, positionsSol }: Pick<WalletStatus, 'solBalance' | 'positionsSol'>) {
  const total = solBalance === null ? '' : ` = ${(solBalance + positionsSol).toFixed(4)} SOL`
  const balance = solBalance === null ? 'balance not read yet' : solBalance.toFixed(4)
  return `${dim(`${label}:`)} ${balance} + ${positionsSol.toFixed(4)} in positions${total}`
}

/** The last action of each bot, wrapped to at most two lines. */
function actLines({ bots, time }: View, columns: number): string[] {
  const width = Math.max(...bots.map(({ name }) => name.length))
  return bots.flatMap(({ name, last }) => {
    if (last === null) return [`${name.padEnd(width)}  ${dim('no action yet')}`]
    const when = timeOf(last.time, time)
    const indent = width + when.length + 4
    const [first = '', second, ...more] = wrapped(printable(last.text), Math.max(20, columns - indent - 1))
    const rest = second === undefined ? [] : [`${' '.repeat(indent)}${second}${more.length > 0 ? ' …' : ''}`]
    return [`${name.padEnd(width)}  ${dim(when)}  ${first}`, ...rest]
  })
}

function positionLines({ positions, time }: View): string[] {
  const rows = positions.slice(0, POSITIONS_SHOWN).map((position) => {
    const { mint, bot, tokens, costSol, valueSol, changePercent, openedAt } = position
    return [
      mint.slice(0, 8),
      bot,
      costSol.toFixed(4),
      tokens === 0 ? dim('-') : valueSol === null ? dim('no price') : valueSol.toFixed(4),
      changePercent === null
        ? ''
        : colored(changePercent, `${changePercent >= 0 ? '+' : ''}${changePercent.toFixed(1)} %`),
      durationOf(wholeSeconds(time - openedAt)),
      printable(stateOf(position)),
    ]
  })
  if (rows.length === 0) return [dim('no open positions')]
  const more = positions.length > rows.length ? [dim(`and ${positions.length - rows.length} more`)] : []
  return [
    ...headedTable(['TOKEN', 'BOT', 'COST SOL', 'WORTH SOL', 'CHANGE', 'HELD', 'STATE'], rows, [2, 3, 4, 5]),
    ...more,
  ]
}

function stateOf({ state, selling, unsellable }: PositionStatus): string {
  if (selling === '') return state
  return unsellable ? selling : `selling: ${selling}`
}

function fillLines({ lastFills, time }: View): string[] {
  const rows = lastFills.map((fill) => [
    dim(timeOf(fill.time, time)),
    fill.bot,
    fill.side === 'buy' ? styleText('cyan', 'bought') : styleText('magenta', 'sold'),
    fill.mint.slice(0, 8),
    fill.sol.toFixed(4),
    fill.final ? 'final' : dim('confirmed'),
    dim(fill.signature.slice(0, 16)),
  ])
  return rows.length === 0 ? [] : headedTable(['TIME', 'BOT', 'FILL', 'TOKEN', 'SOL', 'SEEN', 'SIGNATURE'], rows, [4])
}

function headedTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[],
): string[] {
  const [first = '', ...rest] = table([head, ...rows], (column) => right.includes(column))
  return [dim(first), ...rest]
}

/** SOL with a sign, coloured. Four decimals are enough to watch a bot; `sluice fills` shows every lamport. */
function signed(sol: number): string {
  return sol === 0 ? dim('0') : colored(sol, signedShortSol(sol))
}

function colored(value: number, text: string): string {
  return styleText(value >= 0 ? 'green' : 'red', text)
}

/** Time of day, with the date if it is not today. */
function timeOf(time: Millis, now: Millis): string {
  const [at, today] = [new Date(time), new Date(now)]
  const clock = at.toTimeString().slice(0, 8)
  return at.toDateString() === today.toDateString() ? clock : `${localDateOf(time)} ${clock}`
}

/** Rounds milliseconds down to whole seconds, so that the table does not flicker. */
function wholeSeconds(ms: number): number {
  return Math.max(0, Math.floor(ms / 1000)) * 1000
}

/** Shows a picture in the terminal's alternate buffer and redraws it, with the last lines of the log below it. */
export class Screen {
  readonly #draw: (columns: number, rows: number) => string[]
  readonly #log: string[] = []
  #timer: NodeJS.Timeout | undefined

  /** `draw` returns the lines of the picture, at most `columns` wide. Lines beyond `rows` are not shown. */
  constructor(draw: (columns: number, rows: number) => string[]) {
    this.#draw = draw
  }

  readonly log = (line: string): void => {
    this.#log.push(line.trimEnd())
    if (this.#log.length > LOG_LINES) this.#log.shift()
  }

  start(): void {
    process.stdout.write('\u001b[?1049h\u001b[?25l')
    this.#timer = setInterval(() => this.show(), DRAW_EVERY_MS)
    this.show()
  }

  stop(): void {
    if (this.#timer === undefined) return
    clearInterval(this.#timer)
    this.#timer = undefined
    process.stdout.write('\u001b[?25h\u001b[?1049l')
  }

  /** Draws the picture now. Does nothing before `start`. */
  show(): void {
    if (this.#timer === undefined) return
    const { columns = 100, rows = 40 } = process.stdout
    const log = this.#log.slice(rows < LOW_ROWS ? -LOG_LINES / 2 : 0).map((line) => line.slice(0, columns))
    const room = rows - log.length - 2
    const lines = [...this.#draw(columns, room).slice(0, room), '', ...log]
    process.stdout.write(`\u001b[H${lines.map((line) => `${line}\u001b[K`).join('\n')}\u001b[J`)
  }
}
