import type { ErrorCode } from '../core/errors.ts'
import {
  type Attempt,
  type Baseline,
  type ExecutorKind,
  isOpen,
  isUndecided,
  laneOf,
  type Order,
  type OrderState,
} from '../core/order.ts'
import type { Cancel, Executor, Slot } from '../core/ports.ts'
import type { Limiter } from './limiter.ts'
import type { Failure, Tries } from './retry.ts'

/** How an account's orders go out: who carries them out, and the budget that their requests draw on. */
export interface Route {
  readonly kind: ExecutorKind
  readonly executor: Executor
  readonly limiter: Limiter
  /** The last finalized reading of the wallet, from memory: nothing is asked for it. */
  readonly baseline?: () => Baseline | null
}

/** An order on its way: in the line for a slot, waiting for its next try, or out with its attempt. */
export interface WorkingOrder {
  readonly order: Order
  readonly route: Route
  readonly lane: string
  /** End of its time to live on the monotonic clock; Infinity for exits. */
  readonly deadlineMs: number
  state: OrderState
  /** Why it is in that state; what was said last. */
  code: ErrorCode | ''
  /** Attempts so far. */
  attempts: number
  /** Index into the order's slippages. */
  step: number
  /** Repeats since the last climb. */
  waits: number
  /** The one that is out. */
  attempt: Attempt | undefined
  /** An attempt that had ended executed all the same: it will not end as anything but filled. */
  executed: boolean
  /** Slot of its request, while that is not known to be over. */
  slot: Slot | undefined
  /** When that request was sent, on the monotonic clock. */
  sentMs: number
  /** Leaves the line, or calls off the next try. */
  stopWaiting: Cancel | undefined
}

export function workingOrder(order: Order, route: Route, state: OrderState, deadlineMs: number): WorkingOrder {
  return {
    order,
    route,
    lane: laneOf(order),
    deadlineMs,
    state,
    code: '',
    attempts: 0,
    step: 0,
    waits: 0,
    attempt: undefined,
    executed: false,
    slot: undefined,
    sentMs: 0,
    stopWaiting: undefined,
  }
}

/** Puts an order of an earlier process where its attempts show it to be: one may still be out, the others have ended. */
export function takeUp(working: WorkingOrder, attempts: readonly Attempt[]): void {
  for (const attempt of attempts) {
    working.attempts = Math.max(working.attempts, Number(attempt.id.slice(attempt.id.lastIndexOf('.') + 1)))
    if (isUndecided(attempt.state)) working.attempt = { ...attempt }
    else if (attempt.code === 'SLIPPAGE_EXCEEDED') working.step++
    if (attempt.state === 'filled') working.executed = true
  }
  working.step = Math.min(working.step, working.order.slippagePercents.length - 1)
}

/** What the retry table asks of an order whose attempt has just failed. */
export function triesOf({ order, waits, step }: WorkingOrder, failure: Failure, sinceDecisionMs: number): Tries {
  const { class: orderClass, slippagePercents } = order
  const retryAfterMs = failure.kind === 'refused' ? failure.retryAfterMs : undefined
  return { class: orderClass, waits, step, steps: slippagePercents.length, sinceDecisionMs, retryAfterMs }
}

/** Not out yet, so that it may still be called off. */
export function isWaiting(working: WorkingOrder): boolean {
  return working.attempt === undefined && isOpen(working.state)
}
