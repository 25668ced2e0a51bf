import type { Clock } from '../core/ports.ts'

/** Real time. Tests give the market and the chain a simulated one. */
export const systemClock: Clock = {
  now: Date.now,
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}
