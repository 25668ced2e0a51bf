import { lamportsToSol, type Millis } from '../../base/units.ts'
import { netOf } from '../../engine/accounting/round-trip.ts'
import type { DeskJournal } from './desk-journal.ts'
import { selected } from './money.ts'
import { type BotBook, netOfBot } from './money-books.ts'
import type { Parameters } from './parameters.ts'
import type { Curve, ResultCurves } from './result-curves.ts'
import { sampled } from './samples.ts'
import type { Answers } from './types.ts'

const MOST_POINTS = 5_000

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
