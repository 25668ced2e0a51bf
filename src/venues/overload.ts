import { performance } from 'node:perf_hooks'

/** What is let go: nothing; price updates; also trades. Never what belongs to a held token, never a new token. */
export type Shedding = 0 | 1 | 2

/** The loop has no second to spare above this share, and catches up below the other. */
const FULL = 0.97
const EASED = 0.85
/** An engine that is so far behind in a thread of its own has no second to spare either, and catches up below half of
 *  it. One that was lost and came back is behind for a second. */
const LATE_MS = 2_000

/** How far the feed must be thinned out. One step up for each second in which the event loop never rested: rows then
 *  pile up in the socket, and everything, exits included, is decided on the past. One step down for each second in
 *  which it did. */
export class Overload {
  level: Shedding = 0
  readonly #load: () => number

  /** `load`: share of the time since the last call that the event loop was busy, 0 to 1. */
  constructor(load: () => number) {
    this.#load = load
  }

  /** Once a second. */
  tick(): void {
    const load = this.#load()
    if (load >= FULL && this.level < 2) this.level++
    else if (load < EASED && this.level > 0) this.level--
  }
}

/** The load of whoever is the busier: the event loop, or the engine that is `lagMs` behind. */
export function busier(load: () => number, lagMs: () => number): () => number {
  return () => {
    const late = lagMs() / LATE_MS
    return Math.max(load(), late >= 1 ? FULL : late > 0.5 ? EASED : 0)
  }
}

/** The event loop of this thread. */
export function loopLoad(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
}
