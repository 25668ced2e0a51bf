import { assert } from '../base/errors.ts'
import { isFullExit, type Order, type OrderState } from '../engine/order.ts'
import { requestSlot } from './dispatch.ts'
import { overtakeBuys } from './end-order.ts'
import type { Effect } from './events.ts'
import { report } from './order-reports.ts'
import type { Step } from './reducer-state.ts'
import { type WorkingOrder, workingOrder } from './working-order.ts'

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

/** Returns an order of the engine in the form in which the order path keeps it, still without attempts. */
export function newWorkingOrder({ orders, now, monotonicMs }: Step, order: Order, state: OrderState): WorkingOrder {
  const deadlineMs = order.notAfter === null ? Number.POSITIVE_INFINITY : monotonicMs + order.notAfter - now
  return workingOrder(order, orders.routeOf(order), state, deadlineMs)
}
