import type { Millis } from './units.ts'

/** One decision of a run as its journal tells it, whatever was numbered how in it: an order, a refusal, a cancellation, an alarm, or a note. */
export interface Decision {
  readonly time: Millis
  readonly kind: string
  readonly bot: string
  readonly mint: string
  readonly code: string
  readonly reason: string
}
