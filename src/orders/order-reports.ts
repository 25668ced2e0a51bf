import { assert, ERRORS, type ErrorCode } from '../base/errors.ts'
import { type ExecutionReport, isFullExit, ORDER_MOVES, type OrderState } from '../engine/order.ts'
import type { Attempt } from './attempt.ts'
import type { Effect, NumberedReport } from './events.ts'
import type { Step } from './reducer-state.ts'
import type { Failure } from './retry-policy.ts'
import type { WorkingOrder } from './working-order.ts'

/** Optional parts of a report. */
export type ReportDetails = Partial<Pick<ExecutionReport, 'attemptId' | 'reason' | 'fill' | 'reversed' | 'feeLamports'>>

const BEFORE_REPORT: Effect = { kind: 'failpoint', at: 'before-report' }
const AFTER_REPORT: Effect = { kind: 'failpoint', at: 'after-report' }
const NONE: ReportDetails = {}

export function detailsOf(attempt: Attempt, failure: Failure): ReportDetails {
  const attemptId = attempt.id
  if (failure.kind === 'reverted') return { attemptId, feeLamports: failure.feeLamports }
  return 'reason' in failure ? { attemptId, reason: failure.reason } : { attemptId }
}

/** Changes the state of the order and reports the new state. */
export function report(
  step: Step,
  working: WorkingOrder,
  state: OrderState,
  code: ErrorCode | '',
  details: ReportDetails = NONE,
): void {
  addReport(step, working, state, code, details)
  commitReports(step)
}

/** Changes the state of the order and writes a report. The next commit of this step also commits this report. */
export function addReport(
  step: Step,
  working: WorkingOrder,
  state: OrderState,
  code: ErrorCode | '',
  details: ReportDetails = NONE,
): void {
  step.unreported.push(writeReport(step, working, state, code, details))
}

/** Commits the reports that were added, and then delivers them. A report is durable before the engine receives it, so
 *  that a restart can deliver it again. */
export function commitReports(step: Step): void {
  const whenDurable: Effect[] = []
  if (step.unreported.length > 0) {
    step.add(BEFORE_REPORT)
    whenDurable.push(AFTER_REPORT)
    for (const report of step.unreported.splice(0)) whenDurable.push({ kind: 'report', report })
  }
  step.add({ kind: 'commit', whenDurable })
}

/** Changes the state of the order and writes the report. The caller commits and delivers it. */
export function writeReport(
  step: Step,
  working: WorkingOrder,
  state: OrderState,
  code: ErrorCode | '',
  details: ReportDetails = NONE,
): NumberedReport {
  if (state !== working.state && !ORDER_MOVES[working.state].includes(state))
    assert(false, `order ${working.order.id} cannot move from ${working.state} to ${state}`)
  working.state = state
  working.code = code
  return numbered(step, reportOf(working, state, code, details))
}

/** Writes and commits a report on an order that has ended and is no longer among the open orders. */
export function reportEnded(
  step: Step,
  orderId: string,
  state: OrderState,
  code: ErrorCode,
  details: ReportDetails,
): void {
  const written = numbered(step, { orderId, attemptId: '', state, code, reason: ERRORS[code], ...details })
  step.add({ kind: 'commit', whenDurable: [{ kind: 'report', report: written }] })
}

function numbered({ orders, effects }: Step, written: ExecutionReport): NumberedReport {
  const id = orders.nextReport++
  effects.push({ kind: 'write', record: { kind: 'report', id, report: written } })
  return { kind: 'report', id, report: written }
}

/** Returns a report. Assigning field by field is several times as fast as spreading, and this runs several times for
 *  every order. */
function reportOf(
  { order, openAttempts }: WorkingOrder,
  state: OrderState,
  code: ErrorCode | '',
  { attemptId, reason, fill, reversed, feeLamports }: ReportDetails,
): ExecutionReport {
  const made: { -readonly [K in keyof ExecutionReport]: ExecutionReport[K] } = {
    orderId: order.id,
    attemptId: attemptId ?? openAttempts.at(-1)?.attempt.id ?? '',
    state,
    code,
    reason: reason ?? (code === '' ? '' : ERRORS[code]),
  }
  if (isFullExit(order)) made.unproved = openAttempts.length
  if (fill !== undefined) made.fill = fill
  if (reversed !== undefined) made.reversed = reversed
  if (feeLamports !== undefined) made.feeLamports = feeLamports
  return made
}
