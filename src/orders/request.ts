import type { Clock } from '../base/machine.ts'
import type { Limiter } from './limiter.ts'
import type { Outcome, Slot } from './ports.ts'
import { REQUEST_LIMIT_MS } from './slot-log.ts'
import type { Flight } from './working-order.ts'

/** Ends the request of an attempt that is out, as the limiter counts it: with its first outcome, unless that is that
 *  the answer is lost; then when it can not be under way any more. To be called before the attempt takes the
 *  outcome. */
export function endRequest(flight: Flight, limiter: Limiter, outcome: Outcome, clock: Clock, nowMs: number): void {
  const { slot, attempt, sentMs } = flight
  if (slot === undefined) return
  if (isUnanswered(outcome)) {
    if (attempt.state === 'unknown') return // the timer below is set
    const leftMs = Math.max(0, Math.ceil(sentMs + REQUEST_LIMIT_MS - nowMs))
    clock.after(leftMs, () => release(flight, limiter, slot))
  } else if (outcome.kind === 'unsent') {
    flight.slot = undefined
    limiter.giveBack(slot)
  } else {
    flight.slot = undefined
    if (outcome.kind === 'refused' && outcome.code === 'RATE_LIMIT') limiter.throttled(slot, outcome.retryAfterMs)
    else limiter.done(slot)
  }
}

/** The request may still be under way. */
function isUnanswered(outcome: Outcome): boolean {
  return outcome.kind === 'unknown' || (outcome.kind === 'refused' && outcome.code === 'BUILDER_SILENT')
}

function release(flight: Flight, limiter: Limiter, slot: Slot): void {
  if (flight.slot !== slot) return
  flight.slot = undefined
  limiter.done(slot)
}
