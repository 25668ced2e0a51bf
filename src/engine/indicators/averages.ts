import { CLOSE, HIGH, LOW, VOLUME } from '../../market/bar.ts'
import type { Width } from '../../market/bar-width.ts'
import { type BarFigure, figureAt, type Indicator, readBars, readFigure } from './indicator.ts'
import type { AddedBars } from './indicator-memory.ts'
import { NumberIndicator } from './number-indicator.ts'
import { valueInRing } from './value-ring.ts'
import { deviationOf, highestOf, lowestOf, meanOf, sumOf, weightedMeanOf } from './window.ts'

/** Simple moving average of a figure over the last `bars` bars. `bars`: 1 to 10,000. `of`: the figure; default `close`.
 *  Throws RangeError for any other number of bars or figure. */
export function sma(width: Width, bars: number, of: BarFigure = 'close'): Indicator<number> {
  return new Mean({ width, name: 'sma', bars: readBars(bars, 'sma'), figure: readFigure(of, 'sma') })
}

/** Weighted moving average of a figure over the last `bars` bars; the weights rise linearly from the oldest bar to the
 *  newest. `bars`: 1 to 10,000. `of`: the figure; default `close`. Throws RangeError for any other number of bars or
 *  figure. */
export function wma(width: Width, bars: number, of: BarFigure = 'close'): Indicator<number> {
  const options = { width, name: 'wma', bars: readBars(bars, 'wma'), figure: readFigure(of, 'wma') }
  return new WindowFunction(options, weightedMeanOf)
}

/** Highest value of a bar's figure (such as the close) in the last `bars` bars. `bars`: 1 to 10,000. `of`: the figure;
 *  default `high`. Throws RangeError for any other number of bars or figure. */
export function highest(width: Width, bars: number, of: BarFigure = 'high'): Indicator<number> {
  const options = { width, name: 'highest', bars: readBars(bars, 'highest'), figure: readFigure(of, 'highest') }
  return new WindowFunction(options, highestOf)
}

/** Lowest value of a bar's figure (such as the close) in the last `bars` bars. `bars`: 1 to 10,000. `of`: the figure;
 *  default `low`. Throws RangeError for any other number of bars or figure. */
export function lowest(width: Width, bars: number, of: BarFigure = 'low'): Indicator<number> {
  const options = { width, name: 'lowest', bars: readBars(bars, 'lowest'), figure: readFigure(of, 'lowest') }
  return new WindowFunction(options, lowestOf)
}

/** Options of an indicator over the last bars: the width of the bars, the name of the function that creates the
 *  indicator, the number of bars, and the figure of a bar that the indicator reads, such as the close. */
interface WindowOptions {
  readonly width: Width
  readonly name: string
  readonly bars: number
  readonly figure: number
}

/** An indicator over the last values of one figure. The state of a token consists of `numbers` numbers, followed by the
 *  window of values. The first number is 1 if the other numbers have been computed since the last bar, and 0
 *  otherwise. */
abstract class WindowIndicator<V> extends NumberIndicator<V> {
  protected readonly bars: number
  protected readonly figure: number

  constructor({ width, name, bars, figure }: WindowOptions, numbers: number) {
    super(width, `${name} ${bars} ${figure}`, numbers, [bars])
    this.bars = bars
    this.figure = figure
  }

  add(memory: Float64Array, at: number, _room: number, count: number, bars: Float64Array, from: number): void {
    memory[at + this.numbers + (count % this.bars)] = figureAt(bars, from, this.figure)
    memory[at] = 0
  }

  addAll(memory: Float64Array, offset: number, room: number, added: AddedBars): void {
    const { states, counts, bars, froms } = added
    for (let bar = 0; bar < added.length; bar++)
      this.add(memory, offset + (states[bar] as number), room, counts[bar] as number, bars, froms[bar] as number)
  }
}

/** Computes a number from a window of values. `oldest`: index of the oldest value in the window. */
type OfWindow = (memory: Float64Array, at: number, length: number, oldest: number) => number

/** The result of a function of the window. It is computed when the strategy reads it, and kept until the next bar. */
class WindowFunction extends WindowIndicator<number> {
  readonly #compute: OfWindow

