import type { Width } from '../../market/bar-width.ts'
import type { NumberReader, NumberSource } from '../conditions/test-code.ts'
import type { BarFigure, Indicator } from '../indicators/indicator.ts'
import { NumberIndicator } from '../indicators/number-indicator.ts'
import type { BotSeries } from './bot-series.ts'

/** The numbers that the conditions of a bot read. */
export class SeriesNumbers implements NumberSource {
  /** The series whose indicators the conditions read, if the state of these indicators is stored as numbers. The caller
   *  must call `count` of each of these series before a read. */
  readonly counted = new Set<BotSeries>()
  readonly #series: readonly BotSeries[]
  readonly #indicators: ReadonlyMap<string, Indicator<unknown>>

  constructor(series: readonly BotSeries[], indicators: ReadonlyMap<string, Indicator<unknown>>) {
    this.#series = series
    this.#indicators = indicators
  }

  indicator(name: string, field: string): NumberReader {
    const indicator = this.#indicators.get(name) as Indicator<unknown>
    const series = this.#of(indicator.width)
    const place = series.placeOf(indicator)
    if (!(indicator instanceof NumberIndicator))
      return {
        load: (token, to, at) => {
          to[at] = numberIn(series.valueOf(place, token), name, field)
        },
      }
    this.counted.add(series)
    const number = Math.max(0, indicator.fields.indexOf(field))
    return {
      load: (token, to, at) => series.loadNumber(place, number, token, to, at),
      estimate: indicator.isEstimated ? (token, to, at) => series.loadEstimate(place, token, to, at) : undefined,
    }
  }

  figure(width: Width, figure: BarFigure): NumberReader {
    return { load: this.#of(width).figureLoader(figure) }
  }

  #of(width: Width): BotSeries {
    return this.#series.find(({ bars }) => bars.width.name === width) as BotSeries
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
