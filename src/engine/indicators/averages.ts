import { CLOSE, HIGH, LOW, VOLUME } from '../../market/bar.ts'
import type { Width } from '../../market/bar-width.ts'
import { type BarFigure, figureAt, type Indicator, readBars, readFigure } from './indicator.ts'
import type { AddedBars } from './indicator-memory.ts'
import { NumberIndicator } from './number-indicator.ts'
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

/** Offsets of the numbers in the state of a mean. MEAN: the exact mean; NaN if it was not computed since the last bar.
 *  SUM: an approximate sum of the window; each bar adds its value and subtracts the oldest value. LARGEST: the largest
 *  value of SUM since SUM was last replaced by an exact sum. HEAD: the sum of the values since the number of bars was
 *  last a multiple of the length. RING: the offset of the shared ring of values. */
const MEAN = 0
const SUM = 1
const LARGEST = 2
const HEAD = 3
const RING = 4
const MEAN_NUMBERS = 5

/** Largest relative error of one addition of doubles. */
const ROUNDING = 2 ** -53

/** The mean of the last values, which are never negative. `valueOf` returns the exact mean. It first adds the values of
 *  the bars since the last multiple of the length, and then those of the bars before; each part begins with its oldest
 *  bar. `estimate` divides a running sum instead, which is exact enough for most comparisons.
 *
 *  The rounding errors of the exact sum and of the running sum differ. The running sum is replaced by the exact sum
 *  whenever the number of bars is a multiple of the length. For each value of the window, at most 4 additions are
 *  rounded differently: 2 that keep the running sum up to date, 1 in the exact sum that replaced it, and 1 in the exact
 *  mean. Each addition has an error of at most `ROUNDING` times the largest sum. `estimate` reports 4 times the total
 *  of these errors, to be safe. */
class Mean extends NumberIndicator<number> {
  readonly #bars: number
  readonly #figure: number

  constructor({ width, name, bars, figure }: WindowOptions) {
    super(width, `${name} ${bars} ${figure}`, MEAN_NUMBERS, [], { figure, length: bars, offsetAt: RING })
    this.#bars = bars
    this.#figure = figure
  }

  add(memory: Float64Array, at: number, size: number, count: number, bars: Float64Array, from: number): void {
    const length = this.#bars
    const index = count % length
    const sum = memory[at + SUM] as number
    const ring = memory[at + RING] as number
    const oldest = count < length ? 0 : (memory[ring + ((count - length) & (size - 1))] as number)
    const newest = figureAt(bars, from, this.#figure)
    memory[at + MEAN] = Number.NaN
    const head = index === 0 ? newest : (memory[at + HEAD] as number) + newest
    memory[at + HEAD] = head
    if (index === length - 1) memory[at + SUM] = memory[at + LARGEST] = head
    else {
      const larger = sum + newest
      memory[at + SUM] = larger - oldest
      if (larger > (memory[at + LARGEST] as number)) memory[at + LARGEST] = larger
    }
  }

  addAll(memory: Float64Array, offset: number, size: number, added: AddedBars): void {
    const { states, counts, bars, froms } = added
    for (let bar = 0; bar < added.length; bar++)
      this.add(memory, offset + (states[bar] as number), size, counts[bar] as number, bars, froms[bar] as number)
  }

  valueOf(memory: Float64Array, at: number, size: number, count: number): number | undefined {
    const bars = this.#bars
    if (count < bars) return undefined
    if (Number.isNaN(memory[at + MEAN])) {
      const ring = memory[at + RING] as number
      const head = ((count - 1) % bars) + 1
      let sum = memory[at + HEAD] as number
      for (let bar = count - bars; bar < count - head; bar++) sum += memory[ring + (bar & (size - 1))] as number
      memory[at + MEAN] = sum / bars
    }
    return memory[at + MEAN]
  }

  override estimate(
    memory: Float64Array,
    at: number,
    _room: number,
    count: number,
    to: Float64Array,
    place: number,
  ): void {
    to[place] = count < this.#bars ? Number.NaN : (memory[at + SUM] as number) / this.#bars
    to[place + 1] = 16 * ROUNDING * (memory[at + LARGEST] as number)
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
