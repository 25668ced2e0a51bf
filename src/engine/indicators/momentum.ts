import type { Bar } from '../../market/bar.ts'
import type { Width } from '../../market/bar-width.ts'
import { ExponentialAverage, WilderAverage } from './averages.ts'
import { type BarFigure, figureOf, type Indicator, type IndicatorState, readBars } from './indicator.ts'
import { LastValues } from './last-values.ts'

/** Relative strength index by Wilder, 0 to 100 percent; 100 if no bar fell. `bars`: number of bars, 2 to 10,000. It
 *  needs one bar more. Throws RangeError for another number. */
export function rsi(width: Width, bars = 14, of: BarFigure = 'close'): Indicator<number> {
  readBars(bars, 'rsi', 2)
  return { width, create: () => new RsiState(bars, of) }
}

class RsiState implements IndicatorState<number> {
  readonly #gains: WilderAverage
  readonly #losses: WilderAverage
  readonly #of: BarFigure
  #last = Number.NaN

  constructor(bars: number, of: BarFigure) {
    this.#gains = new WilderAverage(bars)
    this.#losses = new WilderAverage(bars)
    this.#of = of
  }

  add(bar: Bar): void {
    const price = figureOf(bar, this.#of)
    const change = price - this.#last
    this.#last = price
    if (Number.isNaN(change)) return
    this.#gains.add(Math.max(change, 0))
    this.#losses.add(Math.max(-change, 0))
  }

  get value(): number | undefined {
    const gain = this.#gains.value
    const loss = this.#losses.value
    if (gain === undefined || loss === undefined) return undefined
    return loss === 0 ? 100 : 100 - 100 / (gain / loss + 1)
  }
}

/** Values of `macd`, in the unit of the figure. For prices: SOL a token. `macd`: the fast average minus the slow one.
 *  `signal`: its average. `histogram`: `macd` minus `signal`. */
export interface Macd {
  readonly macd: number
  readonly signal: number
  readonly histogram: number
}

/** Difference of two exponential averages of `fast` and `slow` bars, and its exponential average over `signal` bars
 *  (numbers of 1 to 10,000). It needs `slow` + `signal` - 1 bars. Throws RangeError for other numbers, or if `slow` is
 *  not above `fast`. */
export function macd(width: Width, fast = 12, slow = 26, signal = 9, of: BarFigure = 'close'): Indicator<Macd> {
  readBars(fast, 'macd')
  readBars(slow, 'macd', fast + 1)
  readBars(signal, 'macd')
  return { width, create: () => new MacdState(fast, slow, signal, of) }
}

class MacdState implements IndicatorState<Macd> {
  readonly #fast: ExponentialAverage
  readonly #slow: ExponentialAverage
  readonly #signal: ExponentialAverage
  readonly #of: BarFigure

  constructor(fast: number, slow: number, signal: number, of: BarFigure) {
    this.#fast = new ExponentialAverage(fast)
    this.#slow = new ExponentialAverage(slow)
    this.#signal = new ExponentialAverage(signal)
    this.#of = of
  }

  add(bar: Bar): void {
    const price = figureOf(bar, this.#of)
    this.#fast.add(price)
    this.#slow.add(price)
    if (this.#slow.value !== undefined) this.#signal.add(this.#fast.early - this.#slow.early)
  }

  get value(): Macd | undefined {
    const signal = this.#signal.value
    if (signal === undefined) return undefined
    const macd = this.#fast.early - this.#slow.early
    return Object.freeze({ macd, signal, histogram: macd - signal })
  }
}

/** Values of `stochastic`. */
export interface Stochastic {
  /** Place of the close between the lowest low (0 percent) and the highest high (100 percent). */
  readonly k: number
  /** Average of `k`, percent. */
  readonly d: number
}

/** Stochastic oscillator over `bars` bars. `smooth`: number of bars of the average `d`. Both are 1 to 10,000. It needs
 *  `bars` + `smooth` - 1 bars. `k` is 0 while the range is empty. Throws RangeError for other numbers. */
export function stochastic(width: Width, bars = 14, smooth = 3): Indicator<Stochastic> {
  readBars(bars, 'stochastic')
  readBars(smooth, 'stochastic')
  return { width, create: () => new StochasticState(bars, smooth) }
}

class StochasticState implements IndicatorState<Stochastic> {
  readonly #highs: LastValues
  readonly #lows: LastValues
  readonly #ks: LastValues
  #k = Number.NaN

  constructor(bars: number, smooth: number) {
    this.#highs = new LastValues(bars)
    this.#lows = new LastValues(bars)
    this.#ks = new LastValues(smooth)
  }

  add({ high, low, close }: Bar): void {
    this.#highs.add(high)
    this.#lows.add(low)
    if (!this.#highs.isFull) return
    const { lowest } = this.#lows
    const range = this.#highs.highest - lowest
    this.#k = range === 0 ? 0 : ((close - lowest) * 100) / range
    this.#ks.add(this.#k)
  }

  get value(): Stochastic | undefined {
    return this.#ks.isFull ? Object.freeze({ k: this.#k, d: this.#ks.mean }) : undefined
  }
}

/** Rate of change over `bars` bars (a number of 1 to 10,000), percent. It needs `bars` + 1 bars. Throws RangeError for
 *  another number. */
export function roc(width: Width, bars: number, of: BarFigure = 'close'): Indicator<number> {
  readBars(bars, 'roc')
  return { width, create: () => new RocState(bars, of) }
}

class RocState implements IndicatorState<number> {
  readonly #values: LastValues
  readonly #of: BarFigure
  #last = Number.NaN

  constructor(bars: number, of: BarFigure) {
    this.#values = new LastValues(bars + 1)
    this.#of = of
  }

  add(bar: Bar): void {
    this.#last = figureOf(bar, this.#of)
    this.#values.add(this.#last)
  }

  get value(): number | undefined {
    const { oldest, isFull } = this.#values
    return isFull && oldest !== undefined && oldest !== 0 ? (this.#last / oldest - 1) * 100 : undefined
  }
}

/** Average true range by Wilder, SOL a token. `bars`: number of bars, 1 to 10,000. The range of a bar includes the
 *  distance from the close before it. Throws RangeError for another number. */
export function atr(width: Width, bars = 14): Indicator<number> {
  readBars(bars, 'atr')
  return { width, create: () => new AtrState(bars) }
}

class AtrState implements IndicatorState<number> {
  readonly #ranges: WilderAverage
  #last = Number.NaN

  constructor(bars: number) {
    this.#ranges = new WilderAverage(bars)
  }

  add({ high, low, close }: Bar): void {
    const last = Number.isNaN(this.#last) ? close : this.#last
    this.#ranges.add(Math.max(high, last) - Math.min(low, last))
    this.#last = close
  }

  get value(): number | undefined {
    return this.#ranges.value
  }
}
