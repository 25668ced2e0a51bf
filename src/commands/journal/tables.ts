import { roundTripsOf } from '../../backtest/report/round-trips.ts'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import type { Millis } from '../../base/units.ts'
import { didYouMean } from '../../config/yaml/wording.ts'
import { type JournalReader, openReader } from '../../journal/reader/reader.ts'
import { liquidationOf } from '../../runtime/liquidation-value.ts'
import { stampOf } from '../../runtime/time-text.ts'
import { type Command, defineCommand, flag, JOURNAL, JSON_LINE, number, text, type Values } from '../options.ts'
import { readSince } from '../since.ts'
import { cut } from '../terminal.ts'
import { fillColumns, type Named, orderColumns, positionColumns, roundTripColumns } from './columns.ts'
import { type Column, chosenColumns, csvOf, fittedTable } from './listing.ts'

const OPTIONS = {
  journal: JOURNAL,
  bot: text('<name>', 'list only this bot'),
  since: text('<time>', 'list only rows newer than this: 2h, 1d12h, 2026-11-22, 2026-11-22T12:03'),
  last: number('<n>', 'list only the last n', { integer: true, min: 1 }),
  columns: text('<a,b,c>', 'print only these columns, in this order'),
  csv: flag('print CSV: all columns, exact amounts, times in UTC'),
  json: JSON_LINE,
}
type Options = Values<typeof OPTIONS>

export const orders = listCommand({
  name: 'orders',
  read: (reader) => reader.orders(),
  timeOf: ({ time }) => time,
  columns: orderColumns,
  hint: 'run `sluice why ORDER` to see why an order was made and how it ended',
})

export const fills = listCommand({
  name: 'fills',
  read: (reader) => reader.fills(),
  timeOf: ({ time }) => time,
  columns: fillColumns,
})

export const positions = listCommand({
  name: 'positions',
  read: (reader) => reader.positions(liquidationOf(reader)),
  timeOf: ({ time }) => time,
  columns: positionColumns,
})

export const roundTrips = listCommand({
  name: 'round-trips',
  key: 'roundTrips',
  read: roundTripsOf,
  timeOf: ({ closedAt }) => closedAt,
  columns: roundTripColumns,
})

interface Listing<Row> {
  /** Name of the listed rows in messages, for example `orders`. */
  readonly name: string
  /** Key of the array of rows in the JSON output; if absent, `name` is the key. */
  readonly key?: string
  readonly read: (reader: JournalReader) => readonly Row[]
  readonly timeOf: (row: Row) => Millis
  readonly columns: (now: Millis) => readonly Column<Named<Row>>[]
  /** Text that is printed to stderr below a table. */
  readonly hint?: string
}

/** A command that prints rows of a journal, oldest first, as a table, as CSV or as one line of JSON. */
function listCommand<Row extends { readonly bot: string; readonly mint: string }>(
  listing: Listing<Row>,
): Command<typeof OPTIONS> {
  return defineCommand({ options: OPTIONS, run: async (_args, options) => printList(listing, options) })
}

function printList<Row extends { readonly bot: string; readonly mint: string }>(
  { name, key = name, read, timeOf, columns: all, hint }: Listing<Row>,
  options: Options,
): number {
  const { journal, bot, since, last, columns: names, csv, json } = options
  const now = Date.now()
  const columns = chosenColumns(all(now), names)
  if (json && (csv || names !== undefined))
    throw new SluiceError(
      '--json prints every key of every row, so it cannot be combined with --csv or --columns',
      ExitCode.usage,
    )
  const from = since === undefined ? undefined : readSince(since, now)
  const reader = openReader(journal)
  try {
    if (bot !== undefined) requireBot(reader, bot)
    const listed = read(reader)
      .filter((row) => (bot === undefined || row.bot === bot) && (from === undefined || timeOf(row) >= from))
      .toSorted((one, other) => timeOf(one) - timeOf(other))
      .slice(last === undefined ? 0 : -last)
    const symbols = reader.look((_history, tape) => tape.symbolsOf(new Set(listed.map(({ mint }) => mint))))
    const rows = listed.map((row) => ({ ...row, symbol: symbols.get(row.mint) ?? '' }))
    if (json) console.log(printable(JSON.stringify({ [key]: rows })))
    else if (csv) process.stdout.write(csvOf(rows, columns))
    else if (rows.length === 0) console.log(noneText(name, journal, bot, from))
    else printTable(rows, columns, hint)
  } finally {
    reader.close()
  }
  return ExitCode.done
}

/** Throws SluiceError (exit 2) if the journal does not contain the bot. */
function requireBot(reader: JournalReader, bot: string): void {
  const known = new Set(reader.segments().flatMap(({ start }) => start.bots.map(({ name }) => name)))
  if (known.has(bot) || known.size === 0) return
  const names = [...known]
  throw new SluiceError(
    printable(
      `--bot ${bot}: ${reader.path} has no such bot${didYouMean(bot, names)}; its bots are ${names.join(', ')}`,
    ),
    ExitCode.usage,
  )
}

function noneText(name: string, journal: string, bot: string | undefined, from: Millis | undefined): string {
  const of = bot === undefined ? '' : ` of ${bot}`
  return printable(`no ${name}${of} in ${journal}${from === undefined ? '' : ` since ${stampOf(from)}`}`)
}

function printTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], hint: string | undefined): void {
  const room = process.stdout.isTTY === true ? process.stdout.columns : undefined
  const { lines, leftOut } = fittedTable(rows, columns, room)
  for (const line of lines) console.log(line)
  if (leftOut.length > 0)
    console.error(
      cut(`columns that did not fit (see --columns, --csv): ${leftOut.join(', ')}`, room ?? Number.POSITIVE_INFINITY),
    )
  if (hint !== undefined) console.error(hint)
}
