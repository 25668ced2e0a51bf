import { resolve } from 'node:path'
import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Millis } from '../base/units.ts'
import { type Block, RowKind } from '../market/block.ts'
import type { Mints } from '../market/mints.ts'
import { type JournalReader, openReader } from './reader/reader.ts'
import type { Market, MarketItem, Stretch } from './tape/market-tape.ts'
import type { BlockKey, LoadRest } from './tape/tape-block.ts'
import { type News, UnitedFeed } from './united-feed.ts'

export interface OpenTape {
  readonly market: Market
  /** Returns the attempts of live trading that these journals record. */
  executions(): ReturnType<JournalReader['executions']>
  /** Returns functions that load the columns of a block that a scan leaves out. Another thread that opened the same
   *  journals may have read the block. */
  restOf(key: BlockKey): LoadRest
  close(): void
}

/** Opens the tape of one journal, or of several journals merged into one tape. Throws SluiceError as `openReader` does,
 *  and with exit 2 if a journal is given twice. `mapped`: whether the tape is read through a memory map, see
 *  `MappedScan`; false if only single columns of blocks are read, because only a scan releases mapped memory. */
export function openTape(paths: readonly string[], { mapped = true } = {}): OpenTape {
  const twice = paths.find((path, index) => paths.findIndex((other) => resolve(other) === resolve(path)) < index)
  if (twice !== undefined) throw new SluiceError(`${twice} is given twice; name each journal once`, ExitCode.usage)
  const readers: JournalReader[] = []
  const close = (): void => {
    for (const reader of readers) reader.close()
  }
  try {
    for (const path of paths) readers.push(openReader(path, { mapped }))
    const markets = readers.map((reader) => reader.market())
    const [first] = markets
    return {
      market: markets.length === 1 && first !== undefined ? first : new JoinedMarket(markets),
      executions: () => readers.flatMap((reader) => reader.executions()),
      restOf: (key) => {
        const reader = readers.find(({ path }) => path === key.journal)
        if (reader === undefined) throw new Error(`${key.journal} is not one of the opened journals`)
        return reader.restOf(key)
      },
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

type Rows = Extract<MarketItem, { kind: 'rows' }>
type Told = Exclude<MarketItem, { kind: 'rows' }>

/** A part of the joined tape: either a single recording, or recordings of several journals that overlap in time. */
interface Group {
  readonly stretch: Stretch
  /** For each journal, the number of its recordings in this group. */
  readonly counts: readonly number[]
}

/** The tapes of several journals as one tape. Recordings of different times follow each other. Recordings that overlap
 *  are merged in the order of time: each event occurs once (see `EventsSeen`), and a gap remains only where all of
 *  these recordings have a gap. `rows` counts a row twice if two journals contain it. */
class JoinedMarket implements Market {
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

  /** Yields the feed events of each group of overlapping recordings. If a group has several recordings, their events
   *  are merged. */
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

/** Puts the recordings of all journals in the order of time. Recordings that overlap form one group. */
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
      // The merged recording ends with the last of its recordings, so the stop of a single one does not apply to it.
      const { stoppedAt: _one, ...whole } = group.stretch
      group.stretch = { ...whole, to: Math.max(whole.to, stretch.to) }
    }
    group.counts[journal] = (group.counts[journal] as number) + 1
  }
  return groups
}

/** Returns the number of the journal to which the only stretch (recording) of a group belongs; -1 if several stretches
 *  overlap. */
function loneOf({ counts }: Group): number {
  return counts.reduce((sum, count) => sum + count, 0) === 1 ? counts.indexOf(1) : -1
}

/** Yields the items of the next recording on a tape, until the recording ends. */
function* ownItems<T extends MarketItem>(tape: Iterator<T>): Generator<T, void, undefined> {
  for (let next = tape.next(); next.done !== true && next.value.kind !== 'ended'; next = tape.next())
    if (next.value.kind !== 'began') yield next.value
}

/** Reads the market rows of one journal, in order, for one group of overlapping recordings. */
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

  /** Removes and returns the rows before `time`; with `inclusive`, also the rows at `time`. */
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

/** Merges the rows of several journals by time. Of rows with equal times, those of the first journal come first. */
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

/** Yields the rows that no other journal has delivered. */
function* unseen({ block, from, to }: Rows, journal: number, seen: EventsSeen): Generator<Rows, void, undefined> {
  let start = from
  for (let row = from; row < to; row++) {
    if (!seen.check(block, row, journal)) continue
    if (start < row) yield { kind: 'rows', block, from: start, to: row }
    start = row + 1
  }
  if (start < to) yield { kind: 'rows', block, from: start, to }
}

/** Time for which an event is remembered, ms. Two recorders receive the same event within seconds, unless a reconnect
 *  delayed one of them. */
const REMEMBERED_MS = 60000

/** The events of the last one to two minutes, by their deduplication key. The key of a trade contains its signature,
 *  which no other transaction ever has, and its amounts, because one transaction may contain several trades. The key of
 *  any other event also contains its timestamp and prices. */
class EventsSeen {
  #newer = new Map<string, number>()
  #older = new Map<string, number>()
  #until: Millis = 0

  /** Returns true if another journal has already delivered the event. Duplicates within one journal are kept, because
   *  its recorder has already dropped repeated events. */
  check(block: Block, row: number, journal: number): boolean {
    const time = block.time[row] as number
    if (time >= this.#until) {
      this.#older = time >= this.#until + REMEMBERED_MS ? new Map() : this.#newer
      this.#newer = new Map()
      this.#until = time + REMEMBERED_MS
    }
    const event = identityOf(block, row)
    const teller = this.#newer.get(event) ?? this.#older.get(event)
    if (teller === undefined) this.#newer.set(event, journal)
    return teller !== undefined && teller !== journal
  }
}

function identityOf(block: Block, row: number): string {
  const { kind, token, texts, amount, size, stamp, price, marketCap, extra, extra2 } = block
  const signature = texts.signature(row)
  const what = `${kind[row]} ${token[row]} ${signature} ${texts.trader(row)} ${amount[row]} ${size[row]}`
  if ((kind[row] as number) < RowKind.newToken && signature !== '') return what
  return `${what} ${stamp[row]} ${price[row]} ${marketCap[row]} ${extra[row]} ${extra2[row]}`
}
