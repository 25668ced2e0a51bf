import type { Bar } from '../../market/bar.ts'
import type { Width } from '../../market/bar-width.ts'
import { type BarFigure, figureOf, type Indicator, type IndicatorState, readBars } from './indicator.ts'
import { LastValues } from './last-values.ts'

/** Simple moving average of the last `bars` bars (a number of 1 to 10,000). `of`: the figure of the bar; default
 *  `close`. Throws RangeError for another number. */
export function sma(width: Width, bars: number, of: BarFigure = 'close'): Indicator<number> {
  readBars(bars, 'sma')
  return { width, create: () => new WindowState(bars, of, ({ mean }) => mean) }
}

/** Average of the last `bars` bars (a number of 1 to 10,000), with weights that rise linearly to the newest bar. Throws
 *  RangeError for another number. */
export function wma(width: Width, bars: number, of: BarFigure = 'close'): Indicator<number> {
  readBars(bars, 'wma')
  return { width, create: () => new WindowState(bars, of, ({ weightedMean }) => weightedMean) }
}

/** Highest high of the last `bars` bars (a number of 1 to 10,000). Throws RangeError for another number. */
export function highest(width: Width, bars: number, of: BarFigure = 'high'): Indicator<number> {
  readBars(bars, 'highest')
  return { width, create: () => new WindowState(bars, of, (values) => values.highest) }
}

/** Lowest low of the last `bars` bars (a number of 1 to 10,000). Throws RangeError for another number. */
export function lowest(width: Width, bars: number, of: BarFigure = 'low'): Indicator<number> {
  readBars(bars, 'lowest')
  return { width, create: () => new WindowState(bars, of, (values) => values.lowest) }
}

/** Bollinger bands, in the unit of the figure: `lower`, `middle` and `upper`. For prices: SOL a token. */
export interface Bands {
  readonly lower: number
  readonly middle: number
  readonly upper: number
}

/** Bollinger bands: the average of the last `bars` bars (a number of 1 to 10,000), and `deviations` standard deviations
 *  (above 0) on both sides of it. Throws RangeError for other numbers. */
export function bollinger(width: Width, bars: number, deviations = 2, of: BarFigure = 'close'): Indicator<Bands> {
  readBars(bars, 'bollinger')
  if (!(deviations > 0)) throw new RangeError(`bollinger: expected deviations above 0, got ${String(deviations)}`)
  const read = ({ mean: middle, deviation }: LastValues): Bands => {
    const half = deviation * deviations
    return Object.freeze({ lower: middle - half, middle, upper: middle + half })
  }
  return { width, create: () => new WindowState(bars, of, read) }
}

/** A function of the last values. It is computed when it is read, and then kept until the next bar. */
class WindowState<V> implements IndicatorState<V> {
  readonly #values: LastValues
  readonly #of: BarFigure
  readonly #read: (values: LastValues) => V
  #value: V | undefined

  constructor(bars: number, of: BarFigure, read: (values: LastValues) => V) {
    this.#values = new LastValues(bars)
    this.#of = of
    this.#read = read
  }

  add(bar: Bar): void {
    this.#values.add(figureOf(bar, this.#of))
    this.#value = undefined
  }

  get value(): V | undefined {
    if (this.#value === undefined && this.#values.isFull) this.#value = this.#read(this.#values)
    return this.#value
  }
}

/** Exponential moving average with the factor 2 / (`bars` + 1); `bars` is a number of 1 to 10,000. It begins with the
 *  first bar, and has a value once there were `bars` bars. Throws RangeError for another number. */
export function ema(width: Width, bars: number, of: BarFigure = 'close'): Indicator<number> {
  readBars(bars, 'ema')
  return { width, create: () => new EmaState(bars, of) }
}

class EmaState implements IndicatorState<number> {
  readonly #average: ExponentialAverage
  readonly #of: BarFigure

  constructor(bars: number, of: BarFigure) {
    this.#average = new ExponentialAverage(bars)
    this.#of = of
  }

  add(bar: Bar): void {
    this.#average.add(figureOf(bar, this.#of))
  }

  get value(): number | undefined {
    return this.#average.value
  }
}

/** Exponential moving average of numbers. */
export class ExponentialAverage {
  readonly #needed: number
  readonly #factor: number
  #count = 0
  /** Average so far, also before there were enough numbers. */
  early = Number.NaN

  constructor(needed: number) {
    this.#needed = needed
    this.#factor = 2 / (needed + 1)
  }

  add(value: number): void {
    this.early = this.#count === 0 ? value : value * this.#factor + this.early * (1 - this.#factor)
    this.#count++
  }

  get value(): number | undefined {
    return this.#count >= this.#needed ? this.early : undefined
  }
}

/** Average by Wilder: the mean of the first numbers, then moved by 1 / `needed` of the distance to each number. */
export class WilderAverage {
  readonly #needed: number
  #count = 0
  #average = 0

  constructor(needed: number) {
    this.#needed = needed
  }

  add(value: number): void {
    this.#count++
    if (this.#count > this.#needed) this.#average += (value - this.#average) / this.#needed
    else {
      this.#average += value
      if (this.#count === this.#needed) this.#average /= this.#needed
    }
  }

  get value(): number | undefined {
    return this.#count >= this.#needed ? this.#average : undefined
  }
}

/** Average price of the last `bars` bars (a number of 1 to 10,000), weighted by volume, SOL a token. The price of a bar
 *  is the mean of its high, its low and its close. undefined while all these bars are without volume. Throws RangeError
 *  for another number. */
export function vwap(width: Width, bars: number): Indicator<number> {
  readBars(bars, 'vwap')
  return { width, create: () => new VwapState(bars) }
}

class VwapState implements IndicatorState<number> {
  readonly #turnovers: LastValues
  readonly #volumes: LastValues

  constructor(bars: number) {
    this.#turnovers = new LastValues(bars)
    this.#volumes = new LastValues(bars)
  }

  add({ high, low, close, volumeSol }: Bar): void {
    this.#turnovers.add(((high + low + close) / 3) * volumeSol)
    this.#volumes.add(volumeSol)
  }

  get value(): number | undefined {
    if (!this.#volumes.isFull) return undefined
    const volume = this.#volumes.sum
    return volume > 0 ? this.#turnovers.sum / volume : undefined
  }
}
