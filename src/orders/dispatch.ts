import type { CalledOff } from './attempt.ts'
import { nextAttempt } from './attempt-moves.ts'
import { type Budget, waitReason } from './budget-status.ts'
import { end, unschedule } from './end-order.ts'
import type { Effect, OrderEvent, SlotGranted } from './events.ts'
import { raiseSlippage } from './fee-and-slippage.ts'
import { writeReport } from './order-reports.ts'
import { ENTRY_WAIT_MS } from './plan-limiter.ts'
import type { Outcome } from './ports.ts'
import type { Step } from './reducer-state.ts'
import {
  isExecuted,
  isLatest,
  mayRepeat,
  type OpenAttempt,
  openAttempt,
  timeLeftMs,
  type WorkingOrder,
} from './working-order.ts'

/** The delay between repeats of a full exit doubles with each failed repeat, at most this many times. It grows because
 *  a refused repeat costs a request of the plan, and a reverted one costs a fee. */
const MOST_DOUBLINGS = 6

const CALLED_OFF: Readonly<Record<CalledOff, string>> = {
  EXIT_UNPROVED: 'a full exit of the mint was accepted before this order was sent',
  HALTED: 'entries were halted before this order was sent',
  DISK_LOW: 'the disk that holds the journal was nearly full before this order was sent',
}

const REPEATED = 'the order is sent again, because there is no evidence of an execution so far'

const COMMIT: Effect = { kind: 'commit', whenDurable: [] }
const ARMED: Effect = { kind: 'failpoint', at: 'armed' }
const BEFORE_EXECUTE: Effect = { kind: 'failpoint', at: 'before-execute' }
const AFTER_EXECUTE: Effect = { kind: 'failpoint', at: 'after-execute' }

/** Asks the limiter for a request slot for the next attempt. If `first` is true, the order goes to the head of the
 *  queue. */
export function requestSlot(step: Step, working: WorkingOrder, first: boolean): void {
  unschedule(step, working)
  const refusal = working.order.class === 'entry' ? step.orders.blocks.refusalOf(working) : undefined
  if (refusal !== undefined) {
    end(step, working, 'refused', refusal)
    return
  }
  working.isScheduled = true
  step.add({ kind: 'requestSlot', working, first, askedAt: step.now })
}

/** Asks the limiter for a request slot after a delay. */
export function requestSlotAfter(step: Step, working: WorkingOrder, ms: number, first: boolean): void {
  unschedule(step, working)
  schedule(step, working, ms, { kind: 'retryDue', working, first })
}

function schedule(step: Step, working: WorkingOrder, ms: number, event: OrderEvent): void {
  working.isScheduled = true
  step.add({ kind: 'schedule', working, ms, event })
}

/** Handles an order for which no request slot was free. Commits a new order now, without an attempt; if a slot had been
 *  free, one commit would have contained the order and its first attempt. Limits the time that an entry spends in the
 *  queue. */
export function queue(step: Step, working: WorkingOrder): void {
  if (working.attempts === 0) step.add(COMMIT)
  if (working.order.class !== 'entry') return
  const leftMs = timeLeft(step, working)
  if (leftMs < 0) end(step, working, 'expired', 'TTL')
  else step.add({ kind: 'limitSlotWait', working, ms: Math.min(leftMs, ENTRY_WAIT_MS) })
}

export function refuseWithoutSlot(step: Step, working: WorkingOrder, budget: Budget): void {
  end(step, working, 'refused', 'LIMIT_WAIT', { reason: waitReason(budget, step.now) })
}

/** Makes the order, the attempt and the request slot durable in one commit. The attempt may execute only after this
 *  commit. */
export function arm(step: Step, event: SlotGranted): void {
  const { working, slot, askedAt, baseline } = event
  unschedule(step, working)
  if (timeLeft(step, working) < 0) {
    step.add({ kind: 'slotUnused', limiter: working.route.limiter, slot })
    step.follow({ kind: 'expired', working })
    return
  }
  const isRepeated = working.openAttempts.length > 0
  const attempt = nextAttempt(working, step.now, step.now - askedAt, baseline)
  const open = openAttempt(working, attempt, slot)
  step.write({ kind: 'attempt', attempt: { ...attempt } })
  const report = writeReport(step, working, 'working', '', isRepeated ? { reason: REPEATED } : undefined)
  step.add(ARMED)
  const durable = { kind: 'attemptDurable', working, open } as const
  step.add({
    kind: 'commit',
    whenDurable: [
      { kind: 'report', report },
      { kind: 'event', event: durable },
    ],
  })
}

/** Executes an attempt that is durable. Checks first whether it may still be sent, because the commit took time. */
export function execute(step: Step, working: WorkingOrder, open: OpenAttempt): void {
  const unsent = whyUnsent(step, working)
  if (unsent !== undefined) {
    step.follow({ kind: 'outcome', working, open, outcome: unsent })
    return
  }
  step.add(BEFORE_EXECUTE)
  open.sentMs = step.monotonicMs
  step.add({ kind: 'execute', working, open })
  step.add(AFTER_EXECUTE)
  repeatLater(step, working)
}

function whyUnsent(step: Step, working: WorkingOrder): Outcome | undefined {
  if (timeLeft(step, working) < 0)
    return { kind: 'unsent', reason: 'the commit of the order took longer than the time to live of the order' }
  const code = step.orders.blocks.calledOff(working)
  if (code !== undefined) return { kind: 'unsent', code, reason: CALLED_OFF[code] }
  if (isExecuted(working)) return { kind: 'unsent', reason: 'an earlier attempt of the order has executed' }
  return undefined
}

/** Schedules a repeat of a full exit with the next slippage. The repeat is sent after the delay, unless there is
 *  evidence by then that the exit executed. Does nothing if an attempt is already scheduled. */
export function repeatLater(step: Step, working: WorkingOrder): void {
  const { repeatMs } = working.order
  if (repeatMs === null || !mayRepeat(working) || working.isScheduled) return
  const afterMs = repeatMs * 2 ** Math.min(working.failures, MOST_DOUBLINGS)
  schedule(step, working, afterMs, { kind: 'repeatDue', working })
}

export function repeat(step: Step, working: WorkingOrder): void {
  raiseSlippage(working, working.slippageStep)
  requestSlot(step, working, false)
}

/** Repeats a full exit immediately, because the chain shows that its latest attempt failed for slippage. The failure
 *  need not be final yet. */
export function repeatNow(step: Step, working: WorkingOrder, open: OpenAttempt): void {
  const isTop = open.slippageStep + 1 >= working.order.slippagePercents.length
  if (isTop || !isLatest(working, open) || !mayRepeat(working)) return
  raiseSlippage(working, open.slippageStep)
  requestSlot(step, working, true)
}

function timeLeft({ now, monotonicMs }: Step, working: WorkingOrder): number {
  return timeLeftMs(working, now, monotonicMs)
}
