import { type Case, MOST_OPEN_EXITS } from './scenario.ts'
import { isOpen, isUndecided, type State } from './state.ts'

/** Returns whether the engine accepts this order now. */
export function mayAccept(scenario: Case, state: State, order: number): boolean {
  const { orders, isHalted } = state.journal
  if (orders[order]!.state !== 'none' || (order > 0 && orders[order - 1]!.state === 'none')) return false
  if (scenario.orders[order] !== 'buy') return true
  if (isHalted) return false
  return scenario.orders.every((kind, other) => {
    if (other === order || orders[other]!.state === 'none') return true
    return kind === 'buy' ? isLaneFree(scenario, state, other) : isExitProved(scenario, state, other)
  })
}

/**
 * Returns whether an earlier buy no longer occupies the lane: the buy has ended without a fill, and the engine has
 * taken its report. After a fill, the position prevents another buy.
 */
function isLaneFree({ mutant }: Case, state: State, other: number): boolean {
  const { isReserved, isHeard, state: at } = state.journal.orders[other]!
  const isBusy = mutant === 'laneClosedFromArming' ? at !== 'accepted' && isReserved : isReserved || !isHeard
  return !isBusy && at !== 'filled'
}

/**
 * Returns whether a full or partial exit is over for certain: none of its attempts can still execute, and all of its
 * executions are final. If an execution were not final, a fork could move the sale to a block after the next buy.
 */
function isExitProved({ mutant }: Case, state: State, other: number): boolean {
  const { orders, attempts, fills } = state.journal
  const row = orders[other]!
  if (mutant === 'buyWhileExitOpen') return true
  if (isOpen(row) || !row.isHeard) return false
  if (mutant === 'buyAfterFirstExitFill') return true
  return attempts.every((attempt, index) => {
    if (attempt.order !== other) return true
    if (mutant === 'buyAfterProvisionalExit' && attempt.state === 'landed') return true
    if (attempt.state === 'built' && mutant !== 'signedAfterFill') return false
    return !isUndecided(attempt) && fills[index]!.seen !== 'provisional'
  })
}

/**
 * Returns whether the next attempt of an order may be recorded for sending. This is allowed for the first attempt, for
 * an attempt after the proof that the previous one did not execute, and for the repetition of a full exit.
 */
export function mayArm(scenario: Case, state: State, order: number): boolean {
  const { arming, sending } = state.memory!
  const { orders, attempts } = state.journal
  const made = attempts.filter((attempt) => attempt.order === order).length
  if (arming !== null || sending !== null || made >= scenario.attempts[order]!) return false
  if (orders[order]!.state === 'accepted') return true
  return orders[order]!.state === 'working' && mayRepeat(scenario, state, order)
}

/**
 * Returns whether an order may be sent again without the proof that its earlier attempt did not execute. In reality
 * this happens after 3 s without evidence. It is only allowed for full exits, which the chain refuses to execute twice.
 */
function mayRepeat({ mutant, orders: kinds }: Case, state: State, order: number): boolean {
  const { attempts } = state.journal
  const kind = kinds[order]
  if (mutant === 'newTransactionWithoutProof') return true
  if (kind !== 'full exit' && !(kind === 'partial exit' && mutant === 'partialExitRepeated')) return false
  const open = attempts.filter((attempt) => attempt.order === order && isUndecided(attempt)).length
  return open > 0 && open < MOST_OPEN_EXITS
}