  constructor(options: WindowOptions, compute: OfWindow) {
    super(options, 2)
    this.#compute = compute
  }

  valueOf(memory: Float64Array, at: number, _room: number, count: number): number | undefined {
    const { bars } = this
    if (count < bars) return undefined
    if (memory[at] === 0) {
      memory[at] = 1
      memory[at + 1] = this.#compute(memory, at + 2, bars, count % bars)
    }
    return memory[at + 1]
  }
}

/** Offsets of the numbers in the state of a mean. COUNT: the number of bars after which the other two were computed.
 *  MEAN: the mean. HEAD: the sum of the values since the number of bars was last a multiple of the length. */
const COUNT = 0
const MEAN = 1
const HEAD = 2
const MEAN_NUMBERS = 3

/** The mean of the last values, which are never negative. All means of a figure read the same ring of values, so a bar
 *  costs no work for each mean. `valueOf` returns the exact mean: it first adds the values of the bars since the last
 *  multiple of the length, and then those of the bars before; each part begins with its oldest bar. The result does not
 *  depend on when it was computed before. */
class Mean extends NumberIndicator<number> {
  readonly #bars: number

  constructor({ width, name, bars, figure }: WindowOptions) {
    super(width, `${name} ${bars} ${figure}`, MEAN_NUMBERS, [], { figure, length: bars })
    this.#bars = bars
  }

  // The ring receives the bars.
  add(): void {}
  addAll(): void {}

  valueOf(memory: Float64Array, at: number, size: number, count: number, ring: number): number | undefined {
    if (count < this.#bars) return undefined
    if (memory[at + COUNT] !== count) this.#compute(memory, at, size, count, ring)
    return memory[at + MEAN]
  }

  /** Computes the mean. Continues the earlier HEAD if it belongs to the same multiple of the length. */
  #compute(memory: Float64Array, at: number, size: number, count: number, ring: number): void {
    const bars = this.#bars
    const known = (memory[at + COUNT] as number) | 0
    const start = count - 1 - ((count - 1) % bars)
    let sum = known > start ? (memory[at + HEAD] as number) : 0
    for (let bar = known > start ? known : start; bar < count; bar++) sum += valueInRing(memory, ring, size, bar)
    memory[at + COUNT] = count
    memory[at + HEAD] = sum
    for (let bar = count - bars; bar < start; bar++) sum += valueInRing(memory, ring, size, bar)
    memory[at + MEAN] = sum / bars
  }
}

/** Bollinger bands, in the unit of the figure: `lower`, `middle` and `upper`. For prices: SOL a token. */
export interface Bands {
  readonly lower: number
  readonly middle: number
  readonly upper: number
}

/** Bollinger bands over the last `bars` bars (1 to 10,000), in the unit of the figure: the average of the figure, and a
 *  band of `deviations` standard deviations (above 0) on each side of it. `of`: the figure; default `close`, SOL a
 *  token. Throws RangeError for other values. */
export function bollinger(width: Width, bars: number, deviations = 2, of: BarFigure = 'close'): Indicator<Bands> {
  const name = `bollinger ${deviations}`
  const options = { width, name, bars: readBars(bars, 'bollinger'), figure: readFigure(of, 'bollinger') }
  if (!(deviations > 0)) throw new RangeError(`bollinger: expected deviations above 0, got ${String(deviations)}`)
  return new BollingerBands(options, deviations)
}

class BollingerBands extends WindowIndicator<Bands> {
  readonly #deviations: number

  constructor(options: WindowOptions, deviations: number) {
    super(options, 3)
    this.#deviations = deviations
  }

  override get fields(): readonly (keyof Bands)[] {
    return ['lower', 'middle', 'upper']
  }

  valueOf(memory: Float64Array, at: number, room: number, count: number): Bands | undefined {
    if (count < this.bars) return undefined
    const numberOf = (field: number): number => this.numberOf(memory, at, room, count, field)
    return { lower: numberOf(0), middle: numberOf(1), upper: numberOf(2) }
  }

