import { DueQueue } from '../base/due-queue.ts'
import type { Cancel, Clock } from '../base/machine.ts'
import type { Millis } from '../base/units.ts'

/** Time that moves when it is told to: the clock of backtests and of every test without sleeping. */
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

  /** Runs `run` once, `ms` from now: rounded up to whole milliseconds, negative is 0, and never from inside this call.
   *  Throws RangeError where `ms` is not finite. */
  after(ms: number, run: () => void): Cancel {
    return this.#queue.add(this.#now + Math.max(0, Math.ceil(ms)), run)
  }

  /** When the next timer is due; Infinity where none is set. */
  nextAt(): Millis {
    return this.#queue.nextAt()
  }

  /** Runs every timer due at or before `time`, in order, each at its own time and those that they set too; then it is
   *  `time`. Throws RangeError when `time` has passed already: time never goes backwards. */
  advanceTo(time: Millis): void {
    if (!(time >= this.#now)) throw new RangeError(`time runs backwards: from ${this.#now} to ${time}`)
    for (let next = this.#queue.take(time); next !== undefined; next = this.#queue.take(time)) {
      if (next.at > this.#now) this.#now = next.at
      next.run()
    }
    if (time > this.#now) this.#now = time // a timer may have advanced the clock itself
  }
}
