import { lamportsToSol, type Millis } from '../../base/units.ts'
import { isReal, type Mode } from '../../engine/account.ts'
import { netOf } from '../../engine/accounting/round-trip.ts'
import { LEDGER_LABELS } from '../../journal/reader/ledger.ts'
import { utcDateOf } from '../../runtime/time-text.ts'
import type { DeskJournal } from './desk-journal.ts'
import { type BotBook, markOpenTrips, netOfBot } from './money-books.ts'
import type { Parameters } from './parameters.ts'
import type { Answers, LedgerRow, MoneyAnswer, MoneyMode, MoneyRow } from './types.ts'

const MODES: readonly MoneyMode[] = ['live', 'sandbox', 'paper', 'backtest']

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

export function selected(journal: DeskJournal, parameters: Parameters): Selection {
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
