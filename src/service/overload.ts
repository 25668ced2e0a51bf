import { performance } from 'node:perf_hooks'

/** What is let go: nothing; price updates; also trades. Never what belongs to a held token, never a new token. */
export type Shedding = 0 | 1 | 2

/** The loop has no second to spare above this share, and catches up below the other. */
const FULL = 0.97
const EASED = 0.85

/** How far the feed must be thinned out. One step up for each second in which the event loop never rested: rows then pile up in the
 *  socket, and everything, exits included, is decided on the past. One step down for each second in which it did. */
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
