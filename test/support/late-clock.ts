import type { Cancel, Clock } from '../../src/base/machine.ts'

interface Timer {
  readonly at: number
  readonly ms: number
  readonly run: () => void
}

/**
 * A clock on an event loop that can be blocked. Overdue timers then fire in any order, because Node has one list of
 * timers for each duration, and fires one list after the other.
 */
export class LateClock implements Clock {
  readonly #timers = new Set<Timer>()
  #now: number

  constructor(start: number) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  after(ms: number, run: () => void): Cancel {
    const timer = { at: this.#now + ms, ms, run }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /**
   * Blocks the loop for this long, and then fires the overdue timers. `first` selects the duration whose list is fired
   * first.
   */
  stall(ms: number, first: (one: number, other: number) => number): void {
    this.#now += ms
    const due = [...this.#timers].filter(({ at }) => at <= this.#now)
    due.sort((one, other) => first(one.ms, other.ms) || one.at - other.at)
    for (const timer of due) if (this.#timers.delete(timer)) timer.run()
  }

  get isIdle(): boolean {
    return this.#timers.size === 0
  }
}
