import type { Clock, Outcome, Slot } from '../core/ports.ts'
import { REQUEST_LIMIT_MS } from './limiter.ts'
import type { WorkingOrder } from './working-order.ts'

/** Ends the request of the attempt that is out, as the limiter counts it: with its first outcome, unless that is that the answer is lost;
 *  then when it can not be under way any more. To be called before the attempt takes the outcome. */
export function endRequest(working: WorkingOrder, outcome: Outcome, clock: Clock, nowMs: number): void {
  const { slot, attempt, sentMs } = working
  const { limiter } = working.route
  if (slot === undefined) return
  if (outcome.kind === 'unknown') {
    if (attempt?.state === 'unknown') return // the timer below is set
    const leftMs = Math.max(0, Math.ceil(sentMs + REQUEST_LIMIT_MS - nowMs))
    clock.after(leftMs, () => release(working, slot))
  } else if (outcome.kind === 'unsent') {
    working.slot = undefined
    limiter.giveBack(slot)
  } else {
    release(working, slot)
    if (outcome.kind === 'refused' && outcome.code === 'RATE_LIMIT') limiter.throttled(slot, outcome.retryAfterMs)
  }
}

function release(working: WorkingOrder, slot: Slot): void {
  if (working.slot !== slot) return
  working.slot = undefined
  working.route.limiter.done(slot)
}
