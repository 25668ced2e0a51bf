import type { Database, Statement } from 'better-sqlite3'
import type { Millis, Seq } from '../../base/units.ts'
import type { Input } from '../../engine/messages.ts'
import type { Block } from '../../market/block.ts'
import { Mints } from '../../market/mints.ts'
import { IS_FEED } from '../schema/stretches.ts'
import { RowReader } from './key-rows.ts'
import { partOf } from './tape-block.ts'
import { rowAt, type SeqRange, type TapeReader } from './tape-reader.ts'

/** Recorded events of the feed other than market rows. */
export type FeedNews = Extract<Input, { kind: 'feed' | 'gap' }>

/** A recorded answer of a strategy's source. */
export type SourceNews = Extract<Input, { kind: 'source' }>

/** A part of the tape that one process recorded, or that one import wrote (segment 0). */
export interface Stretch {
  readonly segment: number
  /** First seq that is still on the tape. */
  readonly firstSeq: Seq
  readonly lastSeq: Seq
  readonly from: Millis
  readonly to: Millis
  /** Last time at which the feed was live, if the bots were stopped while it was live; absent if the recording ended in
   *  another way. The time after `stoppedAt` is not a gap of the feed. */
  readonly stoppedAt?: Millis
}

/** An item of the recorded feed, which contains no decisions. */
export type MarketItem =
  | { readonly kind: 'began'; readonly stretch: Stretch }
  | { readonly kind: 'rows'; readonly block: Block; readonly from: number; readonly to: number }
  | { readonly kind: 'news'; readonly time: Millis; readonly news: FeedNews | SourceNews }
  | { readonly kind: 'ended'; readonly stretch: Stretch }

/** A time, inclusive. */
export interface Span {
  readonly from: Millis
  readonly to: Millis
}

type News = Generator<Extract<MarketItem, { kind: 'news' }> & { readonly seq: Seq }, void, undefined>

interface NewsRow {
  readonly seq: Seq
  readonly time: Millis
  readonly json: string
}

/** SQL of the feed events and the answers of sources between two seqs. Rows that were lost because the disk was full
 *  count as a gap. */
const NEWS = `
SELECT seq, time, json FROM input WHERE kind IN ('feed', 'gap') AND seq BETWEEN @first AND @last
UNION ALL
SELECT seq, time, json FROM input WHERE kind = 'source' AND seq BETWEEN @first AND @last
UNION ALL
SELECT last_seq, last_time, json_object('kind', 'gap', 'from', first_time, 'to', last_time,
  'keys', json_array('trades', 'newTokens', 'priceUpdates')) FROM missing WHERE last_seq BETWEEN @first AND @last
ORDER BY 1`

/** SQL of the feed events from which the state of the feed before a seq is computed. They begin at the last event with
 *  the complete list of keys. */
export const STATE_BEFORE = `
SELECT seq, time, json FROM input WHERE ${IS_FEED} AND segment = @segment AND seq < @seq AND seq >= (
  SELECT seq FROM input WHERE ${IS_FEED} AND segment = @segment AND seq < @seq AND json_type(json, '$.confirmed') = 'array'
  ORDER BY seq DESC LIMIT 1)
ORDER BY seq`

/** SQL of the last data of each source before a seq. Answers that repeat the data are skipped. In a query with `max`,
 *  SQLite takes the other columns from the row with the maximum. */
export const LAST_SOURCES = `
SELECT max(seq) AS seq, time, json FROM input
WHERE kind = 'source' AND seq < ? AND json_type(json, '$.data') IS NOT NULL
GROUP BY json_extract(json, '$.bot'), json_extract(json, '$.name') ORDER BY 1`

/** The market part of a journal, from the first row that is still on the tape to the last. */
export class MarketTape {
  readonly stretches: readonly Stretch[]
  /** Number of market rows in all recordings together. */
  readonly rows: number
  readonly #tape: TapeReader
  readonly #news: Statement<{ first: Seq; last: Seq }, NewsRow>
  readonly #stateBefore: Statement<{ segment: number; seq: Seq }, NewsRow>
  readonly #sourcesBefore: Statement<[Seq], Pick<NewsRow, 'json'>>
  readonly #firstBlock: Statement<[Millis], Seq>
  readonly #lastBlock: Statement<[Millis], Seq>

