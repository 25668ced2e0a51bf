import { styleText } from 'node:util'
import { printable } from '../../base/text.ts'
import { durationOf } from '../../runtime/time-text.ts'
import type { DevState, FailedVersion, ShownVersion } from '../../testing/dev/dev-session.ts'
import type { VersionEvent, VersionReport } from '../../testing/dev/version-report.ts'
import { cut, dim, signedShortSol, table, wrapped } from '../terminal.ts'

const CHANGES_SHOWN = 6
const MINT_LENGTH = 8

const COLOR: Readonly<Record<VersionEvent['kind'], 'cyan' | 'magenta' | 'yellow' | 'green' | 'red' | 'gray'>> = {
  ...{ buy: 'cyan', sell: 'magenta', filled: 'green', refused: 'yellow', note: 'gray', cancel: 'gray', alarm: 'red' },
}

/** Lines of the terminal, at most `columns` wide and `rows` many. */
export function devPicture(state: DevState, file: string, columns: number, rows: number): string[] {
  const { version, failed, title, head, stretchFrom } = state
  const running = version === undefined ? dim('no version runs') : `version ${version.number}`
  const lines = [
    `${styleText('bold', 'sluice dev')}  ${file}  ${running}${firstEventText(version)}`,
    dim(`${title}; the last ${durationOf(head - stretchFrom)}, until ${clockOf(head)}; save to reload, Ctrl-C to end`),
    '',
    ...(failed === undefined ? [] : [...failureLines(failed, version, columns), '']),
    ...comparisonLines(state, columns),
    '',
  ]
  const room = Math.max(3, rows - lines.length - 1)
  const events = version?.report.events ?? []
  const last = events.slice(-room).map((event) => eventLine(event, columns))
  return [...lines, ...(last.length === 0 ? [dim('no decisions yet')] : last)].map((line) => cut(line, columns))
}

function firstEventText(version: ShownVersion | undefined): string {
  const ms = version?.firstEventMs
  return ms === undefined ? '' : dim(`, first event ${ms.toFixed(0)} ms after the save`)
}

/** Text about a version that failed, in lines of at most `columns`, and the code around the place of the error. */
export function failureLines(
  { number, message, frame }: FailedVersion,
  version: ShownVersion | undefined,
  columns: number,
): string[] {
  const kept =
    version === undefined
      ? 'no version runs'
      : version.number === number
        ? 'the bot now only closes its positions'
        : `version ${version.number} continues`
  return [
    `${styleText(['bold', 'red'], `version ${number} failed`)}; ${kept}`,
    ...message.split('\n').flatMap((line) => wrapped(printable(line), columns)),
    ...frame.map((line) => (line.startsWith('>') || line.trimEnd().endsWith('^') ? line : dim(line))),
  ]
}

/** The results of the current version of the strategy next to those of the previous version, and the decisions and
 *  fills in which the two versions differ. */
export function comparisonLines({ version, comparison, stretchFrom, head }: DevState, columns: number): string[] {
  if (version === undefined) return []
  const { report, number } = version
  const before = comparison?.before
  const now = comparison?.now ?? report
  const column = (of: (one: VersionReport) => string): string[] => [...(before ? [of(before)] : []), of(now)]
  const changed = (of: (one: VersionReport) => string): string =>
    before !== undefined && of(before) !== of(now) ? 'changed' : ''
  const line = (name: string, of: (one: VersionReport) => string): string[] => [name, ...column(of), changed(of)]
  const stretch = `${now.rows} rows, ${durationOf(head - stretchFrom)}`
  const lines = table([
    [before ? 'THE SAME ROWS' : 'RESULTS', ...(before ? ['BEFORE'] : []), `VERSION ${number}`, ''],
    line('orders', ({ orders }) => String(orders)),
    line('fills', ({ fills }) => String(fills)),
    line('refused', ({ refused }) => String(refused)),
    line('open positions', ({ positions }) => String(positions)),
    line('net result SOL', ({ netSol }) => signedShortSol(netSol)),
  ])
  const [first = '', ...rest] = lines
  return [`${dim(first)}  ${dim(stretch)}`, ...rest, ...(comparison ? changeLines(comparison.changes, columns) : [])]
}

function changeLines(
  changes: readonly { readonly isNew: boolean; readonly event: VersionEvent }[],
  columns: number,
): string[] {
  if (changes.length === 0) return [dim('every decision and every fill is the same as before')]
  const shown = changes.slice(0, CHANGES_SHOWN)
  const more = changes.length - shown.length
  return [
    `${changes.length} decisions and fills differ${more > 0 ? `; the first ${shown.length}` : ''}:`,
    ...shown.map(
      ({ isNew, event }) =>
        `${isNew ? styleText('green', '+') : styleText('red', '-')} ${eventLine(event, columns - 2)}`,
    ),
  ]
}

/** An event as one line. */
export function eventLine({ time, bot, kind, mint, amount, text }: VersionEvent, columns: number): string {
  const token = mint === '' ? '' : mint.slice(0, MINT_LENGTH)
  const parts = [
    dim(clockOf(time)),
    styleText(COLOR[kind], kind.padEnd(7)),
    token.padEnd(MINT_LENGTH),
    amount,
    printable(text),
  ]
  const shown = bot === '' || bot === 'bot' ? parts : [...parts.slice(0, 1), bot, ...parts.slice(1)]
  return cut(shown.filter((part) => part !== '').join(' '), columns)
}

function clockOf(time: number): string {
  return new Date(time).toTimeString().slice(0, 8)
}
