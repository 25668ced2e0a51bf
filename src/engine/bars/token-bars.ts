import { DAY, type Millis } from '../../base/units.ts'
import type { BarWidth } from '../../market/bar-width.ts'
import { Bars } from '../../market/bars.ts'
import type { Block, TokenId } from '../../market/block.ts'
import { FeedGaps } from '../../market/feed-gaps.ts'
import type { EngineState } from '../engine-state.ts'
import type { FeedStatus, WarmGap } from '../messages.ts'

/** A bot that uses bars. */
export interface BarReader {
  /** Returns the listener to call when bars of this width close; undefined if the bot needs no call. */
  listenerOf(bars: Bars): BarListener | undefined
  /** Whether the oldest bars of this width may be dropped before the bot's indicators have counted them. If so,
   *  `dropping` must be called first. */
  mayLack(bars: Bars): boolean
  /** Called before the oldest bars of a token are dropped, if `mayLack` is true. */
  dropping(bars: Bars, token: TokenId): void
  /** Called when the bars of a token are freed. The token's number may then be given to another token. */
  forget(token: TokenId): void
}

/** Receives the closed bars of one width for one bot. */
export interface BarListener {
  /** Called when the newest bar of a token has closed. */
  closed(token: TokenId): void
  /** Called before `closed` if bars of several tokens close at the same time. Tests the conditions of all these tokens
   *  in the order in which the tokens are stored in memory, because reading them in this order is faster. */
  test(tokens: Uint32Array): void
  /** Whether `closed` must be called for the tokens that `test` received. */
  readonly isDue: boolean
  /** Called after `test`, when `closed` has been called for each token that `test` received. */
  shown(): void
}

/** Bars of a width, and the bots that use them. */
interface SharedBars {
  readonly bars: Bars
  readers: readonly BarReader[]
  /** The listeners of the readers; undefined after a change of `readers`, until the next bar closes. */
  listeners: readonly BarListener[] | undefined
  /** The readers whose `mayLack` is true; undefined after a change of `readers`, until the next bar closes. */
  lacking: readonly BarReader[] | undefined
}

/** Number of days after the last print of a token for which its bars are kept. */
const DAYS_KEPT = 2

/** The bars of all widths that the bots declare. Bots that declare the same width share its bars. */
export class TokenBars {
  /** Time at which the next time bar closes; Infinity without time bars. */
  dueAt: Millis = Number.POSITIVE_INFINITY
  readonly gaps = new FeedGaps()
  /** Time up to which an earlier process recorded the market. The gap that a restart leaves in the bars begins there.
   *  The time is undefined for older journals, which do not contain it. The gap then begins at the last row of the
   *  warm-up, and a gap from before the warm-up ends at the first print of the warm-up, not at its first row. */
  seenTo: Millis | undefined
  readonly #state: EngineState
  /** The bars of all widths: first the time bars, shortest first, then the others in the order of their declaration. */
  #all: readonly SharedBars[] = []
  /** The time bars of `#all`. `#untimed`: the other bars. */
  #timed: readonly Bars[] = []
  #untimed: readonly SharedBars[] = []
  /** A list that is used again for each print. Its first elements are the bars that the current print completes; the
   *  elements after them are left from earlier prints. The list never becomes shorter, because V8 would then free its
   *  memory. */
  readonly #complete: SharedBars[] = []
  /** Time of the last row of the warm-up. */
  #warmedTo: Millis = 0

  constructor(state: EngineState) {
    this.#state = state
  }

  /** Whether any bot declares bars. */
  get isUsed(): boolean {
    return this.#all.length > 0
  }

  /** Adds a reader of the bars of a width. `keep`: number of closed bars of each token that the reader needs. Returns
   *  the bars. */
  declare(width: BarWidth, keep: number, reader: BarReader): Bars {
    const shared = this.#all.find(({ bars }) => bars.width.name === width.name) ?? this.#add(width)
    const { bars } = shared
    bars.keep = Math.max(bars.keep, keep)
    shared.readers = [...shared.readers, reader]
    shared.listeners = shared.lacking = undefined
    return bars
  }

