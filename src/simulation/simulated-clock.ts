import { DueQueue } from '../base/due-queue.ts'
import type { Cancel, Clock } from '../base/machine.ts'
import type { Millis } from '../base/units.ts'

/** A clock that stands still until its owner advances it, for backtests and for tests without waiting. */
export class SimulatedClock implements Clock {
  readonly #queue = new DueQueue()
  #now: Millis

  /** `start`: ms since the epoch, an integer. */
  constructor(start: Millis = 0) {
    this.#now = start
  }

  now(): Millis {
    return this.#now
  }

  /** Calls `run` once after `ms`, rounded up to whole milliseconds. A negative `ms` counts as 0. `run` is never called
   *  before this call has returned. Throws RangeError if `ms` is not finite. */
  after(ms: number, run: () => void): Cancel {
    return this.#queue.add(this.#now + Math.max(0, Math.ceil(ms)), run)
  }

  /** Returns the due time of the next timer; Infinity if there is none. */
  nextAt(): Millis {
    return this.#queue.nextAt()
  }

  /** Runs every timer that is due at or before `time`. The timers run in order, each at its own time, and include
   *  timers that other timers set during the call. Throws RangeError if `time` is in the past. */
  advanceTo(time: Millis): void {
    if (!(time >= this.#now))
      throw new RangeError(`the time of the simulated clock cannot go back from ${this.#now} to ${time}`)
    for (let next = this.#queue.take(time); next !== undefined; next = this.#queue.take(time)) {
      if (next.at > this.#now) this.#now = next.at
      next.run()
    }
    if (time > this.#now) this.#now = time // a timer may have advanced the clock itself
  }
}
