import type { Cancel, Clock } from '../core/ports.ts'
import type { Millis } from '../core/units.ts'

interface Timer {
  readonly at: Millis
  /** Counts up: timers of the same millisecond run in the order in which they were set. */
  readonly order: number
  readonly run: () => void
  /** Where it lies in the heap; -1 once it ran or was cancelled. */
  index: number
}

/** Time that moves when it is told to: the clock of backtests and of every test without sleeping. A binary heap of timers; setting,
 *  cancelling and running one costs O(log n) and leaves nothing behind. */
export class SimulatedClock implements Clock {
  readonly #heap: Timer[] = []
  #now: Millis
  #order = 0

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
    if (!Number.isFinite(ms)) throw new RangeError(`not a delay: ${ms} ms`)
    const timer: Timer = { at: this.#now + Math.max(0, Math.ceil(ms)), order: this.#order++, run, index: -1 }
    this.#place(timer, this.#heap.length)
    this.#rise(timer)
    return () => this.#remove(timer)
  }

  /** When the next timer is due; Infinity where none is set. */
  nextAt(): Millis {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY
  }

  /** Runs every timer due at or before `time`, in order, each at its own time and those that they set too; then it is `time`.
   *  Throws RangeError when `time` has passed already: time never goes backwards. */
  advanceTo(time: Millis): void {
    if (!(time >= this.#now)) throw new RangeError(`time runs backwards: from ${this.#now} to ${time}`)
    for (let next = this.#heap[0]; next !== undefined && next.at <= time; next = this.#heap[0]) {
      this.#remove(next)
      if (next.at > this.#now) this.#now = next.at
      next.run()
    }
    if (time > this.#now) this.#now = time // a timer may have advanced the clock itself
  }

  #remove(timer: Timer): void {
    const { index } = timer
    if (index < 0) return
    timer.index = -1
    const last = this.#heap.pop() as Timer
    if (last === timer) return
    this.#place(last, index)
    this.#rise(last)
    this.#sink(last)
  }

  #rise(timer: Timer): void {
    while (timer.index > 0) {
      const parent = this.#heap[(timer.index - 1) >> 1] as Timer
      if (!isBefore(timer, parent)) return
      this.#swap(timer, parent)
    }
  }

  #sink(timer: Timer): void {
    for (;;) {
      const left = this.#heap[timer.index * 2 + 1]
      if (left === undefined) return
      const right = this.#heap[timer.index * 2 + 2]
      const child = right !== undefined && isBefore(right, left) ? right : left
      if (!isBefore(child, timer)) return
      this.#swap(child, timer)
    }
  }

  #swap(a: Timer, b: Timer): void {
    const { index } = a
    this.#place(a, b.index)
    this.#place(b, index)
  }

  #place(timer: Timer, index: number): void {
    timer.index = index
    this.#heap[index] = timer
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
