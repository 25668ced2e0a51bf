import { assert } from '../base/errors.ts'
import type { Lamports, Millis } from '../base/units.ts'
import type { Fill } from '../engine/order.ts'
import { ATTEMPT_MOVES, type Attempt, type AttemptState, type AttemptStep, deadState } from './attempt.ts'
import type { Outcome } from './ports.ts'
import { codeOf } from './retry.ts'
import { feesOf, type WorkingOrder } from './working-order.ts'

/** Steps that are kept of one attempt, and characters of what was said at each: a chain that contradicts itself may go
 *  on for hours. */
const LONGEST_TRAIL = 20
const LONGEST_REASON = 200

/** The next attempt of an order, armed; the local executor builds before it arms, so there it starts a step earlier. */
export function nextAttempt(
  working: WorkingOrder,
  { armedAt, baseline, waitedMs }: Required<Pick<Attempt, 'armedAt' | 'baseline' | 'waitedMs'>>,
): Attempt {
  const { order, route } = working
  const number = ++working.attempts
  return {
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
    priorityFeeLamports: feeOf(working),
    price: order.price,
    armedAt,
    baseline,
    state: route.kind === 'local' ? 'built' : 'armed',
    signature: '',
    code: '',
    waitedMs,
  }
}

function feeOf(working: WorkingOrder): Lamports | null {
  const fees = feesOf(working)
  return fees[Math.min(working.refusedFees, fees.length - 1)] as Lamports | null
}

/** What had ended otherwise has executed. */
export function filledLate(attempt: Attempt, { signature }: Fill): Attempt {
  return { ...attempt, state: 'filled', signature, code: 'LATE_FILL' }
}

/** Moves the attempt to where the outcome puts it. A move that the table does not know is a bug of the executor's. */
export function advance(attempt: Attempt, outcome: Outcome, now: Millis): void {
  const before = attempt.code
  move(attempt, outcome)
  const { trail, state, code } = attempt
  if (trail !== undefined && (trail.length === LONGEST_TRAIL || (trail.at(-1)?.state === state && code === before)))
    return
  const reason = 'reason' in outcome ? outcome.reason.slice(0, LONGEST_REASON) : ''
  const step: readonly AttemptStep[] = [{ at: now, state, code, reason }]
  // Rows of before have the list as it was; `concat` makes room for no more than there is, and is fast between two
  // lists only.
  attempt.trail = trail === undefined ? step : trail.concat(step)
}

function move(attempt: Attempt, outcome: Outcome): void {
  const next = stateAfter(attempt, outcome)
  if (!ATTEMPT_MOVES[attempt.state].includes(next))
    assert(false, `attempt ${attempt.id} can not move from ${attempt.state} to ${next}`)
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

/** Not an end, and nothing is in doubt. */
export function isProgress(outcome: Outcome): outcome is Progress {
  const { kind } = outcome
  return kind === 'acked' || kind === 'verified' || kind === 'signed' || kind === 'sent'
}

/** What is only confirmed counts as landed: a fork may still take it back. */
function stateAfter({ executor }: Attempt, outcome: Outcome): AttemptState {
  if (outcome.kind === 'filled' || outcome.kind === 'reverted') return outcome.final ? outcome.kind : 'landed'
  if (outcome.kind === 'absent') return deadState(executor)
  return outcome.kind
}
