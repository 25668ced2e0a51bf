import type { Millis } from '../../base/units.ts'
import type { BarWidth } from '../../market/bar-width.ts'
import { Bars } from '../../market/bars.ts'
import { type Block, RowKind, type TokenId } from '../../market/block.ts'
import { FeedGaps } from '../../market/feed-gaps.ts'
import type { EngineState } from '../engine-state.ts'
import type { FeedStatus, WarmGap } from '../messages.ts'

/** A bot that uses bars of a width. */
export interface BarReader {
  /** Whether `closed` does anything for bars of this width. */
  listensTo(bars: Bars): boolean
  /** Called before the oldest bars of a token are dropped. */
  dropping(bars: Bars, token: TokenId): void
  /** Called when the newest bar of a token has closed. */
  closed(bars: Bars, token: TokenId): void
  /** Called when the bars of a token are freed. Its number may then belong to another token. */
  forget(token: TokenId): void
}

/** Days for which the bars of a token without a print are kept. */
const DAYS_KEPT = 2
const DAY_MS = 86_400_000

/** The bars of all widths that the bots declare. Bots that declare the same width share its bars. */
export class TokenBars {
  /** Time at which the next time bar closes; Infinity without time bars. */
  dueAt: Millis = Number.POSITIVE_INFINITY
  readonly gaps = new FeedGaps()
  /** Time up to which the market was seen before the start. Undefined in older journals: a gap then ends at the first
   *  print of the warm-up, and the next one begins at its last row. */
  seenTo: Millis | undefined
  readonly #state: EngineState
  /** Bars by width: time bars by their width, then the others in the order of their declaration. */
  #all: Bars[] = []
  readonly #readers = new Map<Bars, BarReader[]>()
  /** Bars that the current print completes; reused. */
  readonly #complete: Bars[] = []
  /** Time of the last row of the warm-up. */
  #warmedTo: Millis = 0

  constructor(state: EngineState) {
    this.#state = state
  }

  /** Whether any bot declares bars. */
  get isUsed(): boolean {
    return this.#all.length > 0
  }

  /** Adds a reader of the bars of a width, who needs the last `keep` bars of each token. Returns the bars. */
  declare(width: BarWidth, keep: number, reader: BarReader): Bars {
    const bars = this.#all.find((one) => one.width.name === width.name) ?? this.#add(width)
    bars.keep = Math.max(bars.keep, keep)
    this.#readers.get(bars)?.push(reader)
    return bars
  }

  /** Removes a reader from the readers of all widths. The lists are replaced, because they may be iterated over now. */
  release(reader: BarReader): void {
    for (const [bars, readers] of this.#readers)
      this.#readers.set(
        bars,
        readers.filter((one) => one !== reader),
      )
  }

