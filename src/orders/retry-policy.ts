import type { ErrorCode } from '../base/errors.ts'
import { MOST_BUY_STEPS, type OrderClass, type OrderState } from '../engine/order.ts'
import { LONGEST_RETRY_AFTER_MS } from './plan-limiter.ts'
import type { Outcome } from './ports.ts'

/** Reason why an attempt did not execute. */
export type Cause = 'unsent' | 'throttled' | 'slippage' | 'fee' | 'key' | 'plan' | 'refused' | 'reverted' | 'absent'

/** What happens after a failed attempt. backoff: repeat after 0.5, 1, 2, 4 ... s, or after the service's Retry-After.
 *  climb: retry with the order's next slippage; an exit immediately, an entry after 0.5 s and then after 1 s, so that
 *  the engine may cancel it in between. otherFee: retry immediately with another priority fee. hold: wait at the head
 *  of the queue until the service accepts the key, or until the key is tried again. minute: repeat after a minute. end:
 *  no retry; another try would be a new order with its own record. */
export type Policy = 'backoff' | 'climb' | 'otherFee' | 'hold' | 'minute' | 'end'

/** For each cause of a failure: the retry policy for exits and for entries, and the state in which an order ends if it
 *  is not retried. The table applies only to attempts that are proved not to have executed. An attempt without this
 *  proof is never retried. */
export const RETRY: Readonly<Record<Cause, { exit: Policy; entry: Policy; ends: OrderState }>> = {
  unsent: { exit: 'backoff', entry: 'backoff', ends: 'expired' },
  throttled: { exit: 'backoff', entry: 'backoff', ends: 'expired' },
  slippage: { exit: 'climb', entry: 'climb', ends: 'failed' },
  fee: { exit: 'otherFee', entry: 'end', ends: 'failed' },
  key: { exit: 'hold', entry: 'end', ends: 'refused' },
  plan: { exit: 'minute', entry: 'end', ends: 'refused' },
  refused: { exit: 'end', entry: 'end', ends: 'failed' },
  reverted: { exit: 'end', entry: 'end', ends: 'failed' },
  absent: { exit: 'end', entry: 'end', ends: 'not_executed' },
}

const FIRST_BACKOFF_MS = 500
const LONGEST_BACKOFF_MS = 8_000
const PLAN_RETRY_MS = 60_000
/** Maximum time after the decision for a buy within which the buy is retried with more slippage, ms. */
const BUY_CLIMB_WITHIN_MS = 3_000

/** An attempt that is proved not to have executed. */
export type Failure = Extract<Outcome, { kind: 'refused' | 'unsent' | 'reverted' | 'absent' }>

export function causeOf(failure: Failure): Cause {
  if (failure.kind === 'unsent' || failure.kind === 'absent') return failure.kind
  if (failure.code === 'SLIPPAGE_EXCEEDED') return 'slippage'
  if (failure.kind === 'reverted') return 'reverted'
  if (failure.code === 'PRIORITY_FEE') return 'fee'
  if (failure.code === 'AUTHENTICATION_FAILED' || failure.code === 'KEY_REFUSED') return 'key'
  if (failure.code === 'PLAN_REFUSED') return 'plan'
  if (failure.retry === 'never') return 'refused'
  return failure.retry === 'wait' ? 'throttled' : 'slippage'
}

/** Returns the error code that the user sees for a failed attempt. */
export function codeOf(failure: Failure): ErrorCode {
  if (failure.kind === 'unsent') return failure.code ?? 'UNSENT'
  if (failure.kind === 'absent') return failure.code ?? 'ABSENT'
  return failure.code === 'AUTHENTICATION_FAILED' ? 'KEY_REFUSED' : failure.code
}

export interface Tries {
  readonly class: OrderClass
  /** Number of repeats so far with the present slippage. */
  readonly waits: number
  /** Index of the slippage that was tried last; `steps` is the number of slippages. */
  readonly step: number
  readonly steps: number
  /** Whether another priority fee is left to try. */
  readonly hasOtherFee: boolean
  readonly sinceDecisionMs: number
  /** Time in ms until the order may not be sent any more; Infinity for exits. */
  readonly leftMs: number
  readonly retryAfterMs: number | undefined
}

export type Move = { kind: 'again' | 'climb'; afterMs: number } | { kind: 'otherFee' | 'hold' | 'end' }

export const END: Move = { kind: 'end' }
const HOLD: Move = { kind: 'hold' }

export function moveAfter(cause: Cause, tries: Tries): Move {
  switch (RETRY[cause][tries.class]) {
    case 'backoff':
      return { kind: 'again', afterMs: backoffMs(tries) }
    case 'climb':
      return climbAfter(tries)
    case 'otherFee':
      return { kind: tries.hasOtherFee ? 'otherFee' : 'end' }
    case 'hold':
      return HOLD
    case 'minute':
      return { kind: 'again', afterMs: PLAN_RETRY_MS }
    case 'end':
      return END
  }
}

function backoffMs({ waits, retryAfterMs }: Tries): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS)
  return Math.min(FIRST_BACKOFF_MS * 2 ** waits, LONGEST_BACKOFF_MS)
}

function climbAfter({ class: kind, step, steps, sinceDecisionMs, leftMs }: Tries): Move {
  if (step + 1 >= steps) return END
  if (kind === 'exit') return { kind: 'climb', afterMs: 0 }
  const afterMs = FIRST_BACKOFF_MS * 2 ** step
  const isInTime = sinceDecisionMs + afterMs <= BUY_CLIMB_WITHIN_MS && afterMs <= leftMs
  return isInTime && step + 1 < MOST_BUY_STEPS ? { kind: 'climb', afterMs } : END
}
