import type { Block } from '../core/block.ts'
import type { Sink, Source, Stop } from '../core/ports.ts'
import type { Millis } from '../core/units.ts'
import type { SimulatedClock } from './clock.ts'

/** So long after the last row what is still under way comes to its end: a proof of absence takes 80 s. */
const DRAIN_MS = 120_000

/** Recorded blocks as a market: drives a simulated clock between the rows, in one synchronous loop. Timers due at or before a row's time
 *  fire before it. Rows go out in the longest run without a timer in between; a run costs one binary search, a row costs nothing here.
 *
 *  Within a run the clock stands at its first row, and only the sink knows where it stopped: before it carries out what a row decided, the
 *  clock has to be brought to that row, with `clock.advanceTo(block.time[row])`. No timer is due there, so none fires. */
export class Tape implements Source {
  readonly #blocks: Iterable<Block>
  readonly #clock: SimulatedClock
  #sink: Sink | undefined
  #stopped = false

  /** `blocks` in the order of time, read one at a time; the clock starts at or before the first row. */
  constructor(blocks: Iterable<Block>, clock: SimulatedClock) {
    this.#blocks = blocks
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
    for (const block of this.#blocks) {
      rows += this.#play(block, sink)
      if (this.#stopped) return rows
    }
    this.#clock.advanceTo(this.#clock.now() + DRAIN_MS)
    return rows
  }

  #play(block: Block, sink: Sink): number {
    const { time, length } = block
    let row = 0
    while (row < length && !this.#stopped) {
      this.#clock.advanceTo(time[row] as number)
      const next = sink.rows(block, row, firstAt(time, this.#clock.nextAt(), row + 1, length))
      if (next <= row) throw new Error(`the sink took none of the rows from ${row} on`)
      row = next
    }
    return row
  }
}

/** The first of the rows `from` to `to` that is not before `at`; `to` where all are. `time` never falls. */
function firstAt(time: Float64Array, at: Millis, from: number, to: number): number {
  if (from >= to || (time[to - 1] as number) < at) return to
  let low = from
  let high = to - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((time[middle] as number) < at) low = middle + 1
    else high = middle
  }
  return low
}
