import type { Millis } from '../base/units.ts'
import { submit } from './accept-order.ts'
import { applyOutcome, countOutcome, endLostRequest, retry } from './apply-outcome.ts'
import { arm, execute, queue, refuseWithoutSlot, repeat, repeatNow, requestSlot } from './dispatch.ts'
import { cancel, end, endBlockedEntries, endIfBlocked, endOvertakenBuys, endRepeat, endRepeats } from './end-order.ts'
import type { Effect, FollowUp, OrderEvent } from './events.ts'
import { bookFee, bookLateFill } from './late-evidence.ts'
import { recover, resume } from './recover-orders.ts'
import { type Orders, Step } from './reducer-state.ts'

/** Applies one event to the state and returns the effects, which must be carried out in order. The function is pure: it
 *  calls nothing outside of the state, and it gets the time as an argument. Effects that may immediately cause further
 *  events (a commit, a report, a request for a request slot) come after all other effects. Only follow-up events may
 *  come after these, because the handlers of follow-up events read the state again. */
export function step(orders: Orders, event: OrderEvent, now: Millis, monotonicMs: number): readonly Effect[] {
  const one = new Step(orders, now, monotonicMs)
  apply(one, event)
  return one.effects
}

function apply(step: Step, event: OrderEvent): void {
  const { blocks, open } = step.orders
  switch (event.kind) {
    case 'submitted':
      submit(step, event.order)
      break
    case 'cancelled':
      cancel(step, event.orderId, event.code)
      break
    case 'recovered':
      recover(step, event.past)
      break
    case 'slotGranted':
      arm(step, event)
      break
    case 'queued':
      queue(step, event.working)
      break
    case 'slotWaitOver':
      refuseWithoutSlot(step, event.working, event.budget)
      break
    case 'retryDue':
      requestSlot(step, event.working, event.first)
      break
    case 'repeatDue':
      repeat(step, event.working)
      break
    case 'outcome':
      countOutcome(step, event.working, event.open, event.outcome)
      break
    case 'requestOver':
      endLostRequest(step, event.working, event.open, event.slot)
      break
    case 'lateFill':
      bookLateFill(step, event.attempt, event.fill, event.code)
      break
    case 'feePaid':
      bookFee(step, event.attempt, event.signature, event.feeLamports)
      break
    case 'trustChanged':
      blocks.setTrusted(event.account, event.isTrusted)
      if (!event.isTrusted) endRepeats(step)
      break
    case 'haltChanged':
      if (blocks.setHalted(event.account, event.isHalted)) endBlockedEntries(step, open.values())
      break
    case 'diskLowChanged':
      blocks.setDiskLow(event.isLow)
      if (event.isLow) endBlockedEntries(step, open.values())
      break
    case 'keyRefused':
      step.add({ kind: 'closeLimiter', limiter: event.limiter })
      step.follow({ kind: 'entriesBlocked' })
      break
    case 'keyAccepted':
      blocks.keyAccepted()
      step.add({ kind: 'openLimiter', limiter: event.limiter })
      break
    default:
      goOn(step, event)
  }
}

function goOn(step: Step, event: FollowUp): void {
  switch (event.kind) {
    case 'expired':
      end(step, event.working, 'expired', 'TTL')
      break
    case 'attemptDurable':
      execute(step, event.working, event.open)
      break
    case 'outcomeCounted':
      applyOutcome(step, event.working, event.open, event.outcome)
      break
    case 'slippageSeen':
      repeatNow(step, event.working, event.open)
      break
    case 'failureReported':
      retry(step, event.retry)
      break
    case 'entriesBlocked':
      endBlockedEntries(step, step.orders.open.values())
      break
    case 'entryBlocked':
      endIfBlocked(step, event.working)
      break
    case 'repeatsEnd':
      endRepeats(step)
      break
    case 'repeatEnds':
      endRepeat(step, event.working)
      break
    case 'buysOvertaken':
      endOvertakenBuys(step, event.exits)
      break
    case 'resumed':
      resume(step, event.working)
      break
  }
}