  #add(width: BarWidth): Bars {
    const bars = new Bars(width, this.gaps)
    this.dueAt = Math.min(this.dueAt, bars.closesAt)
    const behind = this.#all.findIndex((one) => one.width.everyMs > width.everyMs)
    this.#all = this.#all.toSpliced(behind < 0 ? this.#all.length : behind, 0, bars)
    this.#readers.set(bars, [])
    return bars
  }

  /** Widths of the time bars, in the order of their closing. */
  get timeWidths(): readonly BarWidth[] {
    return this.#all.map(({ width }) => width).filter(({ everyMs }) => everyMs < Number.POSITIVE_INFINITY)
  }

  /** Begins the first interval with the next row. */
  #rewind(): void {
    for (const bars of this.#all) bars.rewind()
    this.#setDue()
  }

  /** Closes every time bar that has ended by `now`. Bars that end at the same time are all closed before the first of
   *  them is shown. They are shown by width, then in the order in which their tokens printed first. If the engine is
   *  late, earlier ends come first, so a late engine shows the same bars in the same order as one that is not. */
  advance(now: Millis): void {
    if (this.#state.prices.contradicted) for (const bars of this.#all) bars.dropOpen()
    for (let at = this.#nextEnd(now); at !== undefined; at = this.#nextEnd(now)) this.#closeAt(at)
    for (const bars of this.#all) if (bars.closesAt <= now) this.#endInterval(bars, now)
    this.#setDue()
  }

  /** End of the next interval that has prints and has ended by `now`. */
  #nextEnd(now: Millis): Millis | undefined {
    let next: Millis | undefined
    for (const { closesAt, hasPrints } of this.#all)
      if (hasPrints && closesAt <= now && closesAt < (next ?? Number.POSITIVE_INFINITY)) next = closesAt
    return next
  }

  #closeAt(at: Millis): void {
    const closed = this.#all
      .filter((bars) => bars.closesAt <= at)
      .map((bars) => ({ bars, tokens: this.#endInterval(bars, at) }))
    for (const { bars, tokens } of closed) {
      const listeners = this.#listenersOf(bars)
      if (listeners.length === 0) continue
      for (let index = 0; index < tokens.length; index++) show(bars, tokens[index] as TokenId, listeners)
    }
  }

  /** Closes the bars of all tokens with a print in the current interval. Returns the tokens. */
  #endInterval(bars: Bars, now: Millis): Uint32Array {
    const readers = this.#readers.get(bars) ?? []
    return bars.endInterval(now, (token) => {
      for (const reader of readers) reader.dropping(bars, token)
    })
  }

  #listenersOf(bars: Bars): BarReader[] {
    return (this.#readers.get(bars) ?? []).filter((reader) => reader.listensTo(bars))
  }

  #setDue(): void {
    this.dueAt = Math.min(Number.POSITIVE_INFINITY, ...this.#all.map(({ closesAt }) => closesAt))
  }

  /** Adds a print that counts for the robust price. */
  print(block: Block, row: number, token: TokenId): void {
    const { prices, now } = this.#state
    const price = prices.at(token)
    if (this.gaps.isOpen) this.gaps.end(now)
    if (price === undefined && !prices.units.proved) return
    const isSell = block.kind[row] === RowKind.sell
    const sol = block.amount[row] as number
    for (let index = 0; index < this.#all.length; index++) {
      const bars = this.#all[index] as Bars
      if (bars.print(token, isSell, sol, price ?? 0, now)) this.#complete.push(bars)
    }
    if (this.#complete.length > 0) this.#completed(token)
  }

  #completed(token: TokenId): void {
    const closed = this.#complete.splice(0).filter((bars) => this.#close(bars, token))
    for (const bars of closed) show(bars, token, this.#listenersOf(bars))
  }

  #close(bars: Bars, token: TokenId): boolean {
    if (bars.drops(token)) for (const reader of this.#readers.get(bars) ?? []) reader.dropping(bars, token)
    return bars.close(token)
  }

  /** Closes the bars that have ended before a row of the warm-up. The rows of a warm-up are older than the start. */
  warm(now: Millis): void {
    if (!this.#state.warmed) {
      this.#rewind()
      if (this.seenTo !== undefined) this.gaps.end(now)
    }
    this.#warmedTo = now
    if (now >= this.dueAt) this.advance(now)
  }

  /** Ends the warm-up and closes the bars that have ended since. The market until the first row that follows was not
   *  seen. */
  endWarmup(now: Millis): void {
    this.gaps.begin(Math.max(this.seenTo ?? 0, this.#warmedTo))
    if (this.#state.feed === 'live') this.gaps.end(now)
    this.advance(now)
  }

  feed(status: FeedStatus, now: Millis): void {
    if (status === 'live') this.gaps.end(now)
    else if (status !== 'stale') this.gaps.begin(now)
  }

  missed({ from, to, keys }: WarmGap): void {
    if (keys.includes('trades')) this.gaps.add(from, to)
    else
      for (const key of keys) {
        const token = this.#state.mints.find(key)
        if (token !== undefined) this.gaps.add(from, to, token)
      }
  }

  holds(token: TokenId): boolean {
    return this.#all.some((bars) => bars.holds(token))
  }

  /** Begins a new day. Frees the bars of tokens without a print for two days, unless `isNeeded` says otherwise. */
  nextDay(now: Millis, isNeeded: (token: TokenId) => boolean): void {
    const since = now - DAYS_KEPT * DAY_MS
    const tokens = Math.max(0, ...this.#all.map((bars) => bars.tokens))
    const readers = new Set([...this.#readers.values()].flat())
    for (let token = 0; token < tokens; token++) {
      if (this.#all.some((bars) => bars.lastAt(token) >= since) || !this.holds(token) || isNeeded(token)) continue
      for (const bars of this.#all) bars.forget(token)
      for (const reader of readers) reader.forget(token)
    }
  }
}

/** Shows the newest bar of a token to bots. */
function show(bars: Bars, token: TokenId, listeners: readonly BarReader[]): void {
  for (let index = 0; index < listeners.length; index++) (listeners[index] as BarReader).closed(bars, token)
}
