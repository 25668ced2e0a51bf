import { A_SELL, BAR_DOUBLES, type Bar } from '../../market/bar.ts'
import type { Width } from '../../market/bar-width.ts'
import type { Indicator, IndicatorState } from './indicator.ts'
import { type AddedBars, IndicatorMemory, type MeanOf, type StateInMemory } from './indicator-memory.ts'

/** An indicator whose state consists only of numbers, so that one array can store the states of many tokens. */
export abstract class NumberIndicator<V> implements Indicator<V>, StateInMemory {
  readonly width: Width
  /** Identifies what the indicator computes. Two indicators with the same name and the same width have the same values,
   *  so bots can share their state. */
  readonly name: string
  readonly numbers: number
  readonly windows: readonly number[]
  readonly meanOf: MeanOf | undefined

  constructor(width: Width, name: string, numbers: number, windows: readonly number[], meanOf?: MeanOf | undefined) {
    this.width = width
    this.name = name
    this.numbers = numbers
    this.windows = windows
    this.meanOf = meanOf
  }

  abstract add(memory: Float64Array, at: number, room: number, count: number, bars: Float64Array, from: number): void

  abstract addAll(memory: Float64Array, offset: number, room: number, added: AddedBars): void

  abstract valueOf(memory: Float64Array, at: number, room: number, count: number, ring: number): V | undefined

  /** Names of the fields of a value; empty if a value is a single number. */
  get fields(): readonly string[] {
    return []
  }

  /** Returns the indicator's value after `count` bars if it is a number, or one field of the value, by the index of the
   *  field. NaN if the indicator needs more bars. */
  numberOf(memory: Float64Array, at: number, room: number, count: number, _field: number, ring: number): number {
    return (this.valueOf(memory, at, room, count, ring) as number | undefined) ?? Number.NaN
  }

  create(): IndicatorState<V> {
    return new SingleState(this)
  }
}

/** The state of one indicator for one token, in its own array. It is used if a strategy builds an indicator of its own
 *  from a `NumberIndicator`. */
class SingleState<V> implements IndicatorState<V> {
  readonly #memory: IndicatorMemory
  readonly #bar = new Float64Array(BAR_DOUBLES)

  constructor(indicator: NumberIndicator<V>) {
    this.#memory = new IndicatorMemory([indicator])
  }

  add({ open, high, low, close, volumeSol, buys, sells }: Bar): void {
    this.#bar.set([open, high, low, close, volumeSol, buys + sells * A_SELL])
    this.#memory.add(0, this.#bar, 0)
  }

  get value(): V | undefined {
    return this.#memory.valueOf(0, 0) as V | undefined
  }
}