  constructor(db: Database, tape: TapeReader) {
    this.#tape = tape
    this.#news = db.prepare(NEWS)
    this.#stateBefore = db.prepare(STATE_BEFORE)
    this.#sourcesBefore = db.prepare(LAST_SOURCES)
    this.#firstBlock = db
      .prepare<[Millis], Seq>('SELECT first_seq FROM blocks WHERE last_time >= ? ORDER BY last_seq LIMIT 1')
      .pluck()
    this.#lastBlock = db
      .prepare<[Millis], Seq>('SELECT last_seq FROM blocks WHERE first_time <= ? ORDER BY last_seq DESC LIMIT 1')
      .pluck()
    this.stretches = stretchesOf(db)
    this.rows = rowsOf(db)
  }

  /** Yields the items of all or of some recordings (stretches), in order, block by block. `mints` numbers the tokens.
   *  `span`: blocks without a row in this range of time are not read. */
  *items(mints: Mints, stretches = this.stretches, span?: Span): Generator<MarketItem, void, undefined> {
    const range = span && this.#rangeOf(span)
    for (const stretch of stretches) {
      yield { kind: 'began', stretch }
      const news = this.#newsOf(stretch)
      try {
        yield* this.#merged(mints, stretch, news, range)
      } finally {
        news.return()
      }
      yield { kind: 'ended', stretch }
    }
  }

  /** Yields all items of the tape except the market rows, so that no block is read. */
  *history(stretches = this.stretches): Generator<Exclude<MarketItem, { kind: 'rows' }>, void, undefined> {
    for (const stretch of stretches) {
      yield { kind: 'began', stretch }
      yield* this.#newsOf(stretch)
      yield { kind: 'ended', stretch }
    }
  }

  /** Returns the range of seqs of the blocks that overlap a range of time. */
  #rangeOf({ from, to }: Span): SeqRange {
    return { from: this.#firstBlock.get(from) ?? Number.MAX_SAFE_INTEGER, to: this.#lastBlock.get(to) ?? 0 }
  }

  *#merged(
    mints: Mints,
    stretch: Stretch,
    news: News,
    within: SeqRange = { from: 0, to: Number.MAX_SAFE_INTEGER },
  ): Generator<MarketItem, void, undefined> {
    const range = { from: Math.max(stretch.firstSeq, within.from), to: Math.min(stretch.lastSeq, within.to) }
    let next = news.next()
    for (const block of range.from > range.to ? [] : this.#tape.blocks(mints, range)) {
      // If a recording process has merged blocks meanwhile, the block with the last rows of this recording may
      // also contain later rows.
      const end = rowAt(block, stretch.lastSeq + 1)
      let from = 0
      for (; next.done !== true && next.value.seq <= block.lastSeq; next = news.next()) {
        const to = rowAt(block, next.value.seq)
        if (from < to) yield { kind: 'rows', block, from, to }
        yield next.value
        from = to
      }
      if (from < end) yield { kind: 'rows', block, from, to: end }
    }
    for (; next.done !== true; next = news.next()) yield next.value
  }

  /** Yields the feed events of a recording (stretch), and the answers of sources. If the beginning of the recording was
   *  dropped, the first event is the state of the feed at the first remaining row. For the first recording on the tape,
   *  the last data that each source delivered before the recording follows. */
  *#newsOf({ segment, firstSeq, lastSeq, from }: Stretch): News {
    const rows = new RowReader()
    const before = this.#stateBefore.all({ segment, seq: firstSeq }).map(({ json }) => rows.input<FeedNews>(json))
    const state = before.at(-1)
    if (state !== undefined) yield { kind: 'news', seq: firstSeq, time: from, news: state }
    if (firstSeq === this.stretches[0]?.firstSeq)
      for (const { json } of this.#sourcesBefore.all(firstSeq))
        yield { kind: 'news', seq: firstSeq, time: from, news: rows.input<SourceNews>(json) }
    // All rows are read by one call (there are few), because MappedScan releases no pages while a statement is open.
    for (const { seq, time, json } of this.#news.all({ first: firstSeq, last: lastSeq }))
      yield { kind: 'news', seq, time, news: rows.input<FeedNews | SourceNews>(json) }
  }
}

