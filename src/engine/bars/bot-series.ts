import type { Millis } from '../../base/units.ts'
import { BAR_DOUBLES, type Bar, CLOSE, CLOSED, VOLUME } from '../../market/bar.ts'
import type { BarFollower } from '../../market/bars.ts'
import type { TokenId } from '../../market/block.ts'
import { type ByToken, setByToken } from '../../market/mints.ts'
import type { LoadNumber } from '../conditions/test-code.ts'
import { type BarFigure, figureAt, type Indicator, type IndicatorState, readFigure } from '../indicators/indicator.ts'
import { IndicatorMemory } from '../indicators/indicator-memory.ts'
import { NumberIndicator } from '../indicators/number-indicator.ts'
import { BarPasser, type BarTaker, CURSOR_DOUBLES, type CursorOptions } from './bar-cursor.ts'

/** Largest number of consecutive silent bars (bars of intervals without a print) that an indicator counts. More of them
 *  would hardly change its value, but would take time. */
const MOST_SILENT = 1_000

/** Bars of one width as one bot sees them, and the bot's indicators over them. */
export interface SeriesOptions extends Omit<CursorOptions, 'mostSilent'> {
  readonly keep: number
  readonly indicators: readonly Indicator<unknown>[]
  /** Whether the indicators must be updated at each bar, because a condition may read them. */
  readonly isEager: boolean
}

const NO_BARS: readonly Bar[] = Object.freeze([])

/** The list of a token's bars. `cursor` points to the last bar in the list. */
interface KeptList {
  readonly cursor: Float64Array
  bars: readonly Bar[]
}

/** For one token: the states of the indicators that the strategy defines itself, and the cursor of the bars that these
 *  states have counted. */
interface OwnStates {
  readonly cursor: Float64Array
  readonly states: readonly IndicatorState<unknown>[]
}

/** The bars of one width for all tokens, as one bot sees them. Lists and indicators are created when they are first
 *  read, because those of most tokens are never read. The value of an indicator does not depend on how often or how
 *  late it is read. */
export class BotSeries implements BarFollower {
  readonly #options: SeriesOptions
  readonly #lists: ByToken<KeptList> = []
  readonly #listPasser: BarPasser
  readonly #passer: BarPasser
  /** Indicators whose state consists of numbers. `#memory` stores the states of all tokens, and the cursor of each
   *  token. */
  readonly #inMemory: readonly NumberIndicator<unknown>[]
  #memory: IndicatorMemory
  /** Indicators that the strategy defines itself. */
  readonly #own: readonly Indicator<unknown>[]
  readonly #ownStates: ByToken<OwnStates> = []

