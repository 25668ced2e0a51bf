import { DAY, type Millis } from '../../base/units.ts'
import type { BarWidth } from '../../market/bar-width.ts'
import { Bars } from '../../market/bars.ts'
import type { Block, TokenId } from '../../market/block.ts'
import { FeedGaps } from '../../market/feed-gaps.ts'
import type { EngineState } from '../engine-state.ts'
import type { FeedStatus, WarmGap } from '../messages.ts'
import { BarAudience, type BarReader } from './bar-audience.ts'
import { SharedIndicators } from './shared-indicators.ts'

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
  #all: readonly BarAudience[] = []
  /** The time bars of `#all`. `#untimed`: the other bars. */
  #timed: readonly Bars[] = []
  #untimed: readonly BarAudience[] = []
  /** A list that is used again for each print. Its first elements are the bars that the current print completes; the
   *  elements after them are left from earlier prints. The list never becomes shorter, because V8 would then free its
   *  memory. */
  readonly #complete: BarAudience[] = []
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
   *  the bars with the bots that use them. */
  declare(width: BarWidth, keep: number, reader: BarReader): BarAudience {
    const audience = this.#all.find(({ bars }) => bars.width.name === width.name) ?? this.#add(width)
    audience.add(reader, keep)
    return audience
  }

  /** Returns the indicators that bots share over the bars of an audience. `isFilled`: whether the indicators count
   *  silent bars. */
  indicatorsOf(audience: BarAudience, isFilled: boolean): SharedIndicators {
    return audience.indicators(isFilled, () => new SharedIndicators({ bars: audience.bars, gaps: this.gaps, isFilled }))
  }

  /** Removes a reader of bars, for all widths of bars. */
  release(reader: BarReader): void {
    for (const audience of this.#all) audience.remove(reader)
  }

  #add(width: BarWidth): BarAudience {
    const audience = new BarAudience(new Bars(width, this.gaps))
    this.dueAt = Math.min(this.dueAt, audience.bars.closesAt)
    const behind = this.#all.findIndex(({ bars }) => bars.width.everyMs > width.everyMs)
    this.#all = this.#all.toSpliced(behind < 0 ? this.#all.length : behind, 0, audience)
    this.#timed = this.#all.map(({ bars }) => bars).filter(({ isTimed }) => isTimed)
    this.#untimed = this.#all.filter(({ bars }) => !bars.isTimed)
    return audience
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
    for (const audience of this.#all) if (audience.bars.closesAt <= now) endInterval(audience, now)
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
      .map((audience) => ({ audience, tokens: endInterval(audience, at) }))
    for (const { audience, tokens } of closed) {
      audience.testAll(audience.bars.inMemoryOrder)
      audience.showAll(tokens)
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
      const audience = untimed[index] as BarAudience
      if (audience.bars.print(block, row, token, prices)) this.#complete[complete++] = audience
    }
    if (complete > 0) this.#completed(token, complete)
  }

  /** Closes all bars that a print completes, and then shows them. */
  #completed(token: TokenId, count: number): void {
    const complete = this.#complete
    let closed = 0
    for (let index = 0; index < count; index++) {
      const audience = complete[index] as BarAudience
      if (audience.close(token)) complete[closed++] = audience
    }
    for (let index = 0; index < closed; index++) (complete[index] as BarAudience).show(token)
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
    const readers = new Set(this.#all.flatMap((audience) => audience.readers))
    for (let token = 0; token < tokens; token++) {
      if (this.#all.some(({ bars }) => bars.lastAt(token) >= since) || !this.holds(token) || isNeeded(token)) continue
      for (const audience of this.#all) audience.forget(token)
      for (const reader of readers) reader.forget(token)
    }
  }
}

/** Closes the bars of all tokens with a print in the current interval. Returns the tokens. */
function endInterval(audience: BarAudience, now: Millis): Uint32Array {
  return audience.bars.endInterval(now, audience.mayLack ? (token) => audience.dropping(token) : undefined)
}
