import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Cancel, Clock } from '../core/ports.ts'
import type { Millis } from '../core/units.ts'

/** The longest that `setTimeout` knows; a longer one would fire at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1
const NOTHING = (): void => {}

/** Milliseconds since the machine's boot, with fractions; the same for all its processes, and no setting of the clock moves it. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Names the boot that `monotonicMs` counts from. Where the system does not say, every process counts as a boot of its own. */
export function bootId(path = '/proc/sys/kernel/random/boot_id'): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return randomUUID()
  }
}

/** The machine's time. `now` follows the wall clock, steps forward included, and never falls: where the wall clock is set back, it goes on
 *  at half speed until that has caught up. Delays are monotonic, of any length. */
export class SystemClock implements Clock {
  readonly #wall: () => number
  readonly #monotonic: () => number
  readonly #timers = new Set<NodeJS.Timeout>()
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
    let timer: NodeJS.Timeout
    if (this.#isStopped) return NOTHING
    const wait = (leftMs: number): void => {
      timer = setTimeout(
        () => {
          this.#timers.delete(timer)
          if (leftMs > LONGEST_TIMEOUT_MS) wait(leftMs - LONGEST_TIMEOUT_MS)
          else run()
        },
        Math.min(leftMs, LONGEST_TIMEOUT_MS),
      )
      this.#timers.add(timer)
    }
    wait(ms)
    return () => {
      clearTimeout(timer)
      this.#timers.delete(timer)
    }
  }

  /** Calls off everything that is still to come, and what an answer that comes later asks for, so that nothing keeps the process alive. */
  stop(): void {
    this.#isStopped = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }
}
