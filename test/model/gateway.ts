import { mayAccept, mayArm } from './rules.ts'
import { attemptsIn, type Case, NODE_LAG, UNDATED_LAG, VALIDITY } from './scenario.ts'
import { makeTransaction } from './service.ts'
import { type AttemptRow, isOpen, isUndecided, type OrderState, orderOfRow, type State } from './state.ts'
import { attemptName, type Steps } from './steps.ts'

/**
 * The steps of Sluice, the client of the service. The gateway accepts, commits and sends orders. It also reads the
 * answers. The engine takes the reports. The process may end at any time.
 */
export function gatewaySteps(scenario: Case, state: State, steps: Steps): void {
  if (state.memory === null) {
    steps.duty('the process starts', '', (next) => start(scenario, next))
    return
  }
  if (state.faults.crashes > 0) steps.fault('the process is killed', (next) => kill(scenario, next))
  for (const [order, kind] of scenario.orders.entries()) {
    const row = state.journal.orders[order]!
    if (mayAccept(scenario, state, order)) steps.chance(`the ${kind} is accepted`, (next) => accept(next, order))
    if (mayArm(scenario, state, order))
      steps.duty('armed in memory', `(${kind})`, (next) => (memory(next).arming = order))
    const isWaiting = row.state === 'accepted' && state.memory.arming !== order
    if (isWaiting && kind === 'buy')
      steps.chance('the buy is too old to be sent', (next) => setOrder(next, order, 'ended'))
    if (!row.isHeard && state.memory.inbox[order])
      steps.duty('the engine takes the report', `(${kind})`, (next) => take(scenario, next, order))
  }
  sendingSteps(scenario, state, steps)
  if (scenario.executor === 'cloud') answerSteps(scenario, state, steps)
}

export function memory(next: State): NonNullable<State['memory']> {
  return next.memory!
}

/**
 * Changes the state of an order and reports it. If the order ends and has an attempt that is not durable yet, this
 * attempt is cancelled.
 */
export function setOrder(next: State, order: number, to: OrderState): void {
  const row = next.journal.orders[order]!
  row.state = to
  if (!isOpen(row) && memory(next).arming === order) memory(next).arming = null
  row.isHeard = false
  memory(next).inbox[order] = true
  memory(next).lanes[order] = isOpen(row)
}

/** Changes the state of an order after one of its attempts has ended without an execution. */
function settle(scenario: Case, next: State, order: number, mayTryAgain: boolean): void {
  const row = next.journal.orders[order]!
  const own = next.journal.attempts.filter((attempt) => attempt.order === order)
  const isUnderWay = own.some((attempt) => isUndecided(attempt) || attempt.state === 'built')
  if (!isOpen(row) || isUnderWay || memory(next).arming === order) return
  const isStopped = next.journal.isAlarmed && scenario.mutant !== 'alarmDoesNotStopRetries'
  const isAgain = mayTryAgain && own.length < scenario.attempts[order]! && !isStopped && row.state !== 'held'
  setOrder(next, order, isAgain ? 'accepted' : 'ended')
}

/**
 * Returns the height above which no transaction that was built until now can land; null while no height is known. In
 * the model, the height that the node returns is always behind by the largest permitted number of blocks. This number
 * is therefore added. It is larger for a height without a block time (assumption A8).
 */
export function boundNow({ mutant, undated = false }: Case, next: State): number | null {
  if (undated && mutant === 'waitsForBlockTime') return null
  const lag = undated ? UNDATED_LAG : NODE_LAG
  const margin = mutant === 'boundTooSmallByOne' ? lag - 1 : mutant === 'undatedCountsAsDated' ? NODE_LAG : lag
  const head = next.head - lag - (mutant === 'headFromBefore' ? 1 : 0)
  return Math.max(0, head + VALIDITY + margin)
}

function accept(next: State, order: number): void {
  next.journal.orders[order] = { state: 'accepted', isHeard: true, isReserved: true }
  memory(next).lanes[order] = true
}