const FIRST_STOP = `SELECT min(seq) FROM input
WHERE kind = 'command' AND seq BETWEEN ? AND ? AND json_extract(json, '$.command.name') = 'stop'`

/** SQL of the last state of the feed between two seqs. */
export const STATUS_BEFORE = `SELECT json_extract(json, '$.status') FROM input
WHERE ${IS_FEED} AND seq BETWEEN ? AND ? ORDER BY seq DESC LIMIT 1`

/** SQL of the time at which a process that was stopped closed its feed. The journal records the closing as state
 *  `down`, and as a gap since the feed was last live. */
const LET_GO = `SELECT min(coalesce(json_extract(json, '$.from'), time)) FROM input
WHERE kind IN ('feed', 'gap') AND seq BETWEEN ? AND ? HAVING max(json_extract(json, '$.status')) = 'down'`

/** Reads the recordings (stretches) of a journal from the view in schema/stretches.ts. */
function stretchesOf(db: Database): Stretch[] {
  const rows = db
    .prepare(
      'SELECT segment, first_seq AS firstSeq, last_seq AS lastSeq, "from", "to" FROM stretches ORDER BY first_seq',
    )
    .all() as Stretch[]
  const stoppedAt = stopsOf(db)
  return rows.map((row) => {
    const at = stoppedAt(row.firstSeq, row.lastSeq)
    return { ...row, ...(at !== null && { stoppedAt: at }) }
  })
}

/** Returns a function that finds the time at which a process was stopped while its feed was live; null if this did not
 *  happen in the recording. */
function stopsOf(db: Database): (firstSeq: Seq, lastSeq: Seq) => Millis | null {
  const firstStop = db.prepare<[Seq, Seq], Seq | null>(FIRST_STOP).pluck()
  const statusBefore = db.prepare<[Seq, Seq], string>(STATUS_BEFORE).pluck()
  const letGo = db.prepare<[Seq, Seq], Millis | null>(LET_GO).pluck()
  return (firstSeq, lastSeq) => {
    const stop = firstStop.get(firstSeq, lastSeq) ?? null
    if (stop === null || statusBefore.get(firstSeq, stop) !== 'live') return null
    return letGo.get(stop, lastSeq) ?? null
  }
}

/** Returns the number of market rows on the tape. */
export function rowsOf(db: Database): number {
  const rows = db
    .prepare(
      `SELECT coalesce((SELECT rows_before + rows FROM blocks ORDER BY last_seq DESC LIMIT 1)
         - (SELECT rows_before FROM blocks ORDER BY last_seq LIMIT 1), 0)`,
    )
    .pluck()
    .get()
  return rows as number
}

/** A `MarketTape` whose functions throw errors with the path of the journal. */
export type Market = Pick<MarketTape, 'stretches' | 'rows'> & {
  /** Yields the items in order. `span`: blocks without a row in this range of time may be left out. */
  items(mints: Mints, span?: Span): Iterable<MarketItem>
  history(): Iterable<Exclude<MarketItem, { kind: 'rows' }>>
  /** Present if the market is a part of a longer tape. Yields the last `seconds` of rows before this part. */
  warmup?(mints: Mints, seconds: number): Iterable<Block>
}

/** Returns a copy of a market in which the function `items` is replaced. */
export function withItems(market: Market, items: Market['items']): Market {
  const { stretches, rows, warmup } = market
  return { stretches, rows, items, history: () => market.history(), ...(warmup && { warmup }) }
}

type Told = Exclude<MarketItem, { kind: 'rows' }>

/** Returns the part of the tape between two times, inclusive. Earlier rows are not played; they may serve as the
 *  warm-up of strategies. */
