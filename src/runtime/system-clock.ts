import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DueQueue } from '../base/due-queue.ts'
import type { Cancel, Clock } from '../base/machine.ts'
import type { Millis } from '../base/units.ts'

/** The longest delay that `setTimeout` accepts; it fires a longer one at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1
const NOTHING = (): void => {}

/** Milliseconds since the machine's boot, with fractions; the same for all its processes, and no setting of the clock
 *  moves it. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Names the boot that `monotonicMs` counts from. Where the system does not say, every process counts as a boot of its
 *  own. */
export function bootId(path = '/proc/sys/kernel/random/boot_id'): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return randomUUID()
  }
}

/** The machine's time. `now` follows the wall clock, steps forward included, and never falls: where the wall clock is set back, it goes on
 *  at half speed until that has caught up. Delays are monotonic, of any length, and never end early.
 *
 *  Node keeps one list of timers for each duration and drains a list at a time, so after a late event loop a timer may fire before another
 *  one that was due earlier. Here one timer of Node serves a queue ordered by due time: the order is that of the simulated clock. */
export class SystemClock implements Clock {
  readonly #wall: () => number
  readonly #monotonic: () => number
  readonly #queue = new DueQueue()
  /** Node's timer for the head of the queue, and the time that it was set for. */
  #timer: NodeJS.Timeout | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #isFiring = false
  #isStopped = false
  #last: number
  /** When the wall clock was last seen behind `#last`; undefined while it is not. */
  #behindAt: number | undefined

  /** `notBefore`: the last time in the journal. The two clocks are given by tests only. */
  constructor(notBefore: Millis = 0, wall: () => number = Date.now, monotonic: () => number = monotonicMs) {
    this.#wall = wall
    this.#monotonic = monotonic
    this.#last = notBefore
  }

  now(): Millis {
    const wall = this.#wall()
    if (wall >= this.#last) {
      this.#last = wall
      this.#behindAt = undefined
    } else this.#goOn()
    return Math.floor(this.#last)
  }

  #goOn(): void {
    const now = this.#monotonic()
    this.#last += (now - (this.#behindAt ?? now)) / 2
    this.#behindAt = now
  }

  after(ms: number, run: () => void): Cancel {
    if (this.#isStopped) return NOTHING
    const cancel = this.#queue.add(this.#monotonic() + Math.max(0, ms), run)
    this.#schedule()
    return () => {
      cancel()
      this.#schedule()
    }
  }

  /** Calls off everything that is still to come, and what an answer that comes later asks for, so that nothing keeps
   *  the process alive. */
  stop(): void {
    this.#isStopped = true
    this.#queue.clear()
    this.#schedule()
  }

  /** Sets Node's timer for the head of the queue. One that is set for an earlier time stays: it finds nothing due and
   *  sets the next. */
  #schedule(): void {
    if (this.#isFiring) return
    const at = this.#queue.nextAt()
    if (this.#timerAt <= at && at !== Number.POSITIVE_INFINITY) return
    clearTimeout(this.#timer)
    this.#timerAt = at
    if (at === Number.POSITIVE_INFINITY) return
    const ms = Math.max(0, Math.ceil(at - this.#monotonic()))
    this.#timer = setTimeout(() => this.#fire(), Math.min(ms, LONGEST_TIMEOUT_MS))
  }

  /** Runs what is due by now. What that sets is due later, so this ends; where one throws, the others keep their
   *  turn. */
  #fire(): void {
    const now = this.#monotonic()
    this.#timerAt = Number.POSITIVE_INFINITY
    this.#isFiring = true
    try {
      for (let due = this.#queue.take(now); due !== undefined; due = this.#queue.take(now)) due.run()
    } finally {
      this.#isFiring = false
      this.#schedule()
    }
  }
}