  /** Removes a reader of bars, for all widths of bars. Replaces the lists of readers instead of changing them, because
   *  a caller may be iterating over one of them. */
  release(reader: BarReader): void {
    for (const shared of this.#all) {
      shared.readers = shared.readers.filter((one) => one !== reader)
      shared.listeners = shared.lacking = undefined
    }
  }

  #add(width: BarWidth): SharedBars {
    const shared: SharedBars = {
      bars: new Bars(width, this.gaps),
      readers: [],
      listeners: undefined,
      lacking: undefined,
    }
    this.dueAt = Math.min(this.dueAt, shared.bars.closesAt)
    const behind = this.#all.findIndex(({ bars }) => bars.width.everyMs > width.everyMs)
    this.#all = this.#all.toSpliced(behind < 0 ? this.#all.length : behind, 0, shared)
    this.#timed = this.#all.map(({ bars }) => bars).filter(({ isTimed }) => isTimed)
    this.#untimed = this.#all.filter(({ bars }) => !bars.isTimed)
    return shared
  }

  /** Widths of the time bars, shortest first. */
  get timeWidths(): readonly BarWidth[] {
    return this.#all.map(({ bars }) => bars.width).filter(({ everyMs }) => everyMs < Number.POSITIVE_INFINITY)
  }

  /** Discards the current intervals of all widths, so that the next row begins new ones. */
  #rewind(): void {
    for (const { bars } of this.#all) bars.rewind()
    this.#setDue()
  }

  /** Closes every time bar that has ended by `now`. All bars that end at the same time are closed before the first of
   *  them is shown to a bot. They are shown in the order of their widths, and within a width in the order in which
   *  their tokens first printed. Bars with an earlier end come first, so the order does not depend on how late this
   *  method is called. */
  advance(now: Millis): void {
    if (this.#state.prices.contradicted) for (const { bars } of this.#all) bars.dropOpen()
    for (let at = this.#nextEnd(now); at !== undefined; at = this.#nextEnd(now)) this.#closeAt(at)
    for (const shared of this.#all) if (shared.bars.closesAt <= now) endInterval(shared, now)
    this.#setDue()
  }

  /** Returns the end of the next interval that has prints and that ended at or before `now`; undefined if there is
   *  none. */
  #nextEnd(now: Millis): Millis | undefined {
    let next: Millis | undefined
    for (const { bars } of this.#all) {
      const { closesAt, hasPrints } = bars
      if (hasPrints && closesAt <= now && closesAt < (next ?? Number.POSITIVE_INFINITY)) next = closesAt
    }
    return next
  }

  #closeAt(at: Millis): void {
    const closed = this.#all
      .filter(({ bars }) => bars.closesAt <= at)
      .map((shared) => ({ shared, tokens: endInterval(shared, at) }))
    for (const { shared, tokens } of closed) {
      const listeners = listenersOf(shared)
      if (listeners.length === 0) continue
      for (const listener of listeners) listener.test(shared.bars.inMemoryOrder)
      if (listeners.some(({ isDue }) => isDue))
        for (let index = 0; index < tokens.length; index++) show(tokens[index] as TokenId, listeners)
      for (const listener of listeners) listener.shown()
    }
  }

  #setDue(): void {
    this.dueAt = Math.min(Number.POSITIVE_INFINITY, ...this.#all.map(({ bars }) => bars.closesAt))
  }

  /** Adds a print that counts for the robust price. */
  print(block: Block, row: number, token: TokenId): void {
    const { prices } = this.#state
    if (this.gaps.isOpen) this.gaps.end(block.time[row] as number)
    if (!prices.units.proved) return
    const timed = this.#timed
    for (let index = 0; index < timed.length; index++) (timed[index] as Bars).printOpen(block, row, token, prices)
    if (this.#untimed.length > 0) this.#printUntimed(block, row, token)
  }

  #printUntimed(block: Block, row: number, token: TokenId): void {
    const { prices } = this.#state
    const untimed = this.#untimed
    let complete = 0
    for (let index = 0; index < untimed.length; index++) {
      const shared = untimed[index] as SharedBars
      if (shared.bars.print(block, row, token, prices)) this.#complete[complete++] = shared
    }
    if (complete > 0) this.#completed(token, complete)
  }

  /** Closes all bars that a print completes, and then shows them. */
  #completed(token: TokenId, count: number): void {
    const complete = this.#complete
    let closed = 0
    for (let index = 0; index < count; index++) {
      const shared = complete[index] as SharedBars
      if (lackingIn(shared).length > 0 && shared.bars.drops(token)) dropping(shared, token)
      if (shared.bars.close(token)) complete[closed++] = shared
    }
    for (let index = 0; index < closed; index++) show(token, listenersOf(complete[index] as SharedBars))
  }

  /** Closes the bars that have ended by `now`, the time of a row of the warm-up. The first row of the warm-up discards
   *  the current intervals, which began at the start, because the row is older. */
  warm(now: Millis): void {
    if (!this.#state.warmed) {
      this.#rewind()
      if (this.seenTo !== undefined) this.gaps.end(now)
    }
    this.#warmedTo = now
    if (now >= this.dueAt) this.advance(now)
  }

  /** Ends the warm-up, and closes the bars that ended after its last row and by `now`. The time from the last row of
   *  the warm-up to the next row counts as a gap. */
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
    return this.#all.some(({ bars }) => bars.holds(token))
  }

  /** Begins a new UTC day. Frees the bars of each token that had no print for two days, unless `isNeeded` returns true
   *  for it. */
  nextDay(now: Millis, isNeeded: (token: TokenId) => boolean): void {
    const since = now - DAYS_KEPT * DAY
    const tokens = Math.max(0, ...this.#all.map(({ bars }) => bars.tokens))
    const readers = new Set(this.#all.flatMap((shared) => shared.readers))
    for (let token = 0; token < tokens; token++) {
      if (this.#all.some(({ bars }) => bars.lastAt(token) >= since) || !this.holds(token) || isNeeded(token)) continue
      for (const { bars } of this.#all) bars.forget(token)
      for (const reader of readers) reader.forget(token)
    }
  }
}

function listenersOf(shared: SharedBars): readonly BarListener[] {
  return shared.listeners ?? findListeners(shared)
}

// V8 allocates memory at every call of a function that contains a closure, even if the call does not use the closure.
// Therefore closures are in separate functions (`find...`), which are called rarely.

function findListeners(shared: SharedBars): readonly BarListener[] {
  shared.listeners = shared.readers.flatMap((reader) => reader.listenerOf(shared.bars) ?? [])
  return shared.listeners
}

function lackingIn(shared: SharedBars): readonly BarReader[] {
  return shared.lacking ?? findLacking(shared)
}

function findLacking(shared: SharedBars): readonly BarReader[] {
  shared.lacking = shared.readers.filter((reader) => reader.mayLack(shared.bars))
  return shared.lacking
}

function dropping(shared: SharedBars, token: TokenId): void {
  const lacking = lackingIn(shared)
  for (let index = 0; index < lacking.length; index++) (lacking[index] as BarReader).dropping(shared.bars, token)
}

/** Closes the bars of all tokens with a print in the current interval. Returns the tokens. */
function endInterval(shared: SharedBars, now: Millis): Uint32Array {
  const isTold = lackingIn(shared).length > 0
  return shared.bars.endInterval(now, isTold ? (token) => dropping(shared, token) : undefined)
}

/** Shows the newest bar of a token to bots. */
function show(token: TokenId, listeners: readonly BarListener[]): void {
  for (let index = 0; index < listeners.length; index++) (listeners[index] as BarListener).closed(token)
}