export function windowOf(market: Market, from: Millis, to: Millis): Market {
  const stretches = market.stretches.flatMap((stretch) => croppedTo(stretch, from, to) ?? [])
  let rows = 0
  for (const item of itemsIn(market.items(new Mints(), { from, to }), from, to))
    if (item.kind === 'rows') rows += item.to - item.from
  return {
    stretches,
    rows,
    items: (mints) => itemsIn(market.items(mints, { from, to }), from, to),
    history: () => itemsIn(market.history(), from, to) as Iterable<Told>,
    warmup: (mints, seconds) => warmupOf(market, from, mints, seconds),
  }
}

/** Crops a recording to a range of time; undefined if nothing of it remains. */
function croppedTo(stretch: Stretch, from: Millis, to: Millis): Stretch | undefined {
  if (stretch.to < from || stretch.from > to) return undefined
  const { stoppedAt, ...rest } = stretch
  const isStopped = stoppedAt !== undefined && stoppedAt >= from && stoppedAt <= to
  return {
    ...rest,
    from: Math.max(stretch.from, from),
    to: Math.min(stretch.to, to),
    ...(isStopped && { stoppedAt }),
  }
}

/** Yields the items between two times. If a recording began before `from`, the state of its feed at `from` is yielded
 *  first. */
function* itemsIn(items: Iterable<MarketItem>, from: Millis, to: Millis): Generator<MarketItem, void, undefined> {
  let stretch: Stretch | undefined
  let before: FeedNews | undefined
  const sources = new LastSources()
  for (const item of items) {
    if (item.kind === 'began') {
      stretch = croppedTo(item.stretch, from, to)
      before = undefined
      if (item.stretch.from > to) return
      if (stretch !== undefined) yield { kind: 'began', stretch }
      continue
    }
    if (item.kind === 'news' && item.news.kind === 'source' && item.time < from) sources.take(item.news)
    if (stretch === undefined) continue
    if (item.kind === 'news' && item.time < from) {
      if (item.news.kind === 'feed') before = item.news
      continue
    }
    const part = item.kind === 'rows' ? cut(item, from, to) : item
    if (part === undefined || (part.kind === 'news' && part.time > to)) continue
    if (before !== undefined) yield { kind: 'news', time: from, news: before }
    before = undefined
    for (const news of sources.takeAll()) yield { kind: 'news', time: from, news }
    yield part.kind === 'ended' ? { kind: 'ended', stretch } : part
  }
}

/** The last data that each data source had delivered before a part of the tape began. */
class LastSources {
  readonly #last = new Map<string, SourceNews>()

  take(news: SourceNews): void {
    if (news.data !== undefined) this.#last.set(`${news.bot} ${news.name}`, news)
  }

  takeAll(): SourceNews[] {
    const all = [...this.#last.values()]
    this.#last.clear()
    return all
  }
}

function cut(item: Extract<MarketItem, { kind: 'rows' }>, from: Millis, to: Millis): typeof item | undefined {
  const { block } = item
  const first = firstFrom(block, from, item.from, item.to)
  const end = firstFrom(block, to + 1, first, item.to)
  return first < end ? { ...item, from: first, to: end } : undefined
}

/** Yields the market rows of the last `seconds` before the time `from`. The seconds are counted back from the last row
 *  before `from`. */
function* warmupOf(market: Market, from: Millis, mints: Mints, seconds: number): Generator<Block, void, undefined> {
  const before = (since: Millis, own: Mints) =>
    itemsIn(market.items(own, { from: since, to: from - 1 }), since, from - 1)
  const lastTime = (since: Millis): Millis => {
    let last = Number.NEGATIVE_INFINITY
    for (const item of before(since, new Mints()))
      if (item.kind === 'rows') last = item.block.time[item.to - 1] as Millis
    return last
  }
  // The whole tape is read only if there is no row in the `seconds` before `from`.
  let last = lastTime(from - 1 - seconds * 1000)
  if (last === Number.NEGATIVE_INFINITY) last = lastTime(Number.NEGATIVE_INFINITY)
  for (const item of before(last - seconds * 1000, mints))
    if (item.kind === 'rows') yield partOf(item.block, item.from, item.to)
}

/** Returns the index of the first row in `from` to `to` that is at or after `time`; `to` if there is none. */
export function firstFrom({ time: times }: Block, time: Millis, from: number, to: number): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] as number) < time) low = middle + 1
    else high = middle
  }
  return low
}
