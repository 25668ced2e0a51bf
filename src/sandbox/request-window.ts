import type { Dialect } from './dialect.ts'

/** A request's place in the limit. `resetMs`: until a further one may be accepted. */
export interface Admission {
  accepted: boolean
  limit: number
  remaining: number
  resetMs: number
}

export interface RequestWindow {
  admit(now: number): Admission
}

const WINDOW_MS = 60_000

/** At most `limit` requests a minute, by arrival. */
export function requestWindow(
  limit: number,
  { window, refusedCount }: Pick<Dialect, 'window' | 'refusedCount'>,
): RequestWindow {
  const countsRefused = refusedCount === 'yes'
  return window === 'sliding' ? slidingWindow(limit, countsRefused) : fixedWindow(limit, countsRefused)
}

function slidingWindow(limit: number, countsRefused: boolean): RequestWindow {
  const arrivals: number[] = []
  return {
    admit(now) {
      while (arrivals.length > 0 && arrivals[0]! <= now - WINDOW_MS) arrivals.shift()
      const accepted = arrivals.length < limit
      if (accepted || countsRefused) arrivals.push(now)
      // With refused ones counted, the oldest that must leave is further back.
      const blocking = arrivals[Math.max(0, arrivals.length - limit)] ?? now
      return {
        accepted,
        limit,
        remaining: Math.max(0, limit - arrivals.length),
        resetMs: Math.max(0, blocking + WINDOW_MS - now),
      }
    },
  }
}

function fixedWindow(limit: number, countsRefused: boolean): RequestWindow {
  let minute = -1
  let count = 0
  return {
    admit(now) {
      const current = Math.floor(now / WINDOW_MS)
      if (current !== minute) {
        minute = current
        count = 0
      }
      const accepted = count < limit
      if (accepted || countsRefused) count++
      return { accepted, limit, remaining: Math.max(0, limit - count), resetMs: (current + 1) * WINDOW_MS - now }
    },
  }
}
