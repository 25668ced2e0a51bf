import type { Stop } from '../base/machine.ts'
import type { Millis } from '../base/units.ts'
import type { Input } from '../engine/messages.ts'
import type { Sink, Source } from '../engine/ports.ts'
import type { Block } from '../market/block.ts'
import type { SimulatedClock } from './simulated-clock.ts'

/** Time after the last row for open attempts to end; a proof of absence takes 80 s. */
const DRAIN_MS = 120_000

/** Rows of a block, or another recorded input, which `run` posts. */
export type TapeItem =
  | { readonly kind: 'rows'; readonly block: Block; readonly from: number; readonly to: number }
  | { readonly kind: 'input'; readonly time: Millis; readonly input: Input }

/** Plays recorded rows: drives a simulated clock between the rows in one synchronous loop. Timers due at or before a
 *  row's time fire before it. Rows are delivered in the longest runs without a timer in between, so the cost is one
 *  search per run.
 *
 *  During a run the clock stays at its first row. Before the sink executes a decision of a later row, it must advance
 *  the clock with `clock.advanceTo(block.time[row])`; no timer is due before that time, so none fires. */
export class TapeSource implements Source {
  readonly #items: Iterable<TapeItem>
  readonly #clock: SimulatedClock
  #sink: Sink | undefined
  #stopped = false

  /** `items` must be in the order of time and are read one at a time. The clock must start at or before the first. */
  constructor(items: Iterable<TapeItem>, clock: SimulatedClock) {
    this.#items = items
    this.#clock = clock
  }

  /** Nothing is played before `run`. */
  start(sink: Sink): Stop {
    this.#sink = sink
    this.#stopped = false
    return async () => {
      this.#stopped = true
    }
  }

  /** Ignored: a tape holds all recorded keys. */
  want(_keys: readonly string[]): void {}

  /** Plays everything and lets open attempts end. Returns the number of rows. Throws if it was not started, and
   *  RangeError if the time of the rows runs backwards. */
  run(): number {
    const sink = this.#sink
    if (sink === undefined) throw new Error('the tape source was not started')
    let rows = 0
    for (const item of this.#items) {
      if (item.kind === 'rows') rows += this.#play(item.block, item.from, item.to, sink)
      else {
        this.#clock.advanceTo(item.time)
        sink.post(item.input)
      }
      if (this.#stopped) return rows
    }
    this.#clock.advanceTo(this.#clock.now() + DRAIN_MS)
    return rows
  }

  #play(block: Block, from: number, to: number, sink: Sink): number {
    const { time } = block
    let row = from
    while (row < to && !this.#stopped) {
      this.#clock.advanceTo(time[row] as number)
      const next = sink.rows(block, row, firstAt(time, this.#clock.nextAt(), row + 1, to))
      if (next <= row) throw new Error(`the sink accepted no row from row ${row} on`)
      row = next
    }
    return row - from
  }
}

/** First of the rows `from` to `to` that is not before `at`; `to` if there is none. `time` never falls. Doubling
 *  steps keep the search near `from`, because the next timer is usually close. */
function firstAt(time: Float64Array, at: Millis, from: number, to: number): number {
  let low = from
  let high = from
  for (let step = 1; high < to && (time[high] as number) < at; step *= 2) {
    low = high + 1
    high += step
  }
  high = Math.min(high, to)
  while (low < high) {
    const middle = (low + high) >> 1
    if ((time[middle] as number) < at) low = middle + 1
    else high = middle
  }
  return low
}
