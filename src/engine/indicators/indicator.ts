import { type Bar, buysIn, CLOSE, COUNTS, HIGH, LOW, OPEN, sellsIn, tradesIn, VOLUME } from '../../market/bar.ts'
import type { Width } from '../../market/bar-width.ts'

/** An indicator over the closed bars of one width. Sluice creates one state for each token, when the indicator is
 *  first needed, and adds each bar once, oldest first. */
export interface Indicator<V> {
  /** Width of the bars that the indicator reads. `bars` of the strategy must declare it. */
  readonly width: Width
  /** Creates the state for a token. */
  create(): IndicatorState<V>
}

/** An indicator's state for one token. */
export interface IndicatorState<V> {
  /** Adds the next closed bar. */
  add(bar: Bar): void
  /** Current value; undefined before there are enough bars. */
  readonly value: V | undefined
}

/** Indicators of a strategy, by name. */
export type Indicators = Readonly<Record<string, Indicator<unknown>>>

/** Values of a strategy's indicators for one token, by name; undefined before there are enough bars. */
export type IndicatorValues<I extends Indicators> = {
  readonly [K in keyof I]: I[K] extends Indicator<infer V> ? V | undefined : never
}

/** The indicators of a strategy that declares none. */
export type NoIndicators = Record<never, never>

/** A figure of a bar, which an indicator can read. */
export type BarFigure = 'open' | 'high' | 'low' | 'close' | 'volumeSol' | 'trades' | 'buys' | 'sells'

/** Reads a figure of a bar. A switch is several times as fast as `bar[figure]` if indicators read different figures. */
export function figureOf(bar: Bar, figure: BarFigure): number {
  switch (figure) {
    case 'close':
      return bar.close
    case 'high':
      return bar.high
    case 'low':
      return bar.low
    case 'open':
      return bar.open
    case 'volumeSol':
      return bar.volumeSol
    case 'trades':
      return bar.trades
    case 'buys':
      return bar.buys
    case 'sells':
      return bar.sells
  }
}

/** Numbers by which `figureAt` identifies the figures. For prices and the volume, the number is the offset in the
 *  memory of a bar. `trades`, `buys` and `sells` are stored at one offset together, so they have other numbers. */
const FIGURES: Readonly<Record<BarFigure, number>> = {
  ...{ open: OPEN, high: HIGH, low: LOW, close: CLOSE, volumeSol: VOLUME },
  ...{ buys: 5, sells: 6, trades: 7 },
}

/** Returns the number by which `figureAt` identifies a figure. Throws RangeError for a text that is not a figure. */
export function readFigure(figure: BarFigure, name: string): number {
  const number = FIGURES[figure]
  if (number !== undefined) return number
  throw new RangeError(
    `${name}: expected a figure of a bar (${Object.keys(FIGURES).join(', ')}), got ${String(figure)}`,
  )
}

/** Returns a figure of a bar. The bar's numbers begin at `bars[at]`. `figure`: a number of `FIGURES`. */
export function figureAt(bars: Float64Array, at: number, figure: number): number {
  if (figure <= VOLUME) return bars[at + figure] as number
  const counts = bars[at + COUNTS] as number
  if (figure === FIGURES.buys) return buysIn(counts)
  return figure === FIGURES.sells ? sellsIn(counts) : tradesIn(counts)
}

/** Returns `count`. Throws RangeError if it is not a whole number of bars in the allowed range. */
export function readBars(count: number, name: string, least = 1): number {
  if (Number.isInteger(count) && count >= least && count <= MOST_BARS) return count
  throw new RangeError(`${name}: expected a whole number of bars from ${least} to ${MOST_BARS}, got ${String(count)}`)
}

const MOST_BARS = 10_000
