import type { Stop } from '../base/machine.ts'
import type { Millis } from '../base/units.ts'
import type { Input } from '../engine/messages.ts'
import type { Sink, Source } from '../engine/ports.ts'
import type { Block } from '../market/block.ts'
import type { SimulatedClock } from './simulated-clock.ts'

/** So long after the last row what is still under way comes to its end: a proof of absence takes 80 s. */
const DRAIN_MS = 120_000

/** Rows of a block, or something else that happened: what is posted then. */
export type TapeItem =
  | { readonly kind: 'rows'; readonly block: Block; readonly from: number; readonly to: number }
  | { readonly kind: 'input'; readonly time: Millis; readonly input: Input }

/** Recorded rows as a market: drives a simulated clock between the rows, in one synchronous loop. Timers due at or before a row's time
 *  fire before it. Rows go out in the longest run without a timer in between; a run costs one search, a row costs nothing here.
 *
 *  Within a run the clock stands at its first row, and only the sink knows where it stopped: before it carries out what a row decided, the
 *  clock has to be brought to that row, with `clock.advanceTo(block.time[row])`. No timer is due there, so none fires. */
export class TapeSource implements Source {
  readonly #items: Iterable<TapeItem>
  readonly #clock: SimulatedClock
  #sink: Sink | undefined
  #stopped = false

  /** `items` in the order of time, read one at a time; the clock starts at or before the first. */
  constructor(items: Iterable<TapeItem>, clock: SimulatedClock) {
    this.#items = items
    this.#clock = clock
  }

  /** Nothing happens before `run`. */
  start(sink: Sink): Stop {
    this.#sink = sink
    this.#stopped = false
    return async () => {
      this.#stopped = true
    }
  }

  /** A tape holds what was recorded: nothing can be added to it now. */
  want(_keys: readonly string[]): void {}

  /** Plays everything, and lets what is under way end; the number of rows played.
   *  Throws where it was not started, and RangeError where the rows' time runs backwards. */
  run(): number {
    const sink = this.#sink
    if (sink === undefined) throw new Error('a tape has to be started before it runs')
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
      if (next <= row) throw new Error(`the sink took none of the rows from ${row} on`)
      row = next
    }
    return row - from
  }
}

/** The first of the rows `from` to `to` that is not before `at`; `to` where all are. `time` never falls. A timer is
 *  mostly near: steps double until it is passed, so that hardly any memory is waited for that the rows up to it do not
 *  need. */
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
