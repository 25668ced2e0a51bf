import type { ErrorCode } from '../base/errors.ts'
import { MOST_BUY_STEPS, type OrderClass, type OrderState } from '../engine/order.ts'
import { LONGEST_RETRY_AFTER_MS } from './limiter.ts'
import type { Outcome } from './ports.ts'

/** Why an attempt did not execute. */
export type Cause = 'unsent' | 'throttled' | 'slippage' | 'fee' | 'key' | 'plan' | 'refused' | 'reverted' | 'absent'

/** backoff: the same again after 0.5, 1, 2, 4 ... s, or when the service asked for it. climb: with the next of the
 *  order's slippages: an exit at once, an entry after 0.5 and 1 s, in which the engine may call it off. otherFee: at
 *  once, with another priority fee than the one that was refused. hold: at the head of the line until the key is
 *  accepted, or worth another try. minute: the same again in a minute. end: never; a new try is a new order, and so in
 *  the journal. */
export type Policy = 'backoff' | 'climb' | 'otherFee' | 'hold' | 'minute' | 'end'

/** What follows on what, and what the order is when nothing follows. An attempt of which it is not proved that it did
 *  not execute is not in here: nothing follows on that. */
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
/** A buy climbs only while what it was decided on is fresh. */
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

/** The code that the user sees. */
export function codeOf(failure: Failure): ErrorCode {
  if (failure.kind === 'unsent') return failure.code ?? 'UNSENT'
  if (failure.kind === 'absent') return failure.code ?? 'ABSENT'
  return failure.code === 'AUTHENTICATION_FAILED' ? 'KEY_REFUSED' : failure.code
}

export interface Tries {
  readonly class: OrderClass
  /** Repeats without a climb so far. */
  readonly waits: number
  /** Which of the order's slippages was tried last, and how many there are. */
  readonly step: number
  readonly steps: number
  /** Whether there is another priority fee to ask for. */
  readonly hasOtherFee: boolean
  readonly sinceDecisionMs: number
  /** Until the order may not be sent any more; Infinity for exits. */
  readonly leftMs: number
  readonly retryAfterMs: number | undefined
}

export type Move = { kind: 'again' | 'climb'; afterMs: number } | { kind: 'otherFee' | 'hold' | 'end' }

export function moveAfter(cause: Cause, tries: Tries): Move {
  switch (RETRY[cause][tries.class]) {
    case 'backoff':
      return { kind: 'again', afterMs: backoffMs(tries) }
    case 'climb':
      return climbAfter(tries)
    case 'otherFee':
      return { kind: tries.hasOtherFee ? 'otherFee' : 'end' }
    case 'hold':
      return { kind: 'hold' }
    case 'minute':
      return { kind: 'again', afterMs: PLAN_RETRY_MS }
    case 'end':
      return { kind: 'end' }
  }
}

function backoffMs({ waits, retryAfterMs }: Tries): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS)
  return Math.min(FIRST_BACKOFF_MS * 2 ** waits, LONGEST_BACKOFF_MS)
}

function climbAfter({ class: kind, step, steps, sinceDecisionMs, leftMs }: Tries): Move {
  if (step + 1 >= steps) return { kind: 'end' }
  if (kind === 'exit') return { kind: 'climb', afterMs: 0 }
  const afterMs = FIRST_BACKOFF_MS * 2 ** step
  const isInTime = sinceDecisionMs + afterMs <= BUY_CLIMB_WITHIN_MS && afterMs <= leftMs
  return isInTime && step + 1 < MOST_BUY_STEPS ? { kind: 'climb', afterMs } : { kind: 'end' }
}
