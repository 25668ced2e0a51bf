import { assert, type ErrorCode } from '../base/errors.ts'
import { isOpen } from '../engine/order.ts'
import { advance, isProgress } from './attempt-moves.ts'
import { repeatLater, requestSlot, requestSlotAfter } from './dispatch.ts'
import { end, unschedule } from './end-order.ts'
import type { Retry } from './events.ts'
import { hasOtherFee, raiseSlippage, skipFee } from './fee-and-slippage.ts'
import { addReport, commitReports, detailsOf, type ReportDetails, report } from './order-reports.ts'
import type { Outcome, Slot } from './ports.ts'
import type { Step } from './reducer-state.ts'
import { causeOf, codeOf, END, type Failure, type Move, moveAfter, RETRY, type Tries } from './retry-policy.ts'
import { REQUEST_LIMIT_MS } from './slot-log.ts'
import { isExecuted, isLatest, mayRepeat, type OpenAttempt, timeLeftMs, type WorkingOrder } from './working-order.ts'

/** Handles the outcome of an attempt that an executor reports. Informs the limiter first how the attempt used its
 *  request slot: if the request was never sent, another order may use the slot immediately. */
export function countOutcome(step: Step, working: WorkingOrder, open: OpenAttempt, outcome: Outcome): void {
  if (!working.openAttempts.includes(open)) assert(false, `attempt ${open.attempt.id} had an outcome after its end`)
  endRequest(step, working, open, outcome)
  step.follow({ kind: 'outcomeCounted', working, open, outcome })
}

/** Ends the request of an attempt at its first outcome. If the answer was lost, the request ends only REQUEST_LIMIT_MS
 *  after it was sent, when no answer can arrive any more. */
function endRequest(step: Step, working: WorkingOrder, open: OpenAttempt, outcome: Outcome): void {
  const { slot, attempt, sentMs } = open
  const { limiter } = working.route
  if (slot === undefined) return
  if (isUnanswered(outcome)) {
    if (attempt.state === 'unknown') return // the timer of `requestOver` is already set
    const ms = Math.max(0, Math.ceil(sentMs + REQUEST_LIMIT_MS - step.monotonicMs))
    step.add({ kind: 'after', ms, event: { kind: 'requestOver', working, open, slot } })
    return
  }
  open.slot = undefined
  if (outcome.kind === 'unsent') step.add({ kind: 'slotUnused', limiter, slot })
  else if (outcome.kind === 'refused' && outcome.code === 'RATE_LIMIT')
    step.add({ kind: 'slotThrottled', limiter, slot, retryAfterMs: outcome.retryAfterMs })
  else step.add({ kind: 'slotDone', limiter, slot })
}

function isUnanswered(outcome: Outcome): boolean {
  return outcome.kind === 'unknown' || (outcome.kind === 'refused' && outcome.code === 'BUILDER_SILENT')
}

export function endLostRequest(step: Step, working: WorkingOrder, open: OpenAttempt, slot: Slot): void {
  if (open.slot !== slot) return
  open.slot = undefined
  step.add({ kind: 'slotDone', limiter: working.route.limiter, slot })
}

export function applyOutcome(step: Step, working: WorkingOrder, open: OpenAttempt, outcome: Outcome): void {
  const { attempt } = open
  const { signature } = attempt
  advance(attempt, outcome, step.now)
  if (isProgress(outcome) || outcome.kind === 'filled') step.orders.blocks.planAccepted(working.route)
  step.write({ kind: 'attempt', attempt: { ...attempt } })
  if (open.hasFilled && (outcome.kind !== 'filled' || outcome.fill.signature !== signature))
    reverseFill(step, working, open, signature)
  if (outcome.kind === 'filled') fill(step, working, open, outcome)
  else if (outcome.kind === 'acked') stayOut(step, working, open, '', '')
  else if (isProgress(outcome))
    return // the next commit makes this durable; there is one before the bytes leave
  else if (outcome.kind === 'unknown') stayOut(step, working, open, 'ANSWER_LOST', outcome.reason)
  else if (outcome.kind === 'undecided') hold(step, working, open, outcome.reason)
  else if (outcome.kind === 'reverted' && !outcome.final) revertProvisionally(step, working, open, outcome.code)
  else fail(step, working, open, outcome)
}

function fill(
  step: Step,
  working: WorkingOrder,
  open: OpenAttempt,
  { fill: made, final }: Extract<Outcome, { kind: 'filled' }>,
): void {
  step.write({ kind: 'fill', fill: made })
  if (isOpen(working.state)) step.orders.lanes.free(working.order)
  unschedule(step, working)
  open.hasFilled = true
  if (final) {
    working.executed = true
    closeAttempt(step, working, open, true)
  }
  report(step, working, 'filled', '', { attemptId: made.attemptId, fill: made })
}

/** Reverses a fill that a fork removed. The order opens again, unless another of its attempts has executed. */
function reverseFill(step: Step, working: WorkingOrder, open: OpenAttempt, signature: string): void {
  open.hasFilled = false
  const isOver = isExecuted(working)
  if (!isOver) step.orders.lanes.reopen(working.order)
  const details = { attemptId: open.attempt.id, reversed: signature }
  addReport(step, working, isOver ? 'filled' : 'working', 'REVERSED', details)
}

/** Keeps an attempt open, because it may still execute. Its order then blocks other orders of its lane (account, mint
 *  and side). Sends a report only if the code of the order changes. */
function stayOut(
  step: Step,
  working: WorkingOrder,
  { attempt }: OpenAttempt,
  code: ErrorCode | '',
  reason: string,
): void {
  repeatLater(step, working)
  const isChange = working.state === 'working' && working.code !== code
  if (isChange) report(step, working, 'working', code, { attemptId: attempt.id, reason })
  else commitReports(step)
}

