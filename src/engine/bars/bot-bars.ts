import type { Bar } from '../../market/bar.ts'
import type { Bars } from '../../market/bars.ts'
import type { TokenId } from '../../market/block.ts'
import { type ByToken, setByToken } from '../../market/mints.ts'
import type { ConditionPlan } from '../conditions/condition-plan.ts'
import { ConditionTests } from '../conditions/condition-tests.ts'
import { NumberIndicator } from '../indicators/number-indicator.ts'
import type { BarAudience, BarListener, BarReader } from './bar-audience.ts'
import type { SeriesPlan } from './bar-plan.ts'
import { BotSeries, type IndicatorPlace } from './bot-series.ts'
import { forgetValues, type ValueSource, type Values, type ValuesClass, valuesClass } from './indicator-values.ts'
import { SeriesNumbers } from './series-numbers.ts'
import type { SharedIndicators } from './shared-indicators.ts'
import type { TokenBars } from './token-bars.ts'

/** The part of a bot that its bars call. */
export interface BarHost {
  /** Whether the strategy has `onBar` or `exitsFor`. `closed` calls these handlers even if no condition is true. */
  readonly hasBarHandler: boolean
  /** Called when a bar of a token has closed, with the names of the conditions that are true. */
  closed(bars: Bars, token: TokenId, conditions: readonly string[]): void
  /** Runs code of the strategy. If the code throws, the strategy ends. */
  guard(run: () => unknown): void
}

/** The bars, indicators and conditions of one bot. */
export class BotBars implements BarReader, ValueSource {
  readonly #all: TokenBars
  readonly #host: BarHost
  /** The series, in the order in which the strategy declares its bars. */
  readonly #series: readonly BotSeries[]
  readonly #places: readonly IndicatorPlace[]
  readonly #Values: ValuesClass
  readonly #values: ByToken<Values> = []
  /** The object of indicator values that all tokens without bars share; each value is undefined. */
  readonly #none: Values
  /** One listener for each width. */
  readonly #listeners: readonly SeriesListener[]

  constructor({ bars, indicators, conditions }: SeriesPlan, all: TokenBars, host: BarHost) {
    this.#all = all
    this.#host = host
    const audiences = bars.map(({ width, keep }) => all.declare(width, keep, this))
    this.#series = bars.map(({ width, keep, isFilled }, index) => {
      const isTimed = width.everyMs < Number.POSITIVE_INFINITY
      const own = [...indicators.values()].filter(
        (one) => one.width === width.name && !(one instanceof NumberIndicator),
      )
      return new BotSeries({
        shared: all.indicatorsOf(audiences[index] as BarAudience, isFilled && isTimed),
        keep,
        own,
      })
    })
    const places = new Map<string, IndicatorPlace>()
    for (const [name, indicator] of indicators) {
      const series = this.#series.find((one) => one.bars.width.name === indicator.width) as BotSeries
      places.set(name, series.placeOf(indicator, this, conditions.length > 0))
    }
    this.#places = [...places.values()]
    this.#Values = valuesClass([...indicators.keys()])
    this.#none = new this.#Values(this, -1)
    const runsOwnCode = this.#series.some((series) => series.hasOwnCode)
    this.#listeners = audiences.map((audience) => {
      const plans = conditions.filter(({ width }) => width === audience.bars.width.name)
      const numbers = new SeriesNumbers(this.#series, places)
      const own = plans.length > 0 && runsOwnCode ? new OwnConditions(plans, numbers) : undefined
      const listener = new SeriesListener(audience.bars, host, own)
      audience.addListener(listener, own === undefined ? plans : [], numbers)
      return listener
    })
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
    const { indicator, series, index: place } = this.#places[index] as IndicatorPlace
    return indicator instanceof NumberIndicator ? series.shared.valueOf(place, token) : series.valueOf(place, token)
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
    return this.#series.some((series) => series.bars === bars && series.hasOwnCode)
  }

  dropping(bars: Bars, token: TokenId): void {
    for (const series of this.#series)
      if (series.bars === bars && series.hasOwnCode) this.#host.guard(() => series.countBeforeDrop(token))
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

/** Passes the bars of one width to a bot, with the names of the conditions that are true. */
class SeriesListener implements BarListener {
  readonly bars: Bars
  readonly #host: BarHost
  /** The conditions, if the strategy defines an indicator itself. They are tested apart from those of other bots,
   *  because a test may run code of the strategy. */
  #own: OwnConditions | undefined
  hasEnded = false

  constructor(bars: Bars, host: BarHost, own: OwnConditions | undefined) {
    this.bars = bars
    this.#host = host
    this.#own = own
  }

  get hearsAll(): boolean {
    return this.#own !== undefined || this.#host.hasBarHandler
  }

  closed(token: TokenId, conditions: readonly string[]): void {
    const own = this.#own
    if (own === undefined) this.#host.closed(this.bars, token, conditions)
    else {
      let held = conditions
      this.#host.guard(() => {
        held = own.heldBy(token)
      })
      this.#host.closed(this.bars, token, held)
    }
  }

  release(): void {
    this.hasEnded = true
    this.#own = undefined
  }

  forget(token: TokenId): void {
    this.#own?.forget(token)
  }
}

/** The conditions of one bot whose strategy defines an indicator itself. */
class OwnConditions {
  readonly #tests = new ConditionTests<undefined>()
  /** Shared indicators that the conditions read. */
  readonly #counted: ReadonlySet<SharedIndicators>

  constructor(plans: readonly ConditionPlan[], numbers: SeriesNumbers) {
    for (const plan of plans) this.#tests.add(undefined, plan, numbers)
    this.#counted = numbers.counted
  }

  heldBy(token: TokenId): readonly string[] {
    for (const shared of this.#counted) shared.count(token)
    return Array.from({ length: this.#tests.test(token) }, (_, index) => this.#tests.nameOf(index)[0])
  }

  forget(token: TokenId): void {
    this.#tests.forget(token)
  }
}
