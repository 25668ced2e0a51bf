import { assert } from '../base/errors.ts'
import type { Millis } from '../base/units.ts'
import { type Fill, withTag } from '../engine/order.ts'
import {
  ATTEMPT_MOVES,
  type Attempt,
  type AttemptState,
  type AttemptStep,
  type Baseline,
  deadState,
} from './attempt.ts'
import { feeAfter } from './fee-and-slippage.ts'
import type { Outcome } from './ports.ts'
import { codeOf } from './retry-policy.ts'
import type { WorkingOrder } from './working-order.ts'

/** Maximum number of steps in the record of an attempt (`trail`), and maximum number of characters of a reason. Without
 *  these limits, contradictory evidence that arrives for hours would make the record too large. */
const LONGEST_TRAIL = 20
const LONGEST_REASON = 200

/** Returns the next attempt of an order. Its state is `armed` (it may be sent). With the local executor it is `built`,
 *  because that executor still has to build and verify a transaction before it signs. */
export function nextAttempt(
  working: WorkingOrder,
  armedAt: Millis,
  waitedMs: number,
  baseline: Baseline | null,
): Attempt {
  const { order, route } = working
  const number = ++working.attempts
  const attempt: Attempt = {
    id: `${order.id}.${number}`,
    orderId: order.id,
    account: order.account,
    bot: order.bot,
    executor: route.kind,
    mint: order.mint,
    side: order.side,
    class: order.class,
    size: order.size,
    slippagePercent: order.slippagePercents[working.slippageStep] as number,
    priorityFeeLamports: feeAfter(working, working.refusedFees),
    price: order.price,
    armedAt,
    baseline,
    state: route.kind === 'local' ? 'built' : 'armed',
    signature: '',
    code: '',
    waitedMs,
  }
  return withTag(attempt, order.tag)
}

/** Returns the attempt in the state `filled`, although it had ended in another state. */
export function filledLate(attempt: Attempt, { signature }: Fill): Attempt {
  return { ...attempt, state: 'filled', signature, code: 'LATE_FILL' }
}

/** Changes the state of an attempt by an outcome. A change that ATTEMPT_MOVES does not list is a bug of the executor
 *  and fails an assertion. */
export function advance(attempt: Attempt, outcome: Outcome, now: Millis): void {
  const before = attempt.code
  move(attempt, outcome)
  const { trail, state, code } = attempt
  if (trail !== undefined && (trail.length === LONGEST_TRAIL || (trail.at(-1)?.state === state && code === before)))
    return
  const reason = 'reason' in outcome ? outcome.reason.slice(0, LONGEST_REASON) : ''
  const step: readonly AttemptStep[] = [{ at: now, state, code, reason }]
  // A new list replaces the old one, because records that are already written share the old list. `concat` of two
  // arrays is fast and allocates no unused space.
  attempt.trail = trail === undefined ? step : trail.concat(step)
}

function move(attempt: Attempt, outcome: Outcome): void {
  const next = stateAfter(attempt, outcome)
  if (!ATTEMPT_MOVES[attempt.state].includes(next))
    assert(false, `attempt ${attempt.id} cannot move from ${attempt.state} to ${next}`)
  attempt.state = next
  switch (outcome.kind) {
    case 'filled':
      attempt.signature = outcome.fill.signature
      attempt.code = ''
      return
    case 'acked':
    case 'signed':
    case 'sent':
      attempt.signature = outcome.signature
      attempt.code = ''
      return
    case 'verified':
      return
    case 'unknown':
      if (outcome.signature !== undefined) attempt.signature = outcome.signature
      attempt.code = 'ANSWER_LOST'
      return
    case 'reverted':
      attempt.signature = outcome.signature
      attempt.code = outcome.code
      return
    case 'undecided':
      attempt.code = 'HELD'
      return
    default:
      attempt.code = codeOf(outcome)
  }
}

type Progress = Extract<Outcome, { kind: 'acked' | 'verified' | 'signed' | 'sent' }>

/** Whether an outcome is an intermediate step, so that the attempt goes on. */
export function isProgress(outcome: Outcome): outcome is Progress {
  const { kind } = outcome
  return kind === 'acked' || kind === 'verified' || kind === 'signed' || kind === 'sent'
}

/** Returns the state of an attempt after an outcome. A provisional execution gives the state `landed` until it is
 *  final, because a fork may reverse it. */
function stateAfter({ executor }: Attempt, outcome: Outcome): AttemptState {
  if (outcome.kind === 'filled' || outcome.kind === 'reverted') return outcome.final ? outcome.kind : 'landed'
  if (outcome.kind === 'absent') return deadState(executor)
  return outcome.kind
}
