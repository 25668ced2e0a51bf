import type { Bar } from '../../market/bar.ts'
import type { Bars } from '../../market/bars.ts'
import type { TokenId } from '../../market/block.ts'
import { type ByToken, setByToken } from '../../market/mints.ts'
import { BotConditions } from '../conditions/bot-conditions.ts'
import type { SeriesPlan } from './bar-plan.ts'
import { BotSeries } from './bot-series.ts'
import { forgetValues, type ValueSource, type Values, type ValuesClass, valuesClass } from './indicator-values.ts'
import { SeriesNumbers } from './series-numbers.ts'
import type { BarReader, TokenBars } from './token-bars.ts'

/** The part of a bot that its bars use. */
export interface BarHost {
  /** Whether the strategy has a handler that `closed` calls for bars at which no condition is true. */
  readonly hasBarHandler: boolean
  /** Called when a bar of a token has closed, with the names of the conditions that are true. */
  closed(bars: Bars, token: TokenId, conditions: readonly string[]): void
  /** Runs code of the strategy. */
  guard(run: () => unknown): void
}

const NONE: readonly string[] = Object.freeze([])

/** The bars, indicators and conditions of one bot. */
export class BotBars implements BarReader, ValueSource {
  readonly #all: TokenBars
  readonly #host: BarHost
  /** In the order of their declaration. */
  readonly #series: readonly BotSeries[]
  /** The series of each indicator, and its place there. */
  readonly #places: readonly { readonly series: BotSeries; readonly index: number }[]
  readonly #Values: ValuesClass
  readonly #values: ByToken<Values> = []
  /** Values for a token without bars. */
  readonly #none: Values
  /** Conditions by the width at whose bars they are tested. */
  readonly #conditions = new Map<Bars, BotConditions>()
  /** Whether a test may run code of the strategy: that of its own indicators. */
  readonly #hasOwnCode: boolean

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
    this.#hasOwnCode = this.#series.some((series) => series.hasOwnCode)
    const source = new SeriesNumbers(this.#series, indicators)
    for (const { bars: own } of this.#series) {
      const plans = conditions.filter(({ width }) => width === own.width.name)
      if (plans.length > 0) this.#conditions.set(own, new BotConditions(plans, source))
    }
  }

  listensTo(bars: Bars): boolean {
    return this.#host.hasBarHandler || this.#conditions.has(bars)
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

  /** Object with the current values of the indicators of a token. */
  values(token: TokenId): object {
    return this.#values[token] ?? this.#newValues(token)
  }

  valueOf(index: number, token: TokenId): unknown {
    const place = this.#places[index]
    return place?.series.valueOf(place.index, token)
  }

  /** The values of a token without bars are not kept, because its number may then be given to another token. */
  #newValues(token: TokenId): object {
    if (token < 0 || !this.#all.holds(token)) return this.#none
    const values = new this.#Values(this, token)
    setByToken(this.#values, token, values)
    return values
  }

  dropping(bars: Bars, token: TokenId): void {
    for (const series of this.#series)
      if (series.bars === bars && series.hasIndicators) this.#host.guard(() => series.countBeforeDrop(token))
  }

  closed(bars: Bars, token: TokenId): void {
    const conditions = this.#conditions.get(bars)
    if (conditions === undefined) this.#host.closed(bars, token, NONE)
    else if (!this.#hasOwnCode) this.#host.closed(bars, token, conditions.heldBy(token))
    else {
      let held = NONE
      this.#host.guard(() => {
        held = conditions.heldBy(token)
      })
      this.#host.closed(bars, token, held)
    }
  }

  /** Ends the use of bars, because the strategy has ended. */
  release(): void {
    this.#all.release(this)
    for (const series of this.#series) series.release()
    this.#conditions.clear()
    this.#values.length = 0
  }

  forget(token: TokenId): void {
    const values = this.#values[token]
    if (values !== undefined) {
      forgetValues(values)
      this.#values[token] = undefined
    }
    for (const series of this.#series) series.forget(token)
    for (const conditions of this.#conditions.values()) conditions.forget(token)
  }
}
