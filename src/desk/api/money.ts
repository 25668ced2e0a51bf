import { lamportsToSol, type Millis } from '../../base/units.ts'
import { isReal, type Mode } from '../../engine/account.ts'
import { netOf } from '../../engine/accounting/round-trip.ts'
import { LEDGER_LABELS } from '../../journal/reader/ledger.ts'
import { utcDateOf } from '../../runtime/time-text.ts'
import type { DeskJournal } from './desk-journal.ts'
import { type BotBook, markOpenTrips, netOfBot } from './money-books.ts'
import type { Parameters } from './parameters.ts'
import type { Curve, ResultCurves } from './result-curves.ts'
import { sampled } from './samples.ts'
import type { Answers, LedgerRow, MoneyAnswer, MoneyMode, MoneyRow } from './types.ts'

const MODES: readonly MoneyMode[] = ['live', 'sandbox', 'paper', 'backtest']
const MOST_POINTS = 5_000

/**
 * Costs between the gross and the net result, in the order of the waterfall chart. Rent is one cost here; the ledger
 * has one line for paid and one for returned rent.
 */
const COSTS = ['impact', 'venue_fee', 'service_fee', 'base_fee', 'priority_fee', 'tip', 'rent', 'remainder'] as const

/**
 * The bots that the parameters select, with their results. All selected bots have the same mode, because paper money
 * and real money are never added up.
 */
interface Selection {
  readonly mode: MoneyMode
  readonly modes: readonly MoneyMode[]
  readonly books: readonly BotBook[]
}

function selected(journal: DeskJournal, parameters: Parameters): Selection {
  const { bots } = journal.money
  const modes = MODES.filter((mode) => bots.some(({ account }) => modeOf(account) === mode))
  const mode = parameters.word('mode', MODES) ?? modes[0] ?? 'paper'
  const bot = parameters.bot()
  const books = bots.filter((book) => modeOf(book.account) === mode && (bot === undefined || book.bot === bot))
  markOpenTrips(books, journal.reader, journal.worth)
  return { mode, modes, books }
}

function modeOf(account: string): MoneyMode {
  const [mode = 'paper'] = account.split('|') as Mode[]
  return mode === 'live' && !isReal(account) ? 'sandbox' : mode
}

/** Returns the steps from the gross to the net result of the selected bots, their results by day, and the ledger. */
export function moneyAnswer(journal: DeskJournal, parameters: Parameters): Answers['money'] {
  const { mode, modes, books } = selected(journal, parameters)
  const trips = books.flatMap((book) => book.trips)
  const open = trips.filter(({ closedAt }) => closedAt === null)
  const straySum = books.reduce((sum, { strayLamports }) => sum - strayLamports, 0)
  return {
    ...{ mode, modes, bots: [...new Set(books.map(({ bot }) => bot))] },
    waterfall: waterfallOf(books),
    daily: dailyOf(trips.flatMap((trip) => (trip.closedAt === null ? [] : [[trip.closedAt, netOf(trip)] as const]))),
    openSol: lamportsToSol(open.reduce((sum, trip) => sum + netOf(trip), 0)),
    straySol: lamportsToSol(straySum),
    ledger: ledgerOf(journal, mode),
  }
}

/**
 * Rows from gross to net. The gross result values each trade at the price at the time of the decision. The costs are
 * lines of the ledger, and the net result is that of `sluice report`.
 */
function waterfallOf(books: readonly BotBook[]): MoneyRow[] {
  const sum = (line: string): number => books.reduce((all, { lines }) => all + (lines[line] ?? 0), 0)
  const costOf = (cost: string): number => (cost === 'rent' ? sum('rent_paid') + sum('rent_returned') : sum(cost))
  const held = books.reduce((all, { trips }) => all + trips.reduce((value, trip) => value + trip.valueLamports, 0), 0)
  const adopted = books.reduce((all, { adoptedLamports }) => all + adoptedLamports, 0)
  const gross = held - adopted - sum('trade')
  const costs = COSTS.map((cost) => rowOf(cost, cost === 'rent' ? 'rent' : labelOf(cost), 0 - costOf(cost)))
  const net = books.reduce((all, book) => all + netOfBot(book), 0)
  return [rowOf('gross', 'result at prices when bots decided', gross), ...costs, rowOf('net', 'net result', net)]
}

function labelOf(line: string): string {
  return LEDGER_LABELS[line] ?? line
}

function rowOf(key: string, label: string, lamports: number): MoneyRow {
  return { key, label, lamports, sol: lamportsToSol(lamports) }
}

function dailyOf(closed: readonly (readonly [Millis, number])[]): MoneyAnswer['daily'] {
  const days = Map.groupBy(closed, ([time]) => utcDateOf(time))
  return [...days]
    .map(([day, own]) => ({
      ...{ day, trades: own.length },
      netSol: lamportsToSol(own.reduce((sum, [, lamports]) => sum + lamports, 0)),
    }))
    .sort((one, other) => (one.day < other.day ? -1 : 1))
}

