import type { Millis } from '../../base/units.ts'
import { type Bar, CLOSE, CLOSED, VOLUME } from '../../market/bar.ts'
import type { Bars } from '../../market/bars.ts'
import type { TokenId } from '../../market/block.ts'
import { type ByToken, setByToken } from '../../market/mints.ts'
import type { LoadNumber } from '../conditions/condition-numbers.ts'
import { type BarFigure, figureAt, type Indicator, type IndicatorState, readFigure } from '../indicators/indicator.ts'
import { NumberIndicator } from '../indicators/number-indicator.ts'
import { BarPasser, type BarTaker, CURSOR_DOUBLES } from './bar-cursor.ts'
import { MOST_SILENT, type SharedIndicators } from './shared-indicators.ts'

/** Bars of one width as one bot sees them. `shared`: the indicators over them whose state bots share. `own`: the
 *  indicators over them that the strategy defines itself. */
export interface SeriesOptions {
  readonly shared: SharedIndicators
  readonly keep: number
  readonly own: readonly Indicator<unknown>[]
}

/** Where the values of a bot's indicator are: with this index in `series.shared` or, if the strategy defines the
 *  indicator itself, in `series`. */
export interface IndicatorPlace {
  readonly indicator: Indicator<unknown>
  readonly series: BotSeries
  readonly index: number
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

/** The bars of one width for all tokens, as one bot sees them, and the indicators over them that the strategy defines
 *  itself. Lists and indicators are created when they are first read, because those of most tokens are never read. The
 *  value of an indicator does not depend on how often or how late it is read. */
export class BotSeries {
  readonly shared: SharedIndicators
  readonly #keep: number
  readonly #own: readonly Indicator<unknown>[]
  readonly #lists: ByToken<KeptList> = []
  readonly #listPasser: BarPasser
  readonly #passer: BarPasser
  readonly #ownStates: ByToken<OwnStates> = []

  constructor({ shared, keep, own }: SeriesOptions) {
    this.shared = shared
    this.#keep = keep
    this.#own = own
    this.#listPasser = new BarPasser({ ...shared.source, mostSilent: Number.POSITIVE_INFINITY })
    this.#passer = new BarPasser({ ...shared.source, mostSilent: MOST_SILENT })
  }

  get bars(): Bars {
    return this.shared.source.bars
  }

  /** Whether the strategy itself defines an indicator over these bars. */
  get hasOwnCode(): boolean {
    return this.#own.length > 0
  }

  /** Registers an indicator of a bot. `isEager`: whether a condition may read it. Returns where its values are. */
  placeOf(indicator: Indicator<unknown>, user: object, isEager: boolean): IndicatorPlace {
    const isShared = indicator instanceof NumberIndicator
    const index = isShared ? this.shared.add(user, indicator, isEager) : this.#own.indexOf(indicator)
    return { indicator, series: this, index }
  }

  /** Returns the last closed bars of a token, oldest first. All calls between two bars return the same list. */
  listOf(token: TokenId): readonly Bar[] {
    const { bars } = this
    const keep = this.#keep
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

  /** Returns a function that reads a figure of a token's newest bar, the last bar of `listOf`. Before the first bar,
   *  the function reads NaN. */
  figureLoader(figure: BarFigure): LoadNumber {
    const { bars, isFilled } = this.shared.source
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

  /** Current value of an indicator that the strategy defines itself, by its index in `own`. */
  valueOf(index: number, token: TokenId): unknown {
    this.#countOwn(token)
    return this.#ownStates[token]?.states[index]?.value
  }

  /** Updates the strategy's own indicators with the stored bars of a token before its oldest bars are dropped. Counts
   *  no silent bars after the last stored bar: bars are dropped only when the next bar with prints is stored. */
  countBeforeDrop(token: TokenId): void {
    this.#countOwn(token, Number.NEGATIVE_INFINITY)
  }

  /** Frees the lists and indicators of all tokens. */
  release(): void {
    this.#lists.length = 0
    this.#ownStates.length = 0
  }

  /** Frees the lists and indicators of a token. */
  forget(token: TokenId): void {
    if (token < this.#lists.length) this.#lists[token] = undefined
    if (token < this.#ownStates.length) this.#ownStates[token] = undefined
  }

  #countOwn(token: TokenId, until?: Millis): void {
    const known = this.#ownStates[token]
    const { cursor } = known ?? { cursor: new Float64Array(CURSOR_DOUBLES) }
    if (this.#passer.isAtEnd(token, cursor, 0)) return
    const { states } = known ?? { states: this.#own.map((indicator) => indicator.create()) }
    if (known === undefined) setByToken(this.#ownStates, token, { cursor, states })
    const { bars } = this
    const own: BarTaker = {
      add: (_token, doubles, at) => {
        const bar = bars.copy(doubles, at)
        for (let index = 0; index < states.length; index++) (states[index] as IndicatorState<unknown>).add(bar)
      },
    }
    this.#passer.pass(token, cursor, 0, own, Number.NEGATIVE_INFINITY, until)
  }
}
