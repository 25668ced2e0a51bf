import type { Bar } from '../../market/bar.ts'
import type { Bars } from '../../market/bars.ts'
import type { TokenId } from '../../market/block.ts'
import { type ByToken, setByToken } from '../../market/mints.ts'
import { BotConditions } from '../conditions/bot-conditions.ts'
import type { SeriesPlan } from './bar-plan.ts'
import { BotSeries } from './bot-series.ts'
import { forgetValues, type ValueSource, type Values, type ValuesClass, valuesClass } from './indicator-values.ts'
import { SeriesNumbers } from './series-numbers.ts'
import type { BarListener, BarReader, TokenBars } from './token-bars.ts'

/** The part of a bot that its bars call. */
export interface BarHost {
  /** Whether the strategy has `onBar` or `exitsFor`. `closed` calls these handlers even if no condition is true. */
  readonly hasBarHandler: boolean
  /** Called when a bar of a token has closed, with the names of the conditions that are true. */
  closed(bars: Bars, token: TokenId, conditions: readonly string[]): void
  /** Runs code of the strategy. If the code throws, the strategy ends. */
  guard(run: () => unknown): void
}

const NONE: readonly string[] = Object.freeze([])

/** The bars, indicators and conditions of one bot. */
export class BotBars implements BarReader, ValueSource {
  readonly #all: TokenBars
  readonly #host: BarHost
  /** The series, in the order in which the strategy declares its bars. */
  readonly #series: readonly BotSeries[]
  /** For each indicator: its series, and the index of the indicator in that series. */
  readonly #places: readonly { readonly series: BotSeries; readonly index: number }[]
  readonly #Values: ValuesClass
  readonly #values: ByToken<Values> = []
  /** The object of indicator values that all tokens without bars share; each value is undefined. */
  readonly #none: Values
  /** One listener for each width. It tests the conditions and calls the strategy when a bar of the width closes. */
  readonly #listeners: readonly SeriesListener[]

