import { isSameSide } from './chain.ts'
import { setOrder } from './gateway.ts'
import type { Case } from './scenario.ts'
import { type AttemptRow, isExecuted, isFinal, isUndecided, orderOfRow, type State } from './state.ts'
import { attemptName, type Steps } from './steps.ts'

/**
 * Executions that Sluice sees on the chain. An execution is provisional at commitment `confirmed`, then final, or
 * reversed by a fork. A seen execution is a proof; an execution that was not seen proves nothing.
 */
export function evidenceSteps(scenario: Case, state: State, steps: Steps): void {
  if (state.memory === null) return
  for (let index = 0; index < state.transactions.length; index++) {
    seeStep(scenario, state, index, steps)
    reversalStep(state, index, steps)
  }
}

function seeStep(scenario: Case, state: State, index: number, steps: Steps): void {
  const transaction = state.transactions[index]!
  const { seen } = state.journal.fills[index]!
  if (!isExecuted(transaction) || seen === 'final' || (seen === 'provisional' && !isFinal(transaction))) return
  const isOwn = state.journal.attempts.some((attempt) => attempt.transaction === index)
  if (!isOwn && !isWatched(scenario, state, index)) return
  const level = isFinal(transaction) || scenario.mutant === 'reversalIgnored' ? 'final' : 'provisional'
  const change = (next: State) => adopt(scenario, next, index, level)
  if (isOwn || state.lostRow !== index) steps.duty('seen on chain', `(${attemptName(index)}, ${level})`, change)
  else steps.chance(`the feed shows ${attemptName(index)}`, change)
}

function isWatched(scenario: Case, state: State, index: number): boolean {
  if (scenario.mutant === 'refusedNotWatched') return state.journal.attempts[index]?.state !== 'refused'
  if (scenario.mutant === 'lateFillsNotAdopted') return candidates(scenario, state, index, isUndecided).length > 0
  return true
}

/**
 * Books an execution for its attempt if it is proved which attempt made it. An execution after the end of its attempt,
 * or a second execution, raises an alarm.
 */
function adopt(scenario: Case, next: State, index: number, level: 'provisional' | 'final'): void {
  const { attempts, fills } = next.journal
  fills[index]!.seen = level
  const known = attempts.findIndex((attempt) => attempt.transaction === index)
  const open = known >= 0 ? [known] : candidates(scenario, next, index, isUndecided)
  const isLate = open.length === 0
  const dead = isLate ? candidates(scenario, next, index, isThoughtDead).at(-1) : undefined
  const owner = known >= 0 ? known : (dead ?? ownerAmong(scenario, next, open))
  if (owner !== undefined) {
    const attempt = attempts[owner]!
    attempt.transaction = index
    attempt.state = level === 'final' ? 'filled' : 'landed'
    if (level === 'final') attempt.bound = null
  }
  const order = orderOfRow(next.journal, index)
  if (isLate || isSecond(scenario, next, order, index)) raiseAlarm(scenario, next)
  setOrder(next, order, 'filled')
}

/**
 * Returns the attempts that may have made a transaction with an unknown signature. They were sent, and have the side of
 * the transaction.
 */
function candidates(scenario: Case, state: State, row: number, test: (attempt: AttemptRow) => boolean): number[] {
  return state.journal.attempts.flatMap((attempt, index) => {
    const isSent = state.memory?.sending !== index
    const isFree = attempt.transaction === null || attempt.state === 'reverted'
    return test(attempt) && isFree && isSent && isSameSide(scenario, state, row, index) ? [index] : []
  })
}

function isThoughtDead({ state }: AttemptRow): boolean {
  return state === 'refused' || state === 'absent' || state === 'reverted'
}

/**
 * If a full exit has several open attempts, the transaction proves that the order executed. It does not prove which
 * attempt executed, and each attempt may still execute.
 */
function ownerAmong({ mutant, orders }: Case, { journal }: State, open: readonly number[]): number | undefined {
  const first = open[0]
  if (first === undefined || mutant === 'rowProvesOneOfSeveral') return first
  const { order } = journal.attempts[first]!
  const out = journal.attempts.filter(
    ({ order: other, state }) => other === order && state !== 'unsent' && state !== 'refused',
  )
  return orders[order] === 'full exit' && out.length > 1 ? undefined : first
}

/** Whether an order that may execute only once has another fill. */
function isSecond({ orders }: Case, { journal }: State, order: number, index: number): boolean {
  const isOther = (fill: number) => fill !== index && orderOfRow(journal, fill) === order
  return orders[order] !== 'full exit' && journal.fills.some(({ seen }, fill) => seen !== 'none' && isOther(fill))
}

/** Raises an alarm. It ends the orders that wait for a retry. */
function raiseAlarm({ mutant }: Case, next: State): void {
  const { orders, attempts } = next.journal
  if (mutant === 'lateFillWithoutAlarm') return
  next.journal.isAlarmed = true
  if (mutant === 'alarmDoesNotStopRetries') return
  for (const [order, row] of orders.entries()) {
    const isRetry = row.state === 'accepted' && attempts.some((attempt) => attempt.order === order)
    if (isRetry) setOrder(next, order, 'ended')
  }
}

/** The transaction of a provisional fill is no longer on the chain. The attempt and the order of this fill become open
 *  again. */
function reversalStep(state: State, index: number, steps: Steps): void {
  if (state.journal.fills[index]!.seen !== 'provisional' || isExecuted(state.transactions[index]!)) return
  steps.duty('a fork has reversed the fill', `(${attemptName(index)})`, (next) => {
    const { attempts, fills } = next.journal
    fills[index]!.seen = 'none'
    const owner = attempts.find((attempt) => attempt.transaction === index)
    if (owner?.state === 'landed') owner.state = 'unknown'
    const order = orderOfRow(next.journal, index)
    const isOpenStill = attempts.some((attempt) => attempt.order === order && isUndecided(attempt))
    const isFilledStill = fills.some(({ seen }, fill) => seen !== 'none' && orderOfRow(next.journal, fill) === order)
    setOrder(next, order, isFilledStill ? 'filled' : isOpenStill ? 'working' : 'ended')
  })
}
