import type { Millis } from '../core/units.ts'

/** `2026-01-31`, UTC. */
export function dateOf(time: Millis): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** `2026-01-31 14:03:12`, UTC. */
export function dateTimeOf(time: Millis): string {
  return new Date(time).toISOString().slice(0, 19).replace('T', ' ')
}
