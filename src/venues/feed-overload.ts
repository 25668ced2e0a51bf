import { performance } from 'node:perf_hooks'

/** Which rows the feed drops. 0: none, 1: price updates, 2: price updates and trades. Rows of held tokens, and
 *  announcements of new tokens, are never dropped. */
export type Shedding = 0 | 1 | 2

/** Limits on the share of its time in which the event loop is busy. From FULL on, it is overloaded; below EASED, it has
 *  recovered. */
const FULL = 0.97
const EASED = 0.85
/** Lag in ms at which an engine in its own thread counts as overloaded. It has recovered once its lag is at most half
 *  of this. A restart of the engine causes a lag of about a second, which is below this limit. */
const LATE_MS = 2_000

/** Decides which rows the feed drops. The level rises by one for each second in which the event loop was overloaded.
 *  Rows then wait in the socket, so every decision, exits included, uses old prices. The level falls by one for each
 *  second in which the event loop had recovered. */
export class Overload {
  level: Shedding = 0
  readonly #load: () => number

  /** `load` returns the share of the time since the last call that the event loop was busy, 0 to 1. */
  constructor(load: () => number) {
    this.#load = load
  }

  /** Called once a second. Raises the level if the event loop is overloaded, lowers it if the loop has recovered. */
  tick(): void {
    const load = this.#load()
    if (load >= FULL && this.level < 2) this.level++
    else if (load < EASED && this.level > 0) this.level--
  }
}

/** Returns a function that gives the larger of two loads: the load of the event loop, and the load of an engine in its
 *  own thread. The second one is computed from `lagMs`, the time by which the engine is behind. */
export function busier(load: () => number, lagMs: () => number): () => number {
  return () => {
    const late = lagMs() / LATE_MS
    return Math.max(load(), late >= 1 ? FULL : late > 0.5 ? EASED : 0)
  }
}

/** Returns a function that gives the load of this thread's event loop since the function was last called, 0 to 1. */
export function loopLoad(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
}