function sendingSteps(scenario: Case, state: State, steps: Steps): void {
  const { arming, sending } = state.memory!
  const sendsFirst = scenario.mutant === 'executeBeforeCommit'
  if (arming !== null) {
    const index = state.journal.attempts.length
    const isSent = state.posts[index]!.request !== 'none'
    if (sendsFirst && !isSent) steps.duty('sent', `(${attemptName(index)})`, (next) => send(scenario, next, index))
    else steps.duty('durable', `(${attemptName(index)})`, (next) => commit(scenario, next, arming, index))
  }
  if (sending === null) return
  if (state.journal.attempts[sending]!.state === 'built') {
    builtSteps(scenario, state, sending, steps)
    return
  }
  steps.duty('sent', `(${attemptName(sending)})`, (next) => send(scenario, next, sending))
  steps.chance(`no byte of ${attemptName(sending)} is sent`, (next) => {
    memory(next).sending = null
    if (scenario.executor === 'cloud') endAttempt(scenario, next, sending, 'unsent', true)
  })
}

/**
 * The service builds a transaction, which cannot execute yet. The client verifies it, and signs it if the order may
 * still be sent. The signed bytes and their last valid block are durable before the bytes are sent.
 */
function builtSteps(scenario: Case, state: State, index: number, steps: Steps): void {
  const name = attemptName(index)
  const { mutant } = scenario
  const isWanted = isOpen(state.journal.orders[state.journal.attempts[index]!.order]!)
  const refuse = (next: State, mayTryAgain: boolean): void => {
    memory(next).sending = null
    endAttempt(scenario, next, index, 'refused', mayTryAgain)
  }
  if (!isWanted && mutant !== 'signedAfterFill') {
    steps.duty('built too late', `(${name})`, (next) => refuse(next, false))
    return
  }
  if (mutant === 'signedSentBeforeCommit' && !state.transactions[index]!.isOut)
    steps.duty('sent', `(${name})`, (next) => makeTransaction(next, index))
  steps.duty('signed', `(${name})`, (next) => sign(scenario, next, index))
  steps.chance(`${name} is refused before it is signed`, (next) => refuse(next, true))
}

function sign(scenario: Case, next: State, index: number): void {
  const bound = ownBound(scenario, next)
  Object.assign(next.journal.attempts[index]!, { state: 'signed', transaction: index, bound })
  makeTransaction(next, index, false)
}

/** Commits order and attempt together. */
function commit(scenario: Case, next: State, order: number, index: number): void {
  const isLocal = scenario.executor === 'local'
  const isSent = next.posts[index]!.request !== 'none'
  memory(next).arming = null
  next.journal.attempts.push({ order, state: isLocal ? 'built' : 'armed', transaction: null, bound: null })
  if (!isSent) memory(next).sending = index
  next.journal.orders[order]!.state = 'working'
}

/**
 * Returns the last valid block of a transaction, computed from the height of our node. The node knows the blockhash, so
 * its height is at least the height of the blockhash's block.
 */
function ownBound({ mutant }: Case, next: State): number | null {
  const bound = next.head + VALIDITY
  if (mutant === 'builderBoundTooLow' || mutant === 'heightOfNodeBehind') return Math.max(0, bound - NODE_LAG)
  return mutant === 'builderBoundAbsurd' ? null : bound
}

function send(scenario: Case, next: State, index: number): void {
  if (memory(next).sending === index) memory(next).sending = null
  if (scenario.executor === 'cloud') next.posts[index] = { request: 'out', answer: 'none', isOpen: true }
  else handOut(next, index)
}

/** Sends the signed bytes of an attempt, for the first time or repeatedly. */
export function handOut(next: State, index: number): void {
  const transaction = next.transactions[index]!
  if (transaction.lastHeight > 0) transaction.isOut = true
}

/** Ends an attempt that did not execute. */
export function endAttempt(
  scenario: Case,
  next: State,
  index: number,
  to: AttemptRow['state'],
  mayTryAgain: boolean,
): void {
  const attempt = next.journal.attempts[index]!
  attempt.state = to
  attempt.bound = null
  settle(scenario, next, attempt.order, mayTryAgain)
}

function answerSteps(scenario: Case, state: State, steps: Steps): void {
  for (let index = 0; index < attemptsIn(scenario); index++) {
    const post = state.posts[index]!
    const attempt = state.journal.attempts[index]
    if (!post.isOpen || attempt === undefined) continue
    const name = attemptName(index)
    if (post.answer !== 'none')
      steps.duty('answered', `(${name}: ${post.answer})`, (next) => hear(scenario, next, index))
    if (attempt.state === 'armed')
      steps.chance(`${name} becomes unknown, because its answer is late`, (next) => doubt(scenario, next, index, false))
    steps.duty('the connection ends', `(${name})`, (next) => hangUp(scenario, next, index))
  }
}

