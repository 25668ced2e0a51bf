import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DueQueue } from '../base/due-queue.ts'
import type { Cancel, Clock } from '../base/machine.ts'
import type { Millis } from '../base/units.ts'

/** The longest delay that `setTimeout` accepts. With a longer delay, the timer would fire immediately. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1
const NOTHING = (): void => {}
/** Two readings of the clock at most this far apart count as simultaneous, ms. */
const CLOSE_MS = 0.01
const MOST_TRIES = 100

/** Time from the boot until `performance.now` was 0 in this thread, ms. Adding it to `performance.now` gives the time
 *  since the boot. `hrtime.bigint` gives the same time, but a call takes three times as long. */
const ORIGIN_MS = originMs()

/** Returns milliseconds since the machine's boot, with fractions. The value is the same in all processes, and
 *  independent of the wall clock. */
export function monotonicMs(): number {
  return ORIGIN_MS + performance.now()
}

/** Returns the time since boot at which `performance.now()` was 0, ms. Reads the two clocks repeatedly, until the
 *  thread did not pause between the two readings. */
function originMs(): number {
  let origin = 0
  let least = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < MOST_TRIES && least > CLOSE_MS; tries++) {
    const before = performance.now()
    const boot = Number(process.hrtime.bigint()) / 1e6
    const apart = performance.now() - before
    if (apart >= least) continue
    least = apart
    origin = boot - before - apart / 2
  }
  return origin
}

/** Returns the id of the boot from which `monotonicMs` counts. If the system does not report an id, every process
 *  counts as a boot of its own. */
export function bootId(path = '/proc/sys/kernel/random/boot_id'): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return randomUUID()
  }
}

/** Real time, in contrast to simulated time. `now` follows the wall clock, including forward steps, and never
 *  decreases: after the wall clock is set back, `now` runs at half speed until the wall clock has caught up. Delays are
 *  monotonic, may have any length, and never end early. Node keeps a list of timers for each duration and processes one
 *  list after the other. After a delay of the event loop, a timer may therefore fire before another one that was due
 *  earlier. To keep the order, one Node timer here serves a queue that is sorted by due time, as in the simulated
 *  clock. */
export class SystemClock implements Clock {
  readonly #wall: () => number
  readonly #monotonic: () => number
  readonly #queue = new DueQueue()
  /** Node's timer for the first entry of the queue. `#timerAt` is the time for which it is set. */
  #timer: NodeJS.Timeout | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #isFiring = false
  #isStopped = false
  #last: number
  /** Monotonic time at which the wall clock was last seen behind `#last`; undefined if it is not behind. */
  #behindAt: number | undefined

  /** `notBefore`: the last time in the journal; `now` never returns an earlier time. Tests replace `wall` and
   *  `monotonic`. */
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

  /** Cancels every pending timer and ignores later requests, so that nothing keeps the process alive. */
  stop(): void {
    this.#isStopped = true
    this.#queue.clear()
    this.#schedule()
  }

  /** Schedules Node's timer for the first entry of the queue. A timer that is already set for an earlier time remains:
   *  when it fires, nothing is due, and it schedules the next one. */
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

  /** Runs everything that is due now. Timers that are set during the call are due later, so the loop ends. If one
   *  function throws, the others still run. */
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
