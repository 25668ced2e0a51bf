import { DAY, type Millis } from '../../base/units.ts'
import { exitLevels } from '../../engine/exits/exit-levels.ts'
import type { MarketGap } from '../../journal/reader/pages.ts'
import type { FillRow } from '../../journal/schema/fills.ts'
import { type BarWidth, parseWidth, WIDTHS } from '../../market/bar-width.ts'
import { decisionIdOf } from '../../runtime/why/decision-id.ts'
import { hasSameReason, type WordGroup, wordGroups } from '../../runtime/why/mint-story.ts'
import type { DeskJournal } from './desk-journal.ts'
import { invalid, type Parameters } from './parameters.ts'
import { sampled } from './samples.ts'
import { barsOf, robustPrices } from './token-price.ts'
import type { PrintColumns } from './token-prints.ts'
import type { Answers, TokenAnswer, TokenExit, TokenFill, TokenPrints, TokenWord } from './types.ts'

const MINUTE: Millis = 60_000
/**
 * `SHOWN`: length of the range if the request has no `from`. `BEFORE`: time before the range whose prints are read too,
 * because the first robust prices of the range depend on them.
 */
const SHOWN: Millis = 60 * MINUTE
const BEFORE: Millis = 10 * MINUTE
/** Maximum number of points of a series, and of bars. */
const MOST_POINTS = 5_000
/** Maximum number of fills, refusals, notes and gaps in an answer. The newest ones are returned. */
const MOST_MARKS = 2_000

interface Range {
  readonly from: Millis
  readonly to: Millis
}

/** The prices and prints of a token in a range of time, with the fills and refusals of the bots in this range. */
export function tokenAnswer(journal: DeskJournal, parameters: Parameters, mint: string): Answers['token'] {
  const { prints, reader } = journal
  const span = prints.spanOf(mint)
  const range = rangeOf(parameters, span?.last ?? 0)
  const width = widthOf(parameters.text('bars'), range)
  const since = Math.min(range.from - BEFORE, barsBegin(width, range, span?.first))
  const read = prints.of(mint, since, range.to)
  const gaps = reader
    .pages((pages) => pages.gaps(since, range.to, MOST_MARKS))
    .filter(({ keys }) => keys.length === 0 || keys.includes('trades') || keys.includes(mint))
  const priced = robustPrices(read, gaps)
  const words = reader.look((history) => history.words(mint, range.from, range.to))
  const groups = wordGroups(words, hasSameReason).slice(-MOST_MARKS)
  const ofKind = (kind: string): TokenWord[] => groups.filter(({ first }) => first.kind === kind).map(wordOf)
  return {
    ...{ mint, ...journal.nameOf(mint), ...range, first: span?.first ?? null, last: span?.last ?? null },
    price: priceSeries(read, priced, range.from),
    prints: printSeries(read, range.from),
    bars: width === undefined ? null : checkedBars(width, barsOf(width, read, priced, range)),
    fills: reader.pages((pages) => pages.fillsOf(mint, range.from, range.to, MOST_MARKS)).map(fillOf),
    ...{ refusals: ofKind('refused'), notes: ofKind('note') },
    exits: exitsOf(journal, mint, span?.last ?? range.to),
    gaps: gaps.filter(({ to }) => to >= range.from).map(({ from, to }: MarketGap) => ({ from, to })),
  }
}

function rangeOf(parameters: Parameters, last: Millis): Range {
  const to = parameters.time('to') ?? Math.max(last, parameters.time('from') ?? 0)
  const from = parameters.time('from') ?? Math.max(0, to - (parameters.span() ?? SHOWN))
  if (from > to) throw invalid('from is later than to')
  if (to - from > DAY) throw invalid('from and to are more than a day apart')
  return { from, to }
}

function widthOf(name: string | undefined, { from, to }: Range): BarWidth | undefined {
  if (name === undefined) return undefined
  const width = parseWidth(name)
  if (width === undefined) throw invalid(`bars is invalid; expected ${WIDTHS}`)
  if ((to - from) / width.everyMs > MOST_POINTS) throw tooMany(width)
  return width
}

function checkedBars<Bar>(width: BarWidth, bars: Bar[]): Bar[] {
  if (bars.length > MOST_POINTS) throw tooMany(width)
  return bars
}

function tooMany({ name }: BarWidth): Error {
  return invalid(`this range has more than ${MOST_POINTS} bars of ${name}; choose wider bars or a shorter range`)
}

/**
 * Returns the time from which prints are read to compute the bars. For bars of a fixed time, this is one bar before the
 * range. Bars that end after a number of trades or a traded amount depend on all earlier prints, so for them it is the
 * time of the first print of the token. If that print is more than a day before the end of the range, it is the
 * beginning of the range.
 */
function barsBegin(width: BarWidth | undefined, { from, to }: Range, first: Millis = from): Millis {
  if (width === undefined) return from
  if (width.everyMs < Number.POSITIVE_INFINITY) return from - width.everyMs
  return to - first <= DAY ? Math.min(first, from) : from
}

/** Series of the robust price: one point for each print after which a robust price existed. */
function priceSeries({ times }: PrintColumns, priced: Float64Array, from: Millis): TokenAnswer['price'] {
  const at: Millis[] = []
  const prices: number[] = []
  for (let print = 0; print < times.length; print++) {
    if ((times[print] as Millis) < from || (priced[print] as number) === 0) continue
    at.push(times[print] as Millis)
    prices.push(priced[print] as number)
  }
  const kept = sampled(at, prices, MOST_POINTS)
  return [kept.map((point) => at[point] as Millis), kept.map((point) => prices[point] as number)]
}

function printSeries({ times, prices, sol, sells }: PrintColumns, from: Millis): TokenPrints {
  const first = times.findIndex((time) => time >= from)
  const since = first < 0 ? times.length : first
  const kept = sampled(times.slice(since), prices.slice(since), MOST_POINTS).map((print) => since + print)
  return {
    t: kept.map((print) => times[print] as Millis),
    p: kept.map((print) => prices[print] as number),
    sol: kept.map((print) => sol[print] as number),
    side: kept.map((print) => (sells[print] === 1 ? 'sell' : 'buy')),
  }
}

function fillOf({ time, price, sol, side, orderId, bot, signature }: FillRow): TokenFill {
  return { t: time, p: price, sol, side, orderId, bot, signature }
}

function wordOf({ first, last, count }: WordGroup): TokenWord {
  const { time, bot, code, reason } = first
  return { t: time, id: decisionIdOf(first), bot, code, text: reason, count, last: last.time }
}

/** Exits of the open positions of a token, and its conditional orders. */
function exitsOf({ reader }: DeskJournal, mint: string, now: Millis): TokenExit[] {
  const held = reader.heldPositions().filter((position) => position.mint === mint)
  const own = held.flatMap((position) => {
    const seen = { highPrice: position.highPrice, printedAt: now, pricedAt: now }
    return exitLevels(position, seen, now).map(({ kind, price = null, at = null }) => ({
      ...{ bot: position.bot, kind, price, at },
    }))
  })
  const orders = reader.pages((pages) => pages.waiting(mint, MOST_MARKS))
  return [...own, ...orders.map(({ bot, price }) => ({ bot, kind: 'conditional', price, at: null }))]
}
