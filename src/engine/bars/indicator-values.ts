import type { TokenSeries } from './token-series.ts'

/** Place of an indicator: its name, the place of its series among those of the bot, and its place among the indicators
 *  of that series. */
export interface IndicatorPlace {
  readonly name: string
  readonly series: number
  readonly place: number
}

/** The series of a token. */
interface SeriesOwner {
  readonly series: readonly TokenSeries[]
}

export type ValuesClass = new (owner: SeriesOwner | undefined) => object

/** Returns a class whose objects have the values of these indicators as properties. The properties stand in the
 *  prototype, so that an object takes little memory; each read returns the current value. */
export function valuesClass(indicators: readonly IndicatorPlace[]): ValuesClass {
  class Values {
    readonly #owner: SeriesOwner | undefined

    constructor(owner: SeriesOwner | undefined) {
      this.#owner = owner
      Object.preventExtensions(this)
    }

    static read(values: Values, { series, place }: IndicatorPlace): unknown {
      return values.#owner?.series[series]?.valueOf(place)
    }
  }
  const { read } = Values
  const toJSON = function (this: Values): object {
    return Object.fromEntries(indicators.map((one) => [one.name, read(this, one)]))
  }
  Object.defineProperty(Values.prototype, 'toJSON', { value: toJSON, configurable: true })
  for (const one of indicators)
    Object.defineProperty(Values.prototype, one.name, {
      get(this: Values): unknown {
        return read(this, one)
      },
      enumerable: true,
      configurable: true,
    })
  Object.freeze(Values.prototype)
  return Values
}
