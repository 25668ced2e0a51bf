import type { ErrorCode } from '../base/errors.ts'
import { isFullExit, isOpen, type Order, type OrderState } from '../engine/order.ts'
import { type ReportDetails, report } from './order-reports.ts'
import type { Step } from './reducer-state.ts'
import { RETRY } from './retry-policy.ts'
import { isWaiting, overtake, type WorkingOrder } from './working-order.ts'

/** Ends an order that has no open attempt. */
export function end(
  step: Step,
  working: WorkingOrder,
  state: OrderState,
  code: ErrorCode,
  details?: ReportDetails,
): void {
  unschedule(step, working)
  step.orders.lanes.free(working.order)
  step.orders.open.remove(working)
  report(step, working, state, code, details)
}

/** Takes an order out of the queue, or clears the timer for its next attempt. */
export function unschedule(step: Step, working: WorkingOrder): void {
  if (!working.isScheduled) return
  working.isScheduled = false
  step.add({ kind: 'unschedule', working })
}

/** Cancels an order that waits. If it may already be sent, sends a report with TOO_LATE instead. Does nothing for an
 *  order that has ended. */
export function cancel(step: Step, orderId: string, code: ErrorCode): void {
  const working = step.orders.open.get(orderId)
  if (working === undefined || !isOpen(working.state)) return
  if (isWaiting(working)) end(step, working, 'cancelled', code)
  else report(step, working, working.state, 'TOO_LATE')
}

/** Ends each waiting entry that is blocked, or that buys tokens which an open full exit could also sell. Each entry
 *  ends in its own step, because the engine must receive the report of one entry before the next entry ends. */
export function endBlockedEntries(step: Step, candidates: Iterable<WorkingOrder>): void {
  for (const working of candidates)
    if (blockOf(step, working) !== undefined) step.follow({ kind: 'entryBlocked', working })
}

export function endIfBlocked(step: Step, working: WorkingOrder): void {
  const code = blockOf(step, working)
  if (code !== undefined) end(step, working, 'refused', code)
}

function blockOf({ orders }: Step, working: WorkingOrder): ErrorCode | undefined {
  if (working.order.class === 'exit' || !isWaiting(working)) return undefined
  return orders.open.couldBeSold(working.order) ? 'EXIT_UNPROVED' : orders.blocks.refusalOf(working)
}

/** Ends the orders that wait for a retry after a refusal, if refusals of the service are no longer trusted in their
 *  account. */
export function endRepeats(step: Step): void {
  for (const working of step.orders.open.values())
    if (isRepeatOver(step, working)) step.follow({ kind: 'repeatEnds', working })
}

export function endRepeat(step: Step, working: WorkingOrder): void {
  const { refusedFor, code } = working
  if (refusedFor !== undefined && code !== '' && isRepeatOver(step, working))
    end(step, working, RETRY[refusedFor].ends, code)
}

function isRepeatOver({ orders }: Step, working: WorkingOrder): boolean {
  if (working.refusedFor === undefined || working.code === '' || !isWaiting(working)) return false
  return !orders.blocks.mayGoAgain(working)
}

/** Stops the buys of a mint that were accepted before a full exit of this mint: from now on, they are not sent, signed
 *  or retried. A buy that was signed may already have been sent. The stop is written to the journal before the exit
 *  becomes durable. */
export function overtakeBuys(step: Step, exit: Order): void {
  for (const working of step.orders.open.buysBefore(exit))
    for (const attempt of overtake(working)) step.write({ kind: 'attempt', attempt: { ...attempt } })
}

/** Ends the waiting buys that were accepted before a full exit. `exits`: that exit, or `all` after a restart. With
 *  `all`, every open full exit counts, and all entries that may no longer be sent are ended. */
export function endOvertakenBuys(step: Step, exits: 'all' | Order): void {
  const { open } = step.orders
  if (exits !== 'all') {
    endBlockedEntries(step, open.buysBefore(exits))
    return
  }
  for (const { order } of open.values()) if (isFullExit(order)) overtakeBuys(step, order)
  endBlockedEntries(step, open.values())
}
