import type { Stop } from '../base/machine.ts'
import type { Millis } from '../base/units.ts'
import type { Input } from '../engine/messages.ts'
import type { Sink, Source } from '../engine/ports.ts'
import type { Block } from '../market/block.ts'
import type { SimulatedClock } from './simulated-clock.ts'

/** Time in ms that a run continues after the last row, so that open attempts can end. It takes 80 s to prove that an
 *  attempt did not execute. */
const DRAIN_MS = 120_000

/** A recorded item: rows of a block, or an input. */
export type TapeItem =
  | { readonly kind: 'rows'; readonly block: Block; readonly from: number; readonly to: number }
  | { readonly kind: 'input'; readonly time: Millis; readonly input: Input }

/** Plays recorded rows in one synchronous loop, and advances a simulated clock between them. A timer that is due at or
 *  before the time of a row fires before the row. All rows between two timers are delivered together, so that one
 *  search finds the row at which the next timer is due.
 *
 *  While these rows are delivered, the clock stays at the time of the first of them. Before the sink executes a
 *  decision about a later row, it must call `clock.advanceTo(block.time[row])`. No timer is due before that time, so
 *  none fires. */
export class TapeSource implements Source {
  readonly #items: Iterable<TapeItem>
  readonly #clock: SimulatedClock
  #sink: Sink | undefined
  #stopped = false

  /** `items` must be in the order of time; they are read one at a time. The clock must start at or before the first
   *  item. */
  constructor(items: Iterable<TapeItem>, clock: SimulatedClock) {
    this.#items = items
    this.#clock = clock
  }

  /** Registers the sink. Nothing is played before the call of `run`. */
  start(sink: Sink): Stop {
    this.#sink = sink
    this.#stopped = false
    return async () => {
      this.#stopped = true
    }
  }

  /** Does nothing, because a tape contains the rows of all recorded keys. */
  want(_keys: readonly string[]): void {}

  /** Plays all items and lets open attempts end. Returns the number of rows. Throws if the source was not started;
   *  throws RangeError if the time of the rows runs backwards. */
  run(): number {
    const sink = this.#sink
    if (sink === undefined) throw new Error('the tape source was not started')
    let rows = 0
    for (const item of this.#items) {
      rows += playItem(item, this.#clock, sink, () => this.#stopped)
      if (this.#stopped) return rows
    }
    this.#clock.advanceTo(this.#clock.now() + DRAIN_MS)
    return rows
  }
}

/** Plays one item. Returns the number of its rows that were played before `isStopped` became true. */
export function playItem(item: TapeItem, clock: SimulatedClock, sink: Sink, isStopped = () => false): number {
  if (item.kind === 'input') {
    clock.advanceTo(item.time)
    sink.post(item.input)
    return 0
  }
  const { block, from, to } = item
  const { time } = block
  let row = from
  while (row < to && !isStopped()) {
    clock.advanceTo(time[row] as number)
    const next = sink.rows(block, row, firstAt(time, clock.nextAt(), row + 1, to))
    if (next <= row) throw new Error(`the sink did not accept row ${row}`)
    row = next
  }
  return row - from
}

/** Returns the index of the first row in `from` to `to` whose time is `at` or later; `to` if there is none. `time` must
 *  never fall. The search starts at `from` and doubles its steps, because the next timer is usually close. */
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