  constructor({ bars, indicators, conditions }: SeriesPlan, all: TokenBars, host: BarHost) {
    this.#all = all
    this.#host = host
    this.#series = bars.map(
      ({ width, keep, isFilled }) =>
        new BotSeries({
          ...{ bars: all.declare(width, keep, this), gaps: all.gaps, keep },
          isFilled: isFilled && width.everyMs < Number.POSITIVE_INFINITY,
          indicators: [...indicators.values()].filter((indicator) => indicator.width === width.name),
          isEager: conditions.length > 0,
        }),
    )
    this.#places = [...indicators.values()].map((indicator) => {
      const series = this.#series.find((one) => one.bars.width.name === indicator.width) as BotSeries
      return { series, index: series.placeOf(indicator) }
    })
    this.#Values = valuesClass([...indicators.keys()])
    this.#none = new this.#Values(this, -1)
    const runsOwnCode = this.#series.some((series) => series.hasOwnCode)
    this.#listeners = this.#series.map(({ bars: own }) => {
      const numbers = new SeriesNumbers(this.#series, indicators)
      const plans = conditions.filter(({ width }) => width === own.width.name)
      const tested = plans.length > 0 ? new BotConditions(plans, numbers) : undefined
      // When the conditions of a width are tested, the indicators of this width have already counted the newest bar.
      // The indicators of other widths must count their bars first.
      const counted = [...numbers.counted].filter(({ bars }) => bars !== own)
      return new SeriesListener({ bars: own, host, conditions: tested, counted, runsOwnCode })
    })
  }

  listenerOf(bars: Bars): BarListener | undefined {
    const listener = this.#listeners.find((one) => one.bars === bars)
    return this.#host.hasBarHandler || listener?.hasConditions === true ? listener : undefined
  }

  /** Closed bars of a token, oldest first. Throws TypeError for a width that the strategy does not declare. */
  list(token: TokenId, width: unknown): readonly Bar[] {
    for (let index = 0; index < this.#series.length; index++) {
      const series = this.#series[index] as BotSeries
      if (series.bars.width.name === width) return series.listOf(token)
    }
    const declared = this.#series.map(({ bars }) => `'${bars.width.name}'`).join(', ')
    throw new TypeError(`the strategy declares no '${String(width).slice(0, 60)}' bars; it declares ${declared}`)
  }

  /** Returns an object whose properties are the current values of a token's indicators. */
  values(token: TokenId): object {
    return this.#values[token] ?? this.#newValues(token)
  }

  valueOf(index: number, token: TokenId): unknown {
    const place = this.#places[index]
    return place?.series.valueOf(place.index, token)
  }

  /** The values of a token without bars are not kept, because the token's number may later be given to another
   *  token. */
  #newValues(token: TokenId): object {
    if (token < 0 || !this.#all.holds(token)) return this.#none
    const values = new this.#Values(this, token)
    setByToken(this.#values, token, values)
    return values
  }

  mayLack(bars: Bars): boolean {
    return this.#series.some((series) => series.bars === bars && series.mayLack)
  }

  dropping(bars: Bars, token: TokenId): void {
    for (let index = 0; index < this.#series.length; index++) {
      const series = this.#series[index] as BotSeries
      if (series.bars === bars && series.lacks(token)) this.#host.guard(() => series.countBeforeDrop(token))
    }
  }

  /** Stops using bars, because the strategy has ended. */
  release(): void {
    this.#all.release(this)
    for (const series of this.#series) series.release()
    for (const listener of this.#listeners) listener.release()
    this.#values.length = 0
  }

  forget(token: TokenId): void {
    const values = this.#values[token]
    if (values !== undefined) {
      forgetValues(values)
      this.#values[token] = undefined
    }
    for (const series of this.#series) series.forget(token)
    for (const listener of this.#listeners) listener.forget(token)
  }
}

interface ListenerParts {
  readonly bars: Bars
  readonly host: BarHost
  readonly conditions: BotConditions | undefined
  /** The bot's bars of widths other than that of `bars`, if the conditions read indicators over them. Before a
   *  condition is tested, these indicators must be updated with all closed bars. */
  readonly counted: readonly BotSeries[]
  /** Whether testing a condition may run code of the strategy, because the strategy defines an indicator itself. */
  readonly runsOwnCode: boolean
}

/** Passes the bars of one width to a bot, with the names of the conditions that are true. */
class SeriesListener implements BarListener {
  readonly bars: Bars
  readonly #host: BarHost
  readonly #counted: readonly BotSeries[]
  readonly #runsOwnCode: boolean
  #conditions: BotConditions | undefined
  /** Whether `test` has run for the bars that are now shown to the bot. `#held` then contains, for each token, the
   *  names of the conditions that are true. */
  #isTested = false
  readonly #held = new Map<TokenId, readonly string[]>()

  constructor({ bars, host, conditions, counted, runsOwnCode }: ListenerParts) {
    this.bars = bars
    this.#host = host
    this.#conditions = conditions
    this.#counted = counted
    this.#runsOwnCode = runsOwnCode
  }

  get hasConditions(): boolean {
    return this.#conditions !== undefined
  }

  test(tokens: Uint32Array): void {
    if (this.#conditions === undefined || this.#runsOwnCode) return
    for (let index = 0; index < tokens.length; index++) {
      const held = this.#heldBy(this.#conditions, tokens[index] as TokenId)
      if (held.length > 0) this.#held.set(tokens[index] as TokenId, held)
    }
    this.#isTested = true
  }

  get isDue(): boolean {
    return !this.#isTested || this.#held.size > 0 || this.#host.hasBarHandler
  }

  shown(): void {
    this.#isTested = false
    this.#held.clear()
  }

  closed(token: TokenId): void {
    const conditions = this.#conditions
    if (conditions === undefined) this.#host.closed(this.bars, token, NONE)
    else if (this.#isTested) this.#host.closed(this.bars, token, this.#held.get(token) ?? NONE)
    else if (!this.#runsOwnCode) this.#host.closed(this.bars, token, this.#heldBy(conditions, token))
    else {
      let held = NONE
      this.#host.guard(() => {
        held = this.#heldBy(conditions, token)
      })
      this.#host.closed(this.bars, token, held)
    }
  }

  release(): void {
    this.#conditions = undefined
  }

  forget(token: TokenId): void {
    this.#conditions?.forget(token)
  }

  #heldBy(conditions: BotConditions, token: TokenId): readonly string[] {
    const counted = this.#counted
    for (let index = 0; index < counted.length; index++) (counted[index] as BotSeries).count(token)
    return conditions.heldBy(token)
  }
}
