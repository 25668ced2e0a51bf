import { assert } from '../base/errors.ts'
import { isFullExit, isOpen, type Order, type OrderState } from '../engine/order.ts'
import { isUndecided, isUnsigned } from './attempt.ts'
import { repeatLater, requestSlot } from './dispatch.ts'
import { overtakeBuys } from './end-order.ts'
import type { Effect } from './events.ts'
import { report } from './order-reports.ts'
import type { Step } from './reducer-state.ts'
import { isWaiting, restoreProgress, type Unfinished, type WorkingOrder, workingOrder } from './working-order.ts'

const ACCEPTED: Effect = { kind: 'failpoint', at: 'accepted' }

/** Accepts an order of the engine. Blocks its lane (account, mint and side) for other orders, and asks the limiter for
 *  a request slot. */
export function submit(step: Step, order: Order): void {
  const { lanes, open } = step.orders
  const working = newWorkingOrder(step, order, 'accepted')
  if (lanes.isReopened(order) && !lanes.takes(order)) {
    report(step, working, 'refused', 'LANE_BUSY')
    return
  }
  if (open.couldBeSold(order)) assert(false, `${order.id} buys a mint that an open full exit may still sell`)
  lanes.hold(order)
  open.add(working)
  step.add(ACCEPTED)
  const isExit = isFullExit(order)
  if (isExit) overtakeBuys(step, order)
  requestSlot(step, working, false)
  if (isExit) step.follow({ kind: 'buysOvertaken', exits: order })
}

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

function newWorkingOrder({ orders, now, monotonicMs }: Step, order: Order, state: OrderState): WorkingOrder {
  const deadlineMs = order.notAfter === null ? Number.POSITIVE_INFINITY : monotonicMs + order.notAfter - now
  return workingOrder(order, orders.routeOf(order), state, deadlineMs)
}
