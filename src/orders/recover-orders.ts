import type { Fill } from '../engine/order.ts'
import { isOpen } from '../engine/order.ts'
import { newWorkingOrder } from './accept-order.ts'
import { type Attempt, isUndecided, isUnsigned } from './attempt.ts'
import { repeatLater, requestSlot } from './dispatch.ts'
import { raiseSlippage, skipFee } from './fee-and-slippage.ts'
import type { Step } from './reducer-state.ts'
import { type Cause, causeOf } from './retry-policy.ts'
import { isWaiting, numberOf, openAttempt, type Unfinished, type WorkingOrder } from './working-order.ts'

/** Restores the orders of an earlier process. The outcomes of their attempts are looked up; no attempt is sent again.
 *  Exits are resumed before entries. */
export function recover(step: Step, { orders, attempts, untaken, fills }: Unfinished): void {
  const { lanes, open } = step.orders
  const reported = new Map(untaken.map(({ report: { orderId, state } }) => [orderId, state]))
  const restored: WorkingOrder[] = []
  for (const { order, state: known } of orders) {
    const state = reported.get(order.id) ?? known
    const own = attempts.filter((attempt) => attempt.orderId === order.id)
    if (!isOpen(state) && !own.some((attempt) => isUndecided(attempt.state))) continue
    const working = newWorkingOrder(step, order, state)
    // If the order had ended for the engine but is open here, a fork has reopened it.
    const isInLane = isOpen(known) && lanes.takes(order)
    if (isOpen(state)) isInLane ? lanes.hold(order) : lanes.reopen(order)
    open.add(working)
    restoreProgress(working, own, fills)
    for (const attempt of own.filter((one) => isUnsigned(one.state)))
      step.write({ kind: 'attempt', attempt: { ...attempt, state: 'unsent', code: attempt.code || 'CRASHED' } })
    restored.push(working)
  }
  // Reports are delivered only after every order has been restored. The engine may answer a report with a new order,
  // which must not overtake an order that is not restored yet.
  for (const one of untaken) step.add({ kind: 'report', report: one })
  step.follow({ kind: 'buysOvertaken', exits: 'all' })
  step.follow({ kind: 'repeatsEnd' })
  restored.sort((a, b) => Number(a.order.class === 'entry') - Number(b.order.class === 'entry'))
  for (const working of restored) step.follow({ kind: 'resumed', working })
}

export function resume(step: Step, working: WorkingOrder): void {
  for (const open of working.openAttempts) step.add({ kind: 'resume', working, open })
  repeatLater(step, working)
  if (isWaiting(working)) requestSlot(step, working, false)
}

/** Restores the progress of an order from its attempts, oldest first. `fills`: known fills, including those of
 *  executions that the service duplicated. */
function restoreProgress(working: WorkingOrder, attempts: readonly Attempt[], fills: readonly Fill[]): void {
  working.executed = fills.some(({ orderId, final }) => final && orderId === working.order.id)
  for (const attempt of attempts) {
    working.attempts = numberOf(attempt)
    working.slippageStep = Math.max(0, working.order.slippagePercents.indexOf(attempt.slippagePercent))
    if (isUndecided(attempt.state)) openAttempt(working, { ...attempt }, undefined)
    else if (attempt.code === 'SLIPPAGE_EXCEEDED') raiseSlippage(working, working.slippageStep)
    if (attempt.state === 'refused' && attempt.code === 'PRIORITY_FEE') skipFee(working, attempt)
    if (attempt.state === 'filled') working.executed = true
    if (attempt.code === 'EXIT_UNPROVED') working.overtaken = true
    working.refusedFor = causeOfRefused(attempt)
    if (working.refusedFor !== undefined) working.code = attempt.code
  }
}

function causeOfRefused({ state, code }: Attempt): Cause | undefined {
  if (state !== 'refused' || code === '') return undefined
  return causeOf({ kind: 'refused', code, reason: '', retry: code === 'RATE_LIMIT' ? 'wait' : 'never' })
}
