import type { Block } from '../core/block.ts'
import { Mints } from '../core/mints.ts'
import type { Millis } from '../core/units.ts'
import type { FeedNews, Stretch } from './market-tape.ts'
import type { Market, MarketItem } from './reader.ts'
import { partOf } from './tape-block.ts'

type Told = Exclude<MarketItem, { kind: 'rows' }>

/** A tape from one time up to another, both in it. What comes before is not played, but strategies may be shown the end of it. */
export function windowOf(market: Market, from: Millis, to: Millis): Market {
  const stretches = market.stretches.flatMap((stretch) => croppedTo(stretch, from, to) ?? [])
  let rows = 0
  for (const item of itemsIn(market.items(new Mints()), from, to)) if (item.kind === 'rows') rows += item.to - item.from
  return {
    stretches,
    rows,
    items: (mints) => itemsIn(market.items(mints), from, to),
    history: () => itemsIn(market.history(), from, to) as Iterable<Told>,
    warmup: (mints, seconds) => warmupOf(market, from, mints, seconds),
  }
}

/** undefined where nothing of it lies between. */
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

/** A stretch that had begun before begins with the feed as it was then. */
function* itemsIn(items: Iterable<MarketItem>, from: Millis, to: Millis): Generator<MarketItem, void, undefined> {
  let stretch: Stretch | undefined
  let before: FeedNews | undefined
  for (const item of items) {
    if (item.kind === 'began') {
      stretch = croppedTo(item.stretch, from, to)
      before = undefined
      if (item.stretch.from > to) return
      if (stretch !== undefined) yield { kind: 'began', stretch }
      continue
    }
    if (stretch === undefined) continue
    if (item.kind === 'news' && item.time < from) {
      if (item.news.kind === 'feed') before = item.news
      continue
    }
    const part = item.kind === 'rows' ? cut(item, from, to) : item
    if (part === undefined || (part.kind === 'news' && part.time > to)) continue
    if (before !== undefined) yield { kind: 'news', time: from, news: before }
    before = undefined
    yield part.kind === 'ended' ? { kind: 'ended', stretch } : part
  }
}

function cut(item: Extract<MarketItem, { kind: 'rows' }>, from: Millis, to: Millis): typeof item | undefined {
  const { block } = item
  const first = firstFrom(block, from, item.from, item.to)
  const end = firstFrom(block, to + 1, first, item.to)
  return first < end ? { ...item, from: first, to: end } : undefined
}

/** The last `seconds` before, counted back from the last row there. */
function* warmupOf(market: Market, from: Millis, mints: Mints, seconds: number): Generator<Block, void, undefined> {
  let last = Number.NEGATIVE_INFINITY
  for (const item of itemsIn(market.items(new Mints()), Number.NEGATIVE_INFINITY, from - 1))
    if (item.kind === 'rows') last = item.block.time[item.to - 1] as Millis
  for (const item of itemsIn(market.items(mints), last - seconds * 1000, from - 1))
    if (item.kind === 'rows') yield partOf(item.block, item.from, item.to)
}

/** The first of the rows `from` to `to` that is not before `time`; `to` where all are. */
function firstFrom({ time: times }: Block, time: Millis, from: number, to: number): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] as number) < time) low = middle + 1
    else high = middle
  }
  return low
}