function revertProvisionally(step: Step, working: WorkingOrder, open: OpenAttempt, code: ErrorCode): void {
  stayOut(step, working, open, code, 'not final yet')
  if (code === 'SLIPPAGE_EXCEEDED') step.follow({ kind: 'slippageSeen', working, open })
}

/** Handles contradictory evidence about an attempt. The order is held until an operator or later evidence decides it,
 *  unless another attempt or a repeat may still decide the order. */
function hold(step: Step, working: WorkingOrder, open: OpenAttempt, reason: string): void {
  const isStuck = working.openAttempts.every(({ attempt }) => attempt.state === 'undecided') && !mayRepeat(working)
  if (!isStuck || !isOpen(working.state)) stayOut(step, working, open, 'HELD', reason)
  else report(step, working, 'held', 'HELD', { attemptId: open.attempt.id, reason })
}

/** Ends an attempt that is proved not to have executed. The retry table decides whether another attempt follows, unless
 *  there is a later attempt already. */
function fail(step: Step, working: WorkingOrder, open: OpenAttempt, failure: Failure): void {
  const { order, openAttempts } = working
  const { blocks, open: orders } = step.orders
  const cause = causeOf(failure)
  const code = codeOf(failure)
  const details = detailsOf(open.attempt, failure)
  const mayGoOn = isLatest(working, open) && blocks.mayRepeat(open.attempt, failure, cause)
  closeAttempt(step, working, open, !isOpen(working.state))
  working.refusedFor = failure.kind === 'refused' ? cause : undefined
  if (cause === 'key') step.add({ kind: 'closeLimiter', limiter: working.route.limiter })
  if (cause === 'plan') blocks.planRefused(working.route)
  const leftMs = timeLeftMs(working, step.now, step.monotonicMs)
  const tries = triesOf(working, open.slippageStep, failure, step.now - order.time, leftMs)
  const move = mayGoOn ? moveAfter(cause, tries) : END
  const calledOff = orders.couldBeSold(order) ? 'EXIT_UNPROVED' : blocks.calledOff(working)
  if (isExecuted(working) || !isOpen(working.state)) failExecuted(step, working, code, details)
  else if (openAttempts.length === 0 && (move.kind === 'end' || working.state === 'held'))
    end(step, working, RETRY[cause].ends, code, details)
  else if (calledOff !== undefined) end(step, working, 'refused', calledOff, details)
  else if (move.kind === 'again' && move.afterMs > leftMs) end(step, working, 'expired', 'TTL', details)
  else reportFailure(step, working, open, move, code, details)
  if (cause === 'key' || cause === 'plan') step.follow({ kind: 'entriesBlocked' })
}

/** Returns what the retry table needs to know about a failed attempt. `step`: index of the slippage with which the
 *  attempt failed. */
function triesOf(
  working: WorkingOrder,
  step: number,
  failure: Failure,
  sinceDecisionMs: number,
  leftMs: number,
): Tries {
  const { order, waits } = working
  return {
    class: order.class,
    waits,
    step,
    steps: order.slippagePercents.length,
    hasOtherFee: hasOtherFee(working),
    retryAfterMs: failure.kind === 'refused' ? failure.retryAfterMs : undefined,
    sinceDecisionMs,
    leftMs,
  }
}

/** Reports a failed attempt of an order that has already executed or ended. If the order has executed, the execution
 *  belongs to another attempt; after a restart, it may also be a duplicate execution of this attempt by the service. */
function failExecuted(step: Step, working: WorkingOrder, code: ErrorCode, details: ReportDetails): void {
  const { state, openAttempts } = working
  if (!isOpen(state)) report(step, working, state, '', { ...details, reason: `${details.attemptId}: ${code}` })
  else if (openAttempts.length > 0) report(step, working, state, code, details)
  else end(step, working, 'filled', 'LATE_FILL', details)
}

function reportFailure(
  step: Step,
  working: WorkingOrder,
  open: OpenAttempt,
  move: Move,
  code: ErrorCode,
  details: ReportDetails,
): void {
  const state = working.state === 'held' ? 'held' : working.openAttempts.length > 0 ? 'working' : 'accepted'
  report(step, working, state, code, details)
  step.follow({ kind: 'failureReported', retry: { working, open, move, code, state } })
}

/** Retries an order after the engine has received the report of its failure. Does nothing if the engine has cancelled
 *  the order in response, or if the order is held. */
export function retry(step: Step, { working, open, move, code, state }: Retry): void {
  if (working.state !== state || state === 'held') return
  const first = working.order.class === 'exit'
  if (move.kind === 'end') {
    if (code !== 'ABSENT') working.failures++
    repeatLater(step, working)
  } else if (move.kind === 'again') {
    working.waits++
    requestSlotAfter(step, working, move.afterMs, first)
  } else {
    if (move.kind === 'climb') raiseSlippage(working, open.slippageStep)
    if (move.kind === 'otherFee') skipFee(working, open.attempt)
    if (move.kind !== 'hold') working.waits = 0
    if (move.kind === 'climb' && move.afterMs > 0) requestSlotAfter(step, working, move.afterMs, first)
    else requestSlot(step, working, first)
  }
}

/** Removes an attempt that has ended. Also removes its order if the order has ended and this was its last open
 *  attempt. */
function closeAttempt(step: Step, working: WorkingOrder, open: OpenAttempt, isOver: boolean): void {
  const { openAttempts } = working
  openAttempts.splice(openAttempts.indexOf(open), 1)
  if (isOver && openAttempts.length === 0) step.orders.open.remove(working)
}
