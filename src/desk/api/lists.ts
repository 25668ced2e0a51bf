import type { ListFilter, Page, Pages } from '../../journal/reader/pages.ts'
import type { DeskJournal } from './desk-journal.ts'
import type { Parameters } from './parameters.ts'
import type { Answers, Named } from './types.ts'

const FIRST = Number.MAX_SAFE_INTEGER

export function ordersAnswer(journal: DeskJournal, parameters: Parameters): Answers['orders'] {
  const { rows, next } = listed(journal, parameters, [FIRST, FIRST], (pages, ...page) => pages.orders(...page))
  return { orders: rows, next }
}

export function fillsAnswer(journal: DeskJournal, parameters: Parameters): Answers['fills'] {
  const { rows, next } = listed(journal, parameters, [FIRST], (pages, ...page) => pages.fills(...page))
  return { fills: rows, next }
}

export function positionsAnswer(journal: DeskJournal, parameters: Parameters): Answers['positions'] {
  const { rows, next } = listed(journal, parameters, [FIRST], (pages, ...page) => pages.positions(...page))
  return { positions: rows, next }
}

/**
 * Reads from the journal the page of a list that `parameters` request, and adds the symbols of the tokens. `first`: the
 * cursor if they request the first page.
 */
function listed<Row extends { readonly mint: string }>(
  journal: DeskJournal,
  parameters: Parameters,
  first: readonly number[],
  read: (pages: Pages, filter: ListFilter, before: readonly number[], limit: number) => Page<Row>,
): { rows: Named<Row>[]; next: string | null } {
  const filter = { bot: parameters.bot(), mint: parameters.mint() }
  const before = parameters.before(first.length) ?? first
  const page = journal.reader.pages((pages) => read(pages, filter, before, parameters.limit()))
  return { rows: journal.named(page.rows), next: page.before?.join('.') ?? null }
}

/**
 * Closed round trips, the last closed first. The cursor of the next page is the number of round trips that closed
 * before those of this page.
 */
export function roundTripsAnswer(journal: DeskJournal, parameters: Parameters): Answers['round-trips'] {
  const [bot, mint] = [parameters.bot(), parameters.mint()]
  const all = journal.money
    .closedTrips()
    .filter((trip) => (bot === undefined || trip.bot === bot) && (mint === undefined || trip.mint === mint))
  const end = Math.min(all.length, parameters.before(1)?.[0] ?? all.length)
  const from = Math.max(0, end - parameters.limit())
  const roundTrips = journal.named(all.slice(from, end).reverse())
  return { roundTrips, next: from === 0 ? null : String(from) }
}