  override numberOf(memory: Float64Array, at: number, _room: number, count: number, field: number): number {
    const { bars } = this
    if (count < bars) return Number.NaN
    if (memory[at] === 0) {
      memory[at] = 1
      const mean = meanOf(memory, at + 3, bars)
      memory[at + 1] = mean
      memory[at + 2] = deviationOf(memory, at + 3, bars, mean) * this.#deviations
    }
    const middle = memory[at + 1] as number
    const half = memory[at + 2] as number
    return field === 1 ? middle : field === 0 ? middle - half : middle + half
  }
}

/** Exponential moving average of a figure with the factor 2 / (`bars` + 1). `bars`: 1 to 10,000. `of`: the figure;
 *  default `close`. The average starts at the figure of the first bar. The indicator has a value from bar number `bars`
 *  on. Throws RangeError for any other number of bars or figure. */
export function ema(width: Width, bars: number, of: BarFigure = 'close'): Indicator<number> {
  return new Ema(width, readBars(bars, 'ema'), readFigure(of, 'ema'))
}

class Ema extends NumberIndicator<number> {
  readonly #bars: number
  readonly #figure: number

  constructor(width: Width, bars: number, figure: number) {
    super(width, `ema ${bars} ${figure}`, 1, [])
    this.#bars = bars
    this.#figure = figure
  }

  add(memory: Float64Array, at: number, _room: number, count: number, bars: Float64Array, from: number): void {
    addToExponential(memory, at, count, this.#bars, figureAt(bars, from, this.#figure))
  }

  addAll(memory: Float64Array, offset: number, room: number, added: AddedBars): void {
    const { states, counts, bars, froms } = added
    for (let bar = 0; bar < added.length; bar++)
      this.add(memory, offset + (states[bar] as number), room, counts[bar] as number, bars, froms[bar] as number)
  }

  valueOf(memory: Float64Array, at: number, _room: number, count: number): number | undefined {
    return count < this.#bars ? undefined : memory[at]
  }
}

/** Adds a value to the exponential average that is stored at `at`. `count`: the number of values before this one. The
 *  first value starts the average. */
export function addToExponential(memory: Float64Array, at: number, count: number, bars: number, value: number): void {
  const factor = 2 / (bars + 1)
  memory[at] = count === 0 ? value : value * factor + (memory[at] as number) * (1 - factor)
}

/** Adds a value to the average by Wilder's method that is stored at `at`. `count`: the number of values before this
 *  one. After `bars` values, the average is their mean. Each later value moves the average towards itself by 1 / `bars`
 *  of the distance. */
export function addToWilder(memory: Float64Array, at: number, count: number, bars: number, value: number): void {
  const average = memory[at] as number
  if (count >= bars) memory[at] = average + (value - average) / bars
  else memory[at] = count + 1 === bars ? (average + value) / bars : average + value
}

/** Average price of the last `bars` bars, weighted by volume, SOL a token. `bars`: 1 to 10,000. The price of a bar is
 *  the mean of its high, low and close. undefined if none of the bars has volume. Throws RangeError for any other
 *  number of bars. */
export function vwap(width: Width, bars: number): Indicator<number> {
  return new Vwap(width, readBars(bars, 'vwap'))
}

/** The state has two windows: one of price times volume, and one of volume. */
class Vwap extends NumberIndicator<number> {
  readonly #bars: number

  constructor(width: Width, bars: number) {
    super(width, `vwap ${bars}`, 0, [bars, bars])
    this.#bars = bars
  }

  add(memory: Float64Array, at: number, room: number, count: number, bars: Float64Array, from: number): void {
    const volume = bars[from + VOLUME] as number
    const sum = (bars[from + HIGH] as number) + (bars[from + LOW] as number) + (bars[from + CLOSE] as number)
    const place = at + (count % this.#bars)
    memory[place] = (sum / 3) * volume
    memory[place + Math.min(this.#bars, room)] = volume
  }

  addAll(memory: Float64Array, offset: number, room: number, added: AddedBars): void {
    const { states, counts, bars, froms } = added
    for (let bar = 0; bar < added.length; bar++)
      this.add(memory, offset + (states[bar] as number), room, counts[bar] as number, bars, froms[bar] as number)
  }

  valueOf(memory: Float64Array, at: number, _room: number, count: number): number | undefined {
    const length = this.#bars
    if (count < length) return undefined
    const volume = sumOf(memory, at + length, length)
    return volume > 0 ? sumOf(memory, at, length) / volume : undefined
  }
}
