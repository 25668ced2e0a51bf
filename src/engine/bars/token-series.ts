import type { Millis } from '../../base/units.ts'
import type { Bar } from '../../market/bar.ts'
import type { TokenId } from '../../market/block.ts'
import type { Indicator, IndicatorState } from '../indicators/indicator.ts'
import { BarCursor, type CursorOptions } from './bar-cursor.ts'

/** Number of silent bars in a row that count for an indicator. More would hardly change it, but take time. */
const MOST_SILENT = 1_000

/** Bars of one width as one bot sees them, and the bot's indicators over them. */
export interface SeriesOptions extends Omit<CursorOptions, 'mostSilent'> {
  readonly keep: number
  readonly indicators: readonly Indicator<unknown>[]
}

export const NO_BARS: readonly Bar[] = Object.freeze([])

/** The bars of one width and one token as one bot sees them. Lists and indicators are made when they are first read,
 *  because most tokens are never read. An indicator that is read late has the value that it would have if it had been
 *  read with each bar. */
export class TokenSeries {
  readonly #options: SeriesOptions
  readonly #token: TokenId
  #list: readonly Bar[] = NO_BARS
  #listed: BarCursor | undefined
  #states: readonly IndicatorState<unknown>[] | undefined
  #counted: BarCursor | undefined

  constructor(options: SeriesOptions, token: TokenId) {
    this.#options = options
    this.#token = token
  }

  /** The last closed bars, oldest first. The list is made once for all calls between two bars. */
  get list(): readonly Bar[] {
    this.#listed ??= this.#newCursor(Number.POSITIVE_INFINITY)
    if (this.#listed.isAtEnd) return this.#list
    const { keep, bars } = this.#options
    const list = this.#list.slice()
    this.#listed.advance((bar) => list.push(bar), bars.closedTo - keep * bars.width.everyMs)
    this.#list = Object.freeze(list.slice(-keep))
    return this.#list
  }

  /** Current value of an indicator, by its place among the indicators of this width. */
  valueOf(index: number): unknown {
    this.count()
    return this.#states?.[index]?.value
  }

  /** Adds the bars since the last call to the indicators. `until`: see `BarCursor.advance`. */
  count(until?: Millis): void {
    this.#counted ??= this.#newCursor(MOST_SILENT)
    if (this.#counted.isAtEnd) return
    this.#states ??= this.#options.indicators.map((indicator) => indicator.create())
    const states = this.#states
    const add = (bar: Bar): void => {
      for (let index = 0; index < states.length; index++) (states[index] as IndicatorState<unknown>).add(bar)
    }
    this.#counted.advance(add, Number.NEGATIVE_INFINITY, until)
  }

  /** Adds the bars that are about to be dropped to the indicators. The interval that ends now does not count as silent:
   *  its bar, which is not there yet, is the reason for the drop. */
  countBeforeDrop(): void {
    this.count(Number.NEGATIVE_INFINITY)
  }

  #newCursor(mostSilent: number): BarCursor {
    return new BarCursor({ ...this.#options, mostSilent }, this.#token)
  }
}
