import { isSameSide } from './chain.ts'
import { endAttempt, memory, setOrder } from './gateway.ts'
import { type Case, MISMATCHES } from './scenario.ts'
import { type Bracket, isExecuted, isUndecided, type State } from './state.ts'
import { attemptName, type Steps } from './steps.ts'

/**
 * The proof that an attempt did not execute. It reads the finalized height, then the wallet's lamports at a Solana slot
 * C, then the signatures up to C. The attempt is dead if the height is above its last valid block, none of the
 * signatures belongs to it, and the signatures explain the lamports. The signatures ("rows") are stored as the bits of
 * a number: first those of Sluice's transactions, then those of strangers.
 */
export function absenceSteps(scenario: Case, state: State, steps: Steps): void {
  if (state.memory === null) return
  const { mutant } = scenario
  if (mutant === 'absenceByNullStatus') nullStatusSteps(scenario, state, steps)
  const { bracket } = state.memory
  if (bracket === null) firstRead(scenario, state, steps)
  else if (mutant === 'heightReadLast')
    steps.duty('the height is read', '', (next) => conclude(scenario, next, pastOf(scenario, next), bracket.rows))
  else if (bracket.reads === 1) {
    const what = mutant === 'listReadBeforeBalance' ? 'the list is read' : 'the balance is read'
    steps.duty(what, '', (next) => (memory(next).bracket = { ...bracket, reads: 2, rows: rowsOf(scenario, next) }))
  } else lastRead(scenario, state, bracket, steps)
}

/**
 * Starts a proof when the finalized height has passed the last valid block of an attempt. A mutant (a model with a
 * deliberate error) may start it earlier.
 */
function firstRead(scenario: Case, state: State, steps: Steps): void {
  const past = pastOf(scenario, state)
  if (scenario.mutant === 'heightReadLast') {
    if (boundAttempts(scenario, state).length > 0)
      steps.duty('the list is read', '', (next) => {
        memory(next).bracket = { reads: 1, past: 0, rows: rowsOf(scenario, next) }
      })
  } else if (past !== 0)
    steps.duty('the height is read', '', (next) => (memory(next).bracket = { reads: 1, past, rows: 0 }))
}

function lastRead(scenario: Case, state: State, { past, rows }: Bracket, steps: Steps): void {
  const { mutant } = scenario
  const now = rowsOf(scenario, state)
  if (mutant === 'listReadBeforeBalance') {
    steps.duty('the balance is read', '', (next) => compare(scenario, next, past, rows, now))
    return
  }
  const listed = mutant === 'rowsBeyondTheBalance' ? now : rows
  const shown = state.lostRow === null ? listed : listed & ~(1 << state.lostRow)
  steps.duty('the list is read', '', (next) => compare(scenario, next, past, shown, rows))
  if (mutant !== 'listWithoutMinContextSlot') return
  for (let row = 0; shown >> row !== 0; row++)
    if ((shown >> row) & 1)
      steps.chance(`the list is read from a node that is behind and lacks transaction ${row + 1}`, (next) =>
        compare(scenario, next, past, shown & ~(1 << row), rows),
      )
}

/**
 * Compares the list of signatures with the change of the wallet's balance. If they agree, the proof is complete.
 * Otherwise signatures and balance are read again. If they differ repeatedly, the order is held for the operator.
 */
function compare(scenario: Case, next: State, past: number, list: number, balance: number): void {
  const isEqual = list === balance || scenario.mutant === 'noConservation'
  if (isEqual) {
    memory(next).mismatches = 0
    conclude(scenario, next, past, list)
    return
  }
  memory(next).bracket = null
  memory(next).mismatches++
  if (memory(next).mismatches < MISMATCHES) return
  memory(next).mismatches = 0
  for (const { order, state } of boundAttempts(scenario, next).map((index) => next.journal.attempts[index]!))
    if (isUndecided({ state }) && next.journal.orders[order]!.state === 'working') setOrder(next, order, 'held')
}

function conclude(scenario: Case, next: State, past: number, list: number): void {
  memory(next).bracket = null
  for (const index of boundAttempts(scenario, next)) {
    const { transaction } = next.journal.attempts[index]!
    if (((past >> index) & 1) === 0) continue
    const isThere =
      transaction === null ? hasUnclaimedRow(scenario, next, list, index) : ((list >> transaction) & 1) === 1
    if (!isThere) endAttempt(scenario, next, index, 'absent', scenario.executor === 'local')
  }
}

/**
 * Returns whether the list of signatures contains a transaction that may belong to the attempt: it is not booked and
 * has the same side as the attempt.
 */
function hasUnclaimedRow(scenario: Case, state: State, list: number, attempt: number): boolean {
  return state.transactions.some(
    (transaction, row) =>
      isExecuted(transaction) &&
      ((list >> row) & 1) === 1 &&
      state.journal.fills[row]!.seen === 'none' &&
      isSameSide(scenario, state, row, attempt),
  )
}

/** Returns the undecided attempts whose last valid block is known, and whose execution was not seen. */
function boundAttempts({ mutant }: Case, state: State): number[] {
  return state.journal.attempts.flatMap((attempt, index) => {
    const isForgotten = mutant === 'heldForEver' && state.journal.orders[attempt.order]!.state === 'held'
    return isUndecided(attempt) && attempt.state !== 'landed' && attempt.bound !== null && !isForgotten ? [index] : []
  })
}

function pastOf(scenario: Case, state: State): number {
  const height = scenario.mutant === 'absenceFromConfirmedView' ? state.head : 0
  return boundAttempts(scenario, state).reduce(
    (bits, index) => (state.journal.attempts[index]!.bound! <= height ? bits | (1 << index) : bits),
    0,
  )
}

function rowsOf(scenario: Case, state: State): number {
  const height = scenario.mutant === 'absenceFromConfirmedView' ? state.head : 0
  const landed = [...state.transactions, ...state.strangers]
  return landed.reduce((bits, { at }, row) => (at !== null && at <= height ? bits | (1 << row) : bits), 0)
}

/**
 * The steps of the mutant absenceByNullStatus, which treats a null status as the proof that an attempt did not execute.
 */
function nullStatusSteps(scenario: Case, state: State, steps: Steps): void {
  for (const [index, attempt] of state.journal.attempts.entries()) {
    const isHunted = attempt.state === 'unknown' || attempt.state === 'acked' || attempt.state === 'signed'
    if (isHunted && state.transactions[index]!.at === null)
      steps.chance(`the RPC returns null as the status of ${attemptName(index)}`, (next) =>
        endAttempt(scenario, next, index, 'absent', true),
      )
  }
}