function ledgerOf({ reader }: DeskJournal, mode: MoneyMode): LedgerRow[] {
  const accounts = reader.ledger().filter(({ account }) => modeOf(account) === mode)
  const names = reader.walletNames()
  const nameOf = (wallet: string | undefined) => (wallet === undefined ? {} : { wallet })
  return accounts.map(({ account, walletLamports, audit }) => ({
    ...nameOf(names.get(account)),
    ...{ account, ledgerLamports: walletLamports, remainderLamports: audit?.remainderLamports ?? null },
    ...{ worstLamports: audit?.worstLamports ?? null, auditedAt: audit?.time ?? null },
  }))
}

/**
 * Profit of each bot over time. `times` has the times of all bots, and each bot has a value for each of these times.
 */
export function equityAnswer(journal: DeskJournal, parameters: Parameters): Answers['equity'] {
  const points = parameters.points(MOST_POINTS)
  const { mode, modes, books } = selected(journal, parameters)
  const bots = [...Map.groupBy(books, ({ bot }) => bot)]
  const now = lastTimeOf(journal)
  const { results } = journal
  const curves = bots.map(
    ([name, own]) => [name, sumOf(own.map((book) => curveOf(book, results.of(book), now)))] as const,
  )
  const most = Math.max(2, Math.floor(points / Math.max(1, curves.length)))
  const kept = curves.flatMap(([, { times, profits }]) =>
    sampled(times, profits, most).map((at) => times[at] as Millis),
  )
  const times = [...new Set(kept)].sort((one, other) => one - other)
  return {
    ...{ mode, modes, times },
    recordedFrom: Object.fromEntries(bots.map(([name, own]) => [name, recordedFrom(own, results)])),
    bots: Object.fromEntries(curves.map(([name, curve]) => [name, valuesAt(curve, times).map(lamportsToSol)])),
  }
}

/**
 * The profit of a bot in an account over time, from its first round trip on. Until the first recorded result, it
 * changes when a round trip closes. Later it consists of the recorded results, which include the open round trips. The
 * last value is the present result.
 */
function curveOf(book: BotBook, recorded: Curve | undefined, now: Millis): Curve {
  const { trips } = book
  const begin = trips.reduce((first, { openedAt }) => Math.min(first, openedAt), now)
  const recordedFrom = recorded?.times[0] ?? Number.POSITIVE_INFINITY
  const curve: Curve = { times: [Math.min(begin, recordedFrom)], profits: [0] }
  const add = (time: Millis, profit: number): void => {
    const last = curve.times.at(-1) as Millis
    // The curve has one value for all round trips that close at the same time.
    if (time <= last && curve.times.length > 1) curve.profits[curve.profits.length - 1] = profit
    else {
      curve.times.push(Math.max(time, last))
      curve.profits.push(profit)
    }
  }
  let profit = 0
  const closed = trips.flatMap((trip) => (trip.closedAt === null ? [] : [{ time: trip.closedAt, net: netOf(trip) }]))
  for (const { time, net } of closed.sort((one, other) => one.time - other.time)) {
    profit += net
    if (time < recordedFrom) add(time, profit)
  }
  for (const [at, time] of (recorded?.times ?? []).entries()) add(time, recorded?.profits[at] as number)
  add(Math.max(now, curve.times.at(-1) as Millis) + 1, netOfBot(book))
  return curve
}

/**
 * Time from which the curve of a bot contains its open positions: the first of its recorded results, or 0 if that is
 * before its first position; null if nothing was recorded. `books`: the results of the bot in its accounts.
 */
function recordedFrom(books: readonly BotBook[], results: ResultCurves): Millis | null {
  const begins = books.map((book) => {
    const first = results.of(book)?.times[0]
    const isWhole = first !== undefined && book.trips.every(({ openedAt }) => openedAt >= first)
    return isWhole ? 0 : (first ?? lastCloseOf(book))
  })
  const isRecorded = books.some((book) => results.of(book) !== undefined)
  return isRecorded && !begins.includes(null) ? Math.max(...(begins as Millis[])) : null
}

/** Time at which the last round trip of a bot closed; null if one is open. */
function lastCloseOf({ trips }: BotBook): Millis | null {
  if (trips.some(({ closedAt }) => closedAt === null)) return null
  return trips.reduce((last, { closedAt }) => Math.max(last, closedAt ?? 0), 0)
}

/** The sum of curves: that of a bot which used several accounts. */
function sumOf(curves: readonly Curve[]): Curve {
  const [first] = curves
  if (first !== undefined && curves.length === 1) return first
  const times = [...new Set(curves.flatMap((curve) => curve.times))].sort((one, other) => one - other)
  const values = curves.map((curve) => valuesAt(curve, times))
  return { times, profits: times.map((_time, at) => values.reduce((sum, own) => sum + (own[at] as number), 0)) }
}

/** The values of a curve at ascending times, lamports; 0 before its beginning. */
function valuesAt({ times, profits }: Curve, wanted: readonly Millis[]): number[] {
  let at = 0
  return wanted.map((time) => {
    while (at + 1 < times.length && (times[at + 1] as Millis) <= time) at++
    return time < (times[0] as Millis) ? 0 : (profits[at] as number)
  })
}

/** Time of the last row or input of the journal. */
function lastTimeOf({ reader }: DeskJournal): Millis {
  return reader.look((history) => history.timeUpTo(Number.MAX_SAFE_INTEGER))
}
