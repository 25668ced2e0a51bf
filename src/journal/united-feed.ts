import type { Json } from '../base/json.ts'
import type { Millis } from '../base/units.ts'
import type { MarketItem, SourceNews } from './tape/market-tape.ts'

type Told = Extract<MarketItem, { kind: 'news' }>

/** A feed event. It comes before the market rows with the same time. */
export interface News {
  readonly at: number
  readonly told: Told
}

/** An interval of time: start and end. */
type Interval = readonly [Millis, Millis]

/** Merges the feed states of several recorders. A key counts as received while any recorder receives it. */
export class UnitedFeed {
  /** Intervals in which at least one recorder received a key, unsorted. */
  readonly #heard = new Map<string, Interval[]>()
  /** For each key, the time since which the recorder whose history is being added receives the key. */
  #since = new Map<string, Millis>()
  /** Each recorder's history is added in turn. Intervals in which the present recorder received each key (`#live`), and
   *  intervals in which it missed the key (`#gaps`). */
  #live = new Map<string, Interval[]>()
  #gaps = new Map<string, Interval[]>()
  readonly #answers: News[] = []
  /** For each source: the time of its last answer (`#answeredUntil`) and its last data (`#data`). */
  readonly #answeredUntil = new Map<string, Millis>()
  readonly #data = new Map<string, Json>()

  /** Adds an item of a recorder's history. The histories are added one after the other. */
  take(item: Exclude<MarketItem, { kind: 'rows' }>): void {
    if (item.kind === 'ended') this.#end(item.stretch.to)
    if (item.kind !== 'news') return
    const { time, news } = item
    if (news.kind === 'source') {
      this.#answer(time, news)
      return
    }
    if (news.kind === 'gap') for (const key of news.keys) add(this.#gaps, key, [news.from, news.to])
    else this.#hear(time, news.status === 'live' ? news.confirmed : [])
  }

  /** Returns the events of the united feed, in the order of time. */
  news(): News[] {
    const gains = new Map<Millis, string[]>()
    const losses = new Map<Millis, string[]>()
    const gaps = new Map<Millis, Map<Millis, string[]>>()
    for (const [key, intervals] of this.#heard) {
      const united = unite(intervals)
      for (const [index, [from, to]] of united.entries()) {
        add(gains, from, key)
        add(losses, to, key)
        const before = united[index - 1]
        if (before === undefined) continue
        const since = gaps.get(from) ?? new Map<Millis, string[]>()
        gaps.set(from, since)
        add(since, before[1], key)
      }
    }
    const news: News[] = []
    const now = new Set<string>()
    const changes = [...[...gains.keys()].map((time) => time), ...[...losses.keys()].map((time) => time + 0.5)]
    for (const at of changes.sort((one, other) => one - other)) {
      const time = Math.floor(at)
      if (at === time) {
        for (const [from, keys] of gaps.get(time) ?? [])
          news.push({ at, told: { kind: 'news', time, news: { kind: 'gap', from, to: time, keys } } })
        for (const key of gains.get(time) ?? []) now.add(key)
      } else for (const key of losses.get(time) ?? []) now.delete(key)
      const status = now.size > 0 ? 'live' : 'down'
      news.push({ at, told: { kind: 'news', time, news: { kind: 'feed', status, confirmed: [...now] } } })
    }
    return [...news, ...this.#answers].sort((one, other) => one.at - other.at)
  }

  /** Adds an answer of a data source, unless a recorder that was added before has an answer of this source from the
   *  same time or later. */
  #answer(time: Millis, news: SourceNews): void {
    const key = `${news.bot} ${news.name}`
    const data = news.data ?? this.#data.get(key)
    if (data === undefined) return
    this.#data.set(key, data)
    if (time <= (this.#answeredUntil.get(key) ?? Number.NEGATIVE_INFINITY)) return
    this.#answeredUntil.set(key, time)
    this.#answers.push({ at: time, told: { kind: 'news', time, news: { ...news, data } } })
  }

  #hear(time: Millis, keys: readonly string[]): void {
    const confirmed = new Set(keys)
    for (const [key, since] of this.#since) {
      if (confirmed.has(key)) continue
      add(this.#live, key, [since, time])
      this.#since.delete(key)
    }
    for (const key of keys) if (!this.#since.has(key)) this.#since.set(key, time)
  }

  #end(time: Millis): void {
    this.#hear(time, [])
    for (const [key, intervals] of this.#live)
      for (const heard of without(intervals, this.#gaps.get(key) ?? [])) add(this.#heard, key, heard)
    this.#live = new Map()
    this.#gaps = new Map()
    this.#since = new Map()
  }
}

function add<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

/** Cuts the gaps out of the intervals, and drops intervals of length 0. */
function without(intervals: readonly Interval[], gaps: readonly Interval[]): Interval[] {
  let left = [...intervals]
  for (const [from, to] of gaps) {
    if (from === to) continue
    left = left.flatMap(([start, end]): Interval[] => {
      if (to <= start || from >= end) return [[start, end]]
      const around: Interval[] = [
        [start, from],
        [to, end],
      ]
      return around.filter(([one, other]) => one < other)
    })
  }
  return left
}

/** Sorts intervals, and merges those that touch or overlap. */
function unite(intervals: readonly Interval[]): Interval[] {
  const united: Interval[] = []
  for (const [from, to] of [...intervals].sort((one, other) => one[0] - other[0])) {
    const last = united.at(-1)
    if (last === undefined || from > last[1]) united.push([from, to])
    else united[united.length - 1] = [last[0], Math.max(last[1], to)]
  }
  return united
}
