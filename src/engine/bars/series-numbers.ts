import type { Width } from '../../market/bar-width.ts'
import type { NumberReader, NumberSource } from '../conditions/condition-numbers.ts'
import type { BarFigure } from '../indicators/indicator.ts'
import { NumberIndicator } from '../indicators/number-indicator.ts'
import type { BotSeries, IndicatorPlace } from './bot-series.ts'
import type { SharedIndicators } from './shared-indicators.ts'

/** The numbers that the conditions of a bot read. */
export class SeriesNumbers implements NumberSource {
  /** The shared indicators that the conditions read. The caller must call `count` of each of them before a test. */
  readonly counted = new Set<SharedIndicators>()
  readonly #series: readonly BotSeries[]
  readonly #places: ReadonlyMap<string, IndicatorPlace>

  /** `places`: the indicators of the bot, by name. */
  constructor(series: readonly BotSeries[], places: ReadonlyMap<string, IndicatorPlace>) {
    this.#series = series
    this.#places = places
  }

  indicator(name: string, field: string): NumberReader {
    const { series, index, indicator } = this.#places.get(name) as IndicatorPlace
    if (!(indicator instanceof NumberIndicator))
      return {
        key: `own ${name}.${field}`,
        load: (token, to, at) => {
          to[at] = numberIn(series.valueOf(index, token), name, field)
        },
      }
    const { shared } = series
    this.counted.add(shared)
    const number = Math.max(0, indicator.fields.indexOf(field))
    return {
      key: `${shared.name} ${indicator.name}.${field}`,
      load: (token, to, at) => shared.load(index, number, token, to, at),
      ...(field === '' && { estimated: { by: shared, index } }),
    }
  }

  figure(width: Width, figure: BarFigure): NumberReader {
    const series = this.#series.find(({ bars }) => bars.width.name === width) as BotSeries
    return { key: `${series.shared.name} ${figure}`, load: series.figureLoader(figure) }
  }
}

/** Returns the number in `value`, the value of an indicator that the strategy defines itself; NaN if there is no value
 *  yet. */
function numberIn(value: unknown, name: string, field: string): number {
  if (value === undefined) return Number.NaN
  const number = field === '' ? value : (value as Record<string, unknown>)[field]
  if (typeof number === 'number') return number
  throw new TypeError(`when: the indicator ${name} has no number${field === '' ? '' : ` '${field}'`}`)
}
