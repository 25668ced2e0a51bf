import type { Mints } from '../core/mints.ts'
import type { Millis } from '../core/units.ts'
import { EventsSeen } from './events-seen.ts'
import type { MarketItem, Stretch } from './market-tape.ts'
import type { Market } from './reader.ts'
import { type News, UnitedFeed } from './united-feed.ts'

type Rows = Extract<MarketItem, { kind: 'rows' }>
type Told = Exclude<MarketItem, { kind: 'rows' }>

/** Stretches of several journals that overlap in time, if only in an instant, or one alone. */
interface Group {
  readonly stretch: Stretch
  /** How many stretches of each journal. */
  readonly counts: readonly number[]
}

/** Several journals as one tape. What was recorded at different times comes one after the other. Where several recorded at once, their rows are
 *  merged by time, each event once, by what makes it itself; and only what none of them heard is a gap.
 *
 *  `rows` counts what was recorded twice twice. */
export class JoinedMarket implements Market {
  readonly stretches: readonly Stretch[]
  readonly rows: number
  readonly #markets: readonly Market[]
  readonly #groups: readonly Group[]

  constructor(markets: readonly Market[]) {
    this.#markets = markets
    this.#groups = groupsOf(markets.map(({ stretches }) => stretches))
    this.stretches = this.#groups.map(({ stretch }) => stretch)
    this.rows = markets.reduce((sum, { rows }) => sum + rows, 0)
  }

  *items(mints: Mints): Generator<MarketItem, void, undefined> {
    const tapes = this.#markets.map((market) => market.items(mints)[Symbol.iterator]())
    try {
      for (const { group, news } of this.#told()) {
        yield { kind: 'began', stretch: group.stretch }
        if (news === undefined) yield* ownItems(tapes[loneOf(group)] as Iterator<MarketItem>)
        else
          yield* mergedRows(
            tapes.map((tape, index) => new Head(tape, group.counts[index] as number)),
            news,
          )
        yield { kind: 'ended', stretch: group.stretch }
      }
    } finally {
      for (const tape of tapes) tape.return?.()
    }
  }

  *history(): Generator<Exclude<MarketItem, { kind: 'rows' }>, void, undefined> {
    for (const { group, news, own } of this.#told()) {
      yield { kind: 'began', stretch: group.stretch }
      yield* news?.map(({ told }) => told) ?? own
      yield { kind: 'ended', stretch: group.stretch }
    }
  }

  /** What is told of the feed in each group; of one stretch alone its own words. */
  *#told(): Generator<{ group: Group; news: readonly News[] | undefined; own: readonly Told[] }, void, undefined> {
    const histories = this.#markets.map((market) => market.history()[Symbol.iterator]())
    for (const group of this.#groups) {
      const lone = loneOf(group)
      if (lone >= 0) {
        yield { group, news: undefined, own: [...ownItems(histories[lone] as Iterator<Told>)] }
        continue
      }
      const feed = new UnitedFeed()
      for (const [index, history] of histories.entries())
        for (let left = group.counts[index] as number; left > 0; ) {
          const { value, done } = history.next()
          if (done === true) break
          feed.take(value)
          if (value.kind === 'ended') left--
        }
      yield { group, news: feed.news(), own: [] }
    }
  }
}

/** In the order of time, numbered anew. */
function groupsOf(journals: readonly (readonly Stretch[])[]): Group[] {
  const all = journals.flatMap((stretches, journal) => stretches.map((stretch) => ({ journal, stretch })))
  all.sort((one, other) => one.stretch.from - other.stretch.from || one.journal - other.journal)
  const groups: { stretch: Stretch; counts: number[] }[] = []
  for (const { journal, stretch } of all) {
    let group = groups.at(-1)
    if (group === undefined || stretch.from > group.stretch.to) {
      group = { stretch: { ...stretch, segment: groups.length + 1 }, counts: journals.map(() => 0) }
      groups.push(group)
    } else {
      // It is over when all of them are.
      const { stoppedAt: _one, ...whole } = group.stretch
      group.stretch = { ...whole, to: Math.max(whole.to, stretch.to) }
    }
    group.counts[journal] = (group.counts[journal] as number) + 1
  }
  return groups
}

/** The journal that a group is of; -1 where it is of several stretches. */
function loneOf({ counts }: Group): number {
  return counts.reduce((sum, count) => sum + count, 0) === 1 ? counts.indexOf(1) : -1
}

/** What is within the next stretch. */
function* ownItems<T extends MarketItem>(tape: Iterator<T>): Generator<T, void, undefined> {
  for (let next = tape.next(); next.done !== true && next.value.kind !== 'ended'; next = tape.next())
    if (next.value.kind !== 'began') yield next.value
}

/** The next rows of one journal, up to the end of its part of a group. */
class Head {
  rows: Rows | undefined
  readonly #tape: Iterator<MarketItem>
  #left: number

  constructor(tape: Iterator<MarketItem>, stretches: number) {
    this.#tape = tape
    this.#left = stretches
    this.#advance()
  }

  get time(): Millis {
    return this.rows === undefined ? Number.POSITIVE_INFINITY : (this.rows.block.time[this.rows.from] as number)
  }

  /** The rows before `time`, or also those at it. */
  take(time: Millis, inclusive: boolean): Rows {
    const { block, from, to } = this.rows as Rows
    let end = from + 1
    while (end < to && ((block.time[end] as number) < time || (inclusive && block.time[end] === time))) end++
    this.rows = { kind: 'rows', block, from: end, to }
    if (end === to) this.#advance()
    return { kind: 'rows', block, from, to: end }
  }

  #advance(): void {
    this.rows = undefined
    while (this.#left > 0 && this.rows === undefined) {
      const { value, done } = this.#tape.next()
      if (done === true || value.kind === 'ended') this.#left -= done === true ? this.#left : 1
      else if (value.kind === 'rows') this.rows = value
    }
  }
}

/** Of equal times the first journal's rows come first. */
function* mergedRows(heads: readonly Head[], news: readonly News[]): Generator<MarketItem, void, undefined> {
  const seen = heads.filter(({ rows }) => rows !== undefined).length > 1 ? new EventsSeen() : undefined
  let told = 0
  for (;;) {
    const journal = earliest(heads)
    const head = heads[journal] as Head
    for (let next = news[told]; next !== undefined && next.at <= head.time; next = news[++told]) yield next.told
    if (head.rows === undefined) return
    let limit = news[told]?.at ?? Number.POSITIVE_INFINITY
    let inclusive = false
    for (const [index, other] of heads.entries()) {
      if (index === journal || other.time > limit || (other.time === limit && !inclusive)) continue
      limit = other.time
      inclusive = index > journal
    }
    const rows = head.take(limit, inclusive)
    if (seen === undefined) yield rows
    else yield* unseen(rows, journal, seen)
  }
}

function earliest(heads: readonly Head[]): number {
  let first = 0
  for (const [index, { time }] of heads.entries()) if (time < (heads[first] as Head).time) first = index
  return first
}

/** Without those that another journal has told. */
function* unseen({ block, from, to }: Rows, journal: number, seen: EventsSeen): Generator<Rows, void, undefined> {
  let start = from
  for (let row = from; row < to; row++) {
    if (!seen.check(block, row, journal)) continue
    if (start < row) yield { kind: 'rows', block, from: start, to: row }
    start = row + 1
  }
  if (start < to) yield { kind: 'rows', block, from: start, to }
}
