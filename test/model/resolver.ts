import { boundNow, endAttempt, handOut, setOrder } from './gateway.ts'
import { type Case, holds } from './scenario.ts'
import { type AttemptRow, isFinal, isOpen, isUndecided, type State } from './state.ts'
import { attemptName, type Steps } from './steps.ts'

/** The steps of the resolver and of the audit, except those for evidence and absence, which have their own files. */
export function resolverSteps(scenario: Case, state: State, steps: Steps): void {
  if (state.memory === null) return
  for (const [index, attempt] of state.journal.attempts.entries()) {
    waitStep(scenario, state, index, attempt, steps)
    revertedStep(scenario, state, index, attempt, steps)
    resendStep(scenario, state, index, attempt, steps)
  }
  classifyStep(scenario, state, steps)
}

/**
 * Computes the last valid block of a cloud attempt from the present height. If the signature of the attempt is known,
 * this happens immediately. Otherwise it happens after the wait for a late execution, which starts when the connection
 * ends, or at a restart. After this wait, the service builds no further transaction (assumption A1).
 */
function waitStep(scenario: Case, state: State, index: number, attempt: AttemptRow, steps: Steps): void {
  const { mutant } = scenario
  if ((attempt.state !== 'unknown' && attempt.state !== 'acked') || attempt.bound !== null) return
  if (state.posts[index]!.isOpen && mutant !== 'lateWaitFromSoftTimeout') return
  const isShort = mutant === 'noLateWait' || mutant === 'lateWaitFromSoftTimeout'
  steps.duty('the wait for a late execution is over', `(${attemptName(index)})`, (next) => {
    const post = next.posts[index]!
    if (holds(scenario, 'A1') && !isShort) post.request = 'over'
    if (mutant === 'absenceByTimer') endAttempt(scenario, next, index, 'absent', false)
    else next.journal.attempts[index]!.bound = boundNow(scenario, next)
  })
}

/**
 * With the local executor, the same transaction bytes are sent again. They execute at most once, however often they are
 * sent.
 */
function resendStep({ executor }: Case, state: State, index: number, attempt: AttemptRow, steps: Steps): void {
  const { isOut, at, lastHeight } = state.transactions[index]!
  if (executor !== 'local' || attempt.state !== 'signed' || isOut || at !== null || lastHeight === 0) return
  if (state.memory?.sending === index) return
  steps.chance(`sent again (${attemptName(index)})`, (next) => handOut(next, index))
}

/**
 * A final revert ends an attempt only if the attempt's signature is known, because otherwise the service may still
 * retry.
 */
function revertedStep(scenario: Case, state: State, index: number, attempt: AttemptRow, steps: Steps): void {
  const isKnown = attempt.transaction !== null || scenario.mutant === 'revertWithoutSignatureEnds'
  if (!isUndecided(attempt) || !isKnown) return
  const transaction = state.transactions[attempt.transaction ?? index]!
  const isSeen = transaction.at !== null && !transaction.isOk
  if (!isSeen || !(isFinal(transaction) || scenario.mutant === 'retryAfterProvisionalRevert')) return
  steps.duty('reverted', `(${attemptName(index)})`, (next) => endAttempt(scenario, next, index, 'reverted', true))
}

/**
 * A transaction that the wallet signed without Sluice stops buys until the operator accepts it. A transfer to the
 * wallet does not.
 */
function classifyStep({ mutant }: Case, state: State, steps: Steps): void {
  const { isHalted, orders } = state.journal
  const isHalting = state.strangers.some(
    ({ kind, at, isAccepted }) => at === 0 && !isAccepted && (kind === 'foreign' || mutant === 'inflowHaltsBuys'),
  )
  if (isHalting && !isHalted && mutant !== 'foreignIgnored')
    steps.duty('buys are halted', '', (next) => {
      next.journal.isHalted = true
      for (const [order, { state: at }] of orders.entries())
        if (at === 'accepted' && isOpen(orders[order]!) && next.memory?.arming !== order) setOrder(next, order, 'ended')
    })
  if (isHalted)
    steps.chance('a person accepts the foreign transaction', (next) => {
      next.journal.isHalted = false
      for (const stranger of next.strangers) stranger.isAccepted ||= stranger.at === 0
    })
}