function hear(scenario: Case, next: State, index: number): void {
  const { answer } = next.posts[index]!
  Object.assign(next.posts[index]!, { answer: 'none', isOpen: false })
  const attempt = next.journal.attempts[index]!
  if (attempt.state !== 'armed' && attempt.state !== 'unknown') return // evidence came first
  if (answer !== 'signature') {
    endAttempt(scenario, next, index, 'refused', answer === 'again')
    return
  }
  const { seen } = next.journal.fills[index]!
  attempt.state = seen === 'none' ? 'acked' : seen === 'final' ? 'filled' : 'landed'
  attempt.transaction = index
  attempt.bound = seen === 'final' ? null : boundNow(scenario, next)
}

function hangUp(scenario: Case, next: State, index: number): void {
  Object.assign(next.posts[index]!, { answer: 'none', isOpen: false })
  if (next.journal.attempts[index]!.state === 'armed') doubt(scenario, next, index, true)
}

/** Marks an attempt as unknown: it may or may not have executed. */
function doubt(scenario: Case, next: State, index: number, isLost: boolean): void {
  const { mutant } = scenario
  const attempt = next.journal.attempts[index]!
  const isThoughtDead = isLost ? mutant === 'lostCountsAsUnsent' : mutant === 'resendOnTimeout'
  if (isThoughtDead) {
    endAttempt(scenario, next, index, 'unsent', true)
    return
  }
  attempt.state = 'unknown'
  if (mutant === 'laneFreedAtUnknown') memory(next).lanes[attempt.order] = false
  if (mutant === 'reservationFreedAtUnknown') next.journal.orders[attempt.order]!.isReserved = false
}

/** The engine books the fills that are not booked yet, or takes back a fill that a fork reversed. */
function take({ mutant }: Case, next: State, order: number): void {
  const row = next.journal.orders[order]!
  memory(next).inbox[order] = false
  row.isHeard = true
  row.isReserved = isOpen(row) && (mutant !== 'reservationNotRestored' || row.isReserved)
  for (const [index, fill] of next.journal.fills.entries()) {
    if (orderOfRow(next.journal, index) !== order) continue
    const isAgain = mutant === 'fillBookedTwice' && fill.booked === 1
    fill.booked = fill.seen === 'none' ? 0 : isAgain ? 2 : 1
  }
}

function kill({ executor }: Case, next: State): void {
  next.memory = null
  next.faults.crashes--
  for (const post of next.posts) Object.assign(post, { answer: 'none', isOpen: false })
  if (executor === 'cloud') for (const attempt of next.journal.attempts) attempt.bound = null
}

/**
 * Starts a new process. The process searches for the outcomes of open attempts and never sends these attempts again. It
 * repeats the reports that the engine of the earlier process had not handled.
 */
function start(scenario: Case, next: State): void {
  const { orders, attempts } = next.journal
  const { mutant } = scenario
  next.memory = {
    arming: null,
    sending: null,
    lanes: orders.map(isOpen),
    inbox: orders.map(({ isHeard }) => !isHeard && mutant !== 'reportNotRedelivered'),
    bracket: null,
    mismatches: 0,
  }
  for (const [index, attempt] of attempts.entries()) {
    const isThoughtDead =
      (mutant === 'resumeSendsAgain' && attempt.state === 'armed') ||
      (mutant === 'signedAgainOnRestart' && attempt.state === 'signed')
    if (isThoughtDead) endAttempt(scenario, next, index, 'unsent', true)
    else if (attempt.state === 'armed') attempt.state = 'unknown'
    // An attempt that was built but not signed can never execute.
    else if (attempt.state === 'built') {
      if (mutant === 'builtGoesOnAfterRestart') next.memory.sending = index
      else endAttempt(scenario, next, index, 'unsent', true)
    }
    if (attempt.state === 'unknown' && mutant === 'lateWaitFromArming') attempt.bound = boundNow(scenario, next)
  }
  // If the earlier process ended before the next attempt of an order was durable, the order needs a new attempt.
  for (const [order, row] of orders.entries())
    if (row.state === 'working' && !attempts.some((attempt) => attempt.order === order && isUndecided(attempt)))
      row.state = 'accepted'
}