  constructor(options: SeriesOptions) {
    const { indicators } = options
    this.#options = options
    this.#listPasser = new BarPasser({ ...options, mostSilent: Number.POSITIVE_INFINITY })
    this.#passer = new BarPasser({ ...options, mostSilent: MOST_SILENT })
    this.#inMemory = indicators.filter((indicator) => indicator instanceof NumberIndicator)
    this.#memory = new IndicatorMemory(this.#inMemory)
    this.#own = indicators.filter((indicator) => !(indicator instanceof NumberIndicator))
    if (this.#inMemory.length > 0) options.bars.addFollower(this)
  }

  get bars(): SeriesOptions['bars'] {
    return this.#options.bars
  }

  get hasIndicators(): boolean {
    return this.#options.indicators.length > 0
  }

  /** Whether the strategy defines an indicator of this width itself. */
  get hasOwnCode(): boolean {
    return this.#own.length > 0
  }

  /** Returns the last closed bars of a token, oldest first. All calls between two bars return the same list. */
  listOf(token: TokenId): readonly Bar[] {
    const { keep, bars } = this.#options
    if (bars.closed.countOf(token) === 0) return NO_BARS
    const kept = this.#lists[token] ?? { cursor: new Float64Array(CURSOR_DOUBLES), bars: NO_BARS }
    if (this.#listPasser.isAtEnd(token, kept.cursor, 0)) return kept.bars
    const list = kept.bars.slice()
    const copies: BarTaker = { add: (_token, doubles, at) => list.push(bars.copy(doubles, at)) }
    this.#listPasser.pass(token, kept.cursor, 0, copies, bars.closedTo - keep * bars.width.everyMs)
    kept.bars = Object.freeze(list.slice(-keep))
    setByToken(this.#lists, token, kept)
    return kept.bars
  }

  /** Returns the index of an indicator, as `valueOf` expects it. The indicators whose state is stored as numbers come
   *  first. */
  placeOf(indicator: Indicator<unknown>): number {
    const own = this.#own.indexOf(indicator)
    return own < 0 ? this.#inMemory.indexOf(indicator as NumberIndicator<unknown>) : this.#inMemory.length + own
  }

  /** Current value of an indicator of a token. */
  valueOf(place: number, token: TokenId): unknown {
    if (place >= this.#inMemory.length) return this.#ownValueOf(place - this.#inMemory.length, token)
    this.#countInMemory(token)
    return this.#memory.valueOf(token, place)
  }

  /** Writes one number of an indicator's current value to `to[at]`; NaN before there are enough bars. The indicator
   *  must be one whose state is stored as numbers, and `count` must have been called for the token. */
  loadNumber(place: number, field: number, token: TokenId, to: Float64Array, at: number): void {
    this.#memory.load(token, place, field, to, at)
  }

  /** Writes an estimate of the number that `loadNumber` writes, and the largest possible error of the estimate; see
   *  `StateInMemory.estimate`. `count` must have been called for the token. */
  loadEstimate(place: number, token: TokenId, to: Float64Array, at: number): void {
    this.#memory.estimate(token, place, to, at)
  }

  /** Updates the indicators whose state is stored as numbers with the closed bars of a token. */
  count(token: TokenId): void {
    this.#countInMemory(token)
  }

  /** Returns a function that reads a figure of a token's newest bar, the last bar of `listOf`. Before the first bar,
   *  the function reads NaN. */
  figureLoader(figure: BarFigure): LoadNumber {
    const { bars, isFilled } = this.#options
    const number = readFigure(figure, 'figure')
    return (token, to, at) => {
      const { closed } = bars
      const count = closed.countOf(token)
      if (count === 0) {
        to[at] = Number.NaN
        return
      }
      const place = closed.placeOf(token, count - 1)
      const memory = closed.memoryAt(place)
      const bar = closed.offsetOf(place)
      const isNewest = !isFilled || (memory[bar + CLOSED] as number) >= bars.closedTo
      to[at] = isNewest ? figureAt(memory, bar, number) : number < VOLUME ? (memory[bar + CLOSE] as number) : 0
    }
  }

  #ownValueOf(index: number, token: TokenId): unknown {
    this.#countOwn(token)
    return this.#ownStates[token]?.states[index]?.value
  }

  /** Whether it is possible that an indicator has not counted all closed bars yet. If false, every bar updates all
   *  indicators as soon as it closes. */
  get mayLack(): boolean {
    return this.#own.length > 0 || (this.#inMemory.length > 0 && !this.#options.isEager)
  }

  /** Whether an indicator has not yet counted all stored bars of a token. */
  lacks(token: TokenId): boolean {
    if (this.#own.length > 0) return true
    return this.#inMemory.length > 0 && !this.#passer.hasAll(token, this.#memory.lines, this.#memory.lineOf(token))
  }

  /** Updates the indicators with the stored bars of a token before its oldest bars are dropped. Counts no silent bars
   *  after the last stored bar: bars are dropped only when the next bar with prints is stored. */
  countBeforeDrop(token: TokenId): void {
    if (this.#inMemory.length > 0) this.#countInMemory(token, Number.NEGATIVE_INFINITY)
    if (this.#own.length > 0) this.#countOwn(token, Number.NEGATIVE_INFINITY)
  }

  closing(token: TokenId, doubles: Float64Array, at: number): void {
    if (this.#isNext(token, doubles, at)) this.#memory.add(token, doubles, at)
  }

  closingAll(tokens: Uint32Array, count: number, doubles: Float64Array): void {
    for (let index = 0; index < count; index++) {
      const token = tokens[index] as TokenId
      if (this.#isNext(token, doubles, token * BAR_DOUBLES)) this.#memory.stage(token, doubles, token * BAR_DOUBLES)
    }
    this.#memory.addStaged()
  }

  /** Returns whether the indicators have counted all earlier bars of the token, so that they can count the bar that is
   *  about to close. If so, adds the silent bars before this bar. The numbers of the bar begin at `doubles[at]`. */
  #isNext(token: TokenId, doubles: Float64Array, at: number): boolean {
    const memory = this.#memory
    const line = memory.lineOf(token)
    return this.#passer.passTo(token, memory.lines, line, memory, doubles, at, this.#options.isEager)
  }

  /** Frees the lists and indicators of all tokens. */
  release(): void {
    this.#options.bars.removeFollower(this)
    this.#memory = new IndicatorMemory(this.#inMemory)
    this.#lists.length = 0
    this.#ownStates.length = 0
  }

  /** Frees the lists and indicators of a token. */
  forget(token: TokenId): void {
    this.#memory.forget(token)
    if (token < this.#lists.length) this.#lists[token] = undefined
    if (token < this.#ownStates.length) this.#ownStates[token] = undefined
  }

  #countInMemory(token: TokenId, until?: Millis): void {
    const line = this.#memory.lineOf(token)
    const { lines } = this.#memory
    if (this.#passer.isAtEnd(token, lines, line)) return
    this.#passer.pass(token, lines, line, this.#memory, Number.NEGATIVE_INFINITY, until)
  }

  #countOwn(token: TokenId, until?: Millis): void {
    const known = this.#ownStates[token]
    const { cursor } = known ?? { cursor: new Float64Array(CURSOR_DOUBLES) }
    if (this.#passer.isAtEnd(token, cursor, 0)) return
    const { states } = known ?? { states: this.#own.map((indicator) => indicator.create()) }
    if (known === undefined) setByToken(this.#ownStates, token, { cursor, states })
    const { bars } = this.#options
    const own: BarTaker = {
      add: (_token, doubles, at) => {
        const bar = bars.copy(doubles, at)
        for (let index = 0; index < states.length; index++) (states[index] as IndicatorState<unknown>).add(bar)
      },
    }
    this.#passer.pass(token, cursor, 0, own, Number.NEGATIVE_INFINITY, until)
  }
}
