import { CLOSE, HIGH, LOW } from '../../market/bar.ts'
import type { Width } from '../../market/bar-width.ts'
import { addToExponential, addToWilder } from './averages.ts'
import { type BarFigure, figureAt, type Indicator, readBars, readFigure } from './indicator.ts'
import type { AddedBars } from './indicator-memory.ts'
import { NumberIndicator } from './number-indicator.ts'
import { highestOf, lowestOf, meanOf } from './window.ts'

/** Relative strength index by Wilder, 0 to 100 percent; 100 if no bar fell. `bars`: 2 to 10,000. `of`: the figure;
 *  default `close`. The indicator has a value after `bars` + 1 bars. Throws RangeError for any other number of bars or
 *  figure. */
export function rsi(width: Width, bars = 14, of: BarFigure = 'close'): Indicator<number> {
  return new Rsi(width, readBars(bars, 'rsi', 2), readFigure(of, 'rsi'))
}

/** The state of a token: the last value, the average gain and the average loss. */
class Rsi extends NumberIndicator<number> {
  readonly #bars: number
  readonly #figure: number

  constructor(width: Width, bars: number, figure: number) {
    super(width, `rsi ${bars} ${figure}`, 3, [])
    this.#bars = bars
    this.#figure = figure
  }

  add(memory: Float64Array, at: number, _room: number, count: number, bars: Float64Array, from: number): void {
    const value = figureAt(bars, from, this.#figure)
    const change = value - (memory[at] as number)
    memory[at] = value
    if (count === 0) return
    addToWilder(memory, at + 1, count - 1, this.#bars, Math.max(change, 0))
    addToWilder(memory, at + 2, count - 1, this.#bars, Math.max(-change, 0))
  }

  addAll(memory: Float64Array, offset: number, room: number, added: AddedBars): void {
    const { states, counts, bars, froms } = added
    for (let bar = 0; bar < added.length; bar++)
      this.add(memory, offset + (states[bar] as number), room, counts[bar] as number, bars, froms[bar] as number)
  }

  valueOf(memory: Float64Array, at: number, _room: number, count: number): number | undefined {
    if (count <= this.#bars) return undefined
    const loss = memory[at + 2] as number
    return loss === 0 ? 100 : 100 - 100 / ((memory[at + 1] as number) / loss + 1)
  }
}

/** Values of `macd`, in the unit of the figure. For prices: SOL a token. `macd`: the fast average minus the slow one.
 *  `signal`: the average of `macd`. `histogram`: `macd` minus `signal`. */
export interface Macd {
  readonly macd: number
  readonly signal: number
  readonly histogram: number
}

/** MACD: the exponential average over `fast` bars minus the one over `slow` bars, and the exponential average of this
 *  difference over `signal` bars. Each number of bars is 1 to 10,000. The indicator has a value after `slow` +
 *  `signal` - 1 bars. Throws RangeError for other numbers, or if `slow` is not above `fast`. */
export function macd(width: Width, fast = 12, slow = 26, signal = 9, of: BarFigure = 'close'): Indicator<Macd> {
  readBars(fast, 'macd')
  readBars(slow, 'macd', fast + 1)
  return new MacdIndicator(width, { fast, slow, signal: readBars(signal, 'macd') }, readFigure(of, 'macd'))
}

/** The state of a token: the fast average, the slow average and the signal. */
class MacdIndicator extends NumberIndicator<Macd> {
  readonly #bars: { readonly fast: number; readonly slow: number; readonly signal: number }
  readonly #figure: number

  constructor(width: Width, bars: { fast: number; slow: number; signal: number }, figure: number) {
    super(width, `macd ${bars.fast} ${bars.slow} ${bars.signal} ${figure}`, 3, [])
    this.#bars = bars
    this.#figure = figure
  }

  add(memory: Float64Array, at: number, _room: number, count: number, bars: Float64Array, from: number): void {
    const { fast, slow, signal } = this.#bars
    const value = figureAt(bars, from, this.#figure)
    addToExponential(memory, at, count, fast, value)
    addToExponential(memory, at + 1, count, slow, value)
    const signals = count + 1 - slow
    if (signals >= 0) addToExponential(memory, at + 2, signals, signal, macdAt(memory, at))
  }

  addAll(memory: Float64Array, offset: number, room: number, added: AddedBars): void {
    const { states, counts, bars, froms } = added
    for (let bar = 0; bar < added.length; bar++)
      this.add(memory, offset + (states[bar] as number), room, counts[bar] as number, bars, froms[bar] as number)
  }

  override get fields(): readonly (keyof Macd)[] {
    return ['macd', 'signal', 'histogram']
  }

  valueOf(memory: Float64Array, at: number, room: number, count: number): Macd | undefined {
    if (count < this.#least) return undefined
    const numberOf = (field: number): number => this.numberOf(memory, at, room, count, field)
    return { macd: numberOf(0), signal: numberOf(1), histogram: numberOf(2) }
  }

  override numberOf(memory: Float64Array, at: number, _room: number, count: number, field: number): number {
    if (count < this.#least) return Number.NaN
    const macd = macdAt(memory, at)
    const average = memory[at + 2] as number
    return field === 0 ? macd : field === 1 ? average : macd - average
  }

  /** Number of bars after which the indicator has a value. */
  get #least(): number {
    return this.#bars.slow + this.#bars.signal - 1
  }
}

function macdAt(memory: Float64Array, at: number): number {
  return (memory[at] as number) - (memory[at + 1] as number)
}

/** Values of `stochastic`. */
export interface Stochastic {
  /** Position of the close between the lowest low (0 percent) and the highest high (100 percent). */
  readonly k: number
  /** Average of `k` over the last `smooth` bars, percent. */
  readonly d: number
}

/** Stochastic oscillator over `bars` bars. `smooth`: the number of bars in the average `d`. Both numbers are 1 to
 *  10,000. The indicator has a value after `bars` + `smooth` - 1 bars. `k` is 0 if the highest high equals the lowest
 *  low. Throws RangeError for other numbers. */
export function stochastic(width: Width, bars = 14, smooth = 3): Indicator<Stochastic> {
  return new StochasticIndicator(width, readBars(bars, 'stochastic'), readBars(smooth, 'stochastic'))
}

/** The state of a token: the last `k`, and windows of the highs, the lows and the last values of `k`. */
class StochasticIndicator extends NumberIndicator<Stochastic> {
  readonly #bars: number
  readonly #smooth: number

  constructor(width: Width, bars: number, smooth: number) {
    super(width, `stochastic ${bars} ${smooth}`, 1, [bars, bars, smooth])
    this.#bars = bars
    this.#smooth = smooth
  }

  add(memory: Float64Array, at: number, room: number, count: number, bars: Float64Array, from: number): void {
    const length = this.#bars
    const highs = at + 1
    const lows = highs + Math.min(length, room)
    memory[highs + (count % length)] = bars[from + HIGH] as number
    memory[lows + (count % length)] = bars[from + LOW] as number
    const ks = count + 1 - length
    if (ks < 0) return
    const lowest = lowestOf(memory, lows, length)
    const range = highestOf(memory, highs, length) - lowest
    memory[at] = range === 0 ? 0 : (((bars[from + CLOSE] as number) - lowest) * 100) / range
    memory[lows + length + (ks % this.#smooth)] = memory[at] as number
  }

  addAll(memory: Float64Array, offset: number, room: number, added: AddedBars): void {
    const { states, counts, bars, froms } = added
    for (let bar = 0; bar < added.length; bar++)
      this.add(memory, offset + (states[bar] as number), room, counts[bar] as number, bars, froms[bar] as number)
  }

  override get fields(): readonly (keyof Stochastic)[] {
    return ['k', 'd']
  }

  valueOf(memory: Float64Array, at: number, room: number, count: number): Stochastic | undefined {
    if (count < this.#least) return undefined
    return { k: this.numberOf(memory, at, room, count, 0), d: this.numberOf(memory, at, room, count, 1) }
  }

  override numberOf(memory: Float64Array, at: number, _room: number, count: number, field: number): number {
    if (count < this.#least) return Number.NaN
    return field === 0 ? (memory[at] as number) : meanOf(memory, at + 1 + 2 * this.#bars, this.#smooth)
  }

  /** Number of bars after which the indicator has a value. */
  get #least(): number {
    return this.#bars + this.#smooth - 1
  }
}

/** Rate of change of a figure over `bars` bars, percent. `bars`: 1 to 10,000. `of`: the figure; default `close`. The
 *  indicator has a value after `bars` + 1 bars. Throws RangeError for any other number of bars or figure. */
export function roc(width: Width, bars: number, of: BarFigure = 'close'): Indicator<number> {
  return new Roc(width, readBars(bars, 'roc'), readFigure(of, 'roc'))
}

class Roc extends NumberIndicator<number> {
  readonly #length: number
  readonly #figure: number

  constructor(width: Width, bars: number, figure: number) {
    super(width, `roc ${bars} ${figure}`, 0, [bars + 1])
    this.#length = bars + 1
    this.#figure = figure
  }

  add(memory: Float64Array, at: number, _room: number, count: number, bars: Float64Array, from: number): void {
    memory[at + (count % this.#length)] = figureAt(bars, from, this.#figure)
  }

  addAll(memory: Float64Array, offset: number, room: number, added: AddedBars): void {
    const { states, counts, bars, froms } = added
    for (let bar = 0; bar < added.length; bar++)
      this.add(memory, offset + (states[bar] as number), room, counts[bar] as number, bars, froms[bar] as number)
  }

  valueOf(memory: Float64Array, at: number, _room: number, count: number): number | undefined {
    if (count < this.#length) return undefined
    const oldest = memory[at + (count % this.#length)] as number
    const newest = memory[at + ((count - 1) % this.#length)] as number
    return oldest === 0 ? undefined : (newest / oldest - 1) * 100
  }
}

/** Average true range by Wilder, SOL a token. `bars`: 1 to 10,000. The true range of a bar reaches from the lower of
 *  its low and the previous close to the higher of its high and that close. Throws RangeError for any other number of
 *  bars. */
export function atr(width: Width, bars = 14): Indicator<number> {
  return new Atr(width, readBars(bars, 'atr'))
}

/** The state of a token: the last close, and the average. */
class Atr extends NumberIndicator<number> {
  readonly #bars: number

  constructor(width: Width, bars: number) {
    super(width, `atr ${bars}`, 2, [])
    this.#bars = bars
  }

  add(memory: Float64Array, at: number, _room: number, count: number, bars: Float64Array, from: number): void {
    const close = bars[from + CLOSE] as number
    const last = count === 0 ? close : (memory[at] as number)
    memory[at] = close
    const range = Math.max(bars[from + HIGH] as number, last) - Math.min(bars[from + LOW] as number, last)
    addToWilder(memory, at + 1, count, this.#bars, range)
  }

  addAll(memory: Float64Array, offset: number, room: number, added: AddedBars): void {
    const { states, counts, bars, froms } = added
    for (let bar = 0; bar < added.length; bar++)
      this.add(memory, offset + (states[bar] as number), room, counts[bar] as number, bars, froms[bar] as number)
  }

  valueOf(memory: Float64Array, at: number, _room: number, count: number): number | undefined {
    return count < this.#bars ? undefined : memory[at + 1]
  }
}
