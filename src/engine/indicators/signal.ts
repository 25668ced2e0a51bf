import type { Bar } from '../../market/bar.ts'
import type { Width } from '../../market/bar-width.ts'
import { type BarFigure, figureOf, type Indicator, type IndicatorState } from './indicator.ts'

/** A bar as the package `trading-signals` expects it: `open`, `high`, `low` and `close` in SOL a token, `volume` in
 *  SOL. */
export interface Candle {
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

/** An indicator with the interface of the package `trading-signals`. */
export interface Signal<In, V> {
  /** Adds the next input. Returns the value of the indicator after this input; null if it needs more inputs. */
  add(input: In): V | null
  /** Whether the indicator has received enough inputs. */
  readonly isStable: boolean
}

/** Wraps an indicator of the package `trading-signals` that takes candles: `signal('1m', () => new ADX(14))`. */
export function signal<V>(width: Width, create: () => Signal<Candle, V>): Indicator<V>
/** Wraps an indicator of the package `trading-signals` that takes numbers: `signal('1m', () => new DEMA(10),
 *  'close')`. */
export function signal<V>(width: Width, create: () => Signal<number, V>, of: BarFigure): Indicator<V>
export function signal<V>(width: Width, create: () => Signal<never, V>, of?: BarFigure): Indicator<V> {
  return { width, create: () => new SignalState(create(), of) }
}

class SignalState<V> implements IndicatorState<V> {
  readonly #signal: Signal<never, V>
  readonly #of: BarFigure | undefined
  #last: V | undefined
  #isStable = false

  constructor(inner: Signal<never, V>, of: BarFigure | undefined) {
    this.#signal = inner
    this.#of = of
  }

  add(bar: Bar): void {
    this.#last = this.#signal.add(this.#inputOf(bar) as never) ?? undefined
  }

  get value(): V | undefined {
    this.#isStable ||= this.#signal.isStable
    return this.#isStable ? this.#last : undefined
  }

  #inputOf(bar: Bar): number | Candle {
    if (this.#of !== undefined) return figureOf(bar, this.#of)
    const { open, high, low, close, volumeSol: volume } = bar
    return { open, high, low, close, volume }
  }
}
