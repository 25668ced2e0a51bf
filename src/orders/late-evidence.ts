import { assert } from '../base/errors.ts'
import type { Lamports, Millis } from '../base/units.ts'
import { type Fill, isFullExit, isOpen } from '../engine/order.ts'
import type { Attempt } from './attempt.ts'
import { filledLate, nextAttempt } from './attempt-moves.ts'
import { end, unschedule } from './end-order.ts'
import type { LateCode } from './events.ts'
import { report, reportEnded } from './order-reports.ts'
import type { Orders, Step } from './reducer-state.ts'
import { isWaiting, type OpenAttempt, openAttempt, type WorkingOrder } from './working-order.ts'

/** Books an execution that is final on the chain and that the order did not expect: the execution of an attempt that
 *  had ended in another state, or a second execution. The execution is booked in every state of the order. An order
 *  that waits for its next attempt becomes filled. A full exit becomes filled even if other attempts of the exit are
 *  open. */
export function bookLateFill(step: Step, attempt: Attempt, fill: Fill, code: LateCode): void {
  const { open, lanes } = step.orders
  if (code === 'LATE_FILL') step.write({ kind: 'attempt', attempt: filledLate(attempt, fill) })
  step.write({ kind: 'fill', fill })
  const working = open.get(attempt.orderId)
  const details = { attemptId: attempt.id, fill }
  if (working === undefined) reportEnded(step, attempt.orderId, 'filled', code, details)
  else if (isWaiting(working)) end(step, working, 'filled', code, details)
  else {
    const isOver = isFullExit(working.order) && isOpen(working.state)
    working.executed = true
    unschedule(step, working)
    if (isOver) lanes.free(working.order)
    report(step, working, isOver ? 'filled' : working.state, code, details)
  }
  step.follow({ kind: 'trustChanged', account: attempt.account, isTrusted: false })
}

/** Books the fee of a transaction whose failure is final and which most likely belongs to this attempt. The failure
 *  does not end the attempt, because the service may have sent another transaction. */
export function bookFee(step: Step, attempt: Attempt, signature: string, feeLamports: Lamports): void {
  const working = orderOf(step.orders, attempt)
  const reason = `the transaction ${signature} failed; whether the service sent another one is unknown`
  report(step, working, working.state, working.code, { attemptId: attempt.id, feeLamports, reason })
}

/** Adds a stand-in to a full exit: an attempt to which an execution is booked if it is unknown which of several open
 *  attempts executed. A reversal of the fill by a fork is booked to the stand-in too. */
export function addStandIn(orders: Orders, attempt: Attempt, now: Millis): [WorkingOrder, OpenAttempt] {
  const working = orderOf(orders, attempt)
  const next = nextAttempt(working, now, 0, attempt.baseline)
  return [working, openAttempt(working, { ...next, state: 'unknown' }, undefined)]
}

function orderOf({ open }: Orders, attempt: Attempt): WorkingOrder {
  const working = open.get(attempt.orderId)
  assert(working !== undefined, `attempt ${attempt.id} is open, but its order is not`)
  return working
}
