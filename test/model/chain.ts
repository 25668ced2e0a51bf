import { type Case, initialTokens, LOT, MOST_UNFINALIZED, type OrderKind } from './scenario.ts'
import { isExecuted, type State } from './state.ts'
import { attemptName, type Steps } from './steps.ts'

/**
 * The steps of the chain. Blocks are added and become final, and forks replace blocks that are not final. Transactions
 * land or expire. Strangers use the wallet.
 */
export function chainSteps(scenario: Case, state: State, steps: Steps): void {
  if (state.head < MOST_UNFINALIZED) steps.duty('a block', '', (next) => next.head++)
  if (state.head > 0) steps.duty('a block is final', '', finalize)
  for (let index = 0; index < state.transactions.length; index++) {
    landingSteps(scenario, state, index, steps)
    dropStep(state, index, steps)
  }
  strangerSteps(scenario, state, steps)
  indexSteps(state, steps)
}

/**
 * Returns the kind of the order to which a transaction belongs. Transaction n belongs to attempt n. If there is no
 * attempt n, it belongs to the order whose attempt is being recorded, or else to the first order.
 */
function kindOf(scenario: Case, state: State, transaction: number): OrderKind {
  const order = state.journal.attempts[transaction]?.order ?? state.memory?.arming ?? 0
  return scenario.orders[order] as OrderKind
}

/** Returns whether two transactions are both buys or both sales. */
export function isSameSide(scenario: Case, state: State, one: number, other: number): boolean {
  return (kindOf(scenario, state, one) === 'buy') === (kindOf(scenario, state, other) === 'buy')
}

/**
 * Makes a block final. Heights count from the finalized block. The remaining fields of a final or expired transaction
 * are reset, so that states with the same future are equal.
 */
function finalize(next: State): void {
  next.head--
  for (const transaction of next.transactions) {
    if (transaction.at !== null && transaction.at > 0) transaction.at--
    transaction.lastHeight = transaction.at === 0 ? 0 : Math.max(0, transaction.lastHeight - 1)
    if (transaction.lastHeight === 0 && (transaction.at === null || transaction.at === 0)) transaction.isOut = false
  }
  for (const stranger of next.strangers) stranger.at = Math.max(0, stranger.at - 1)
  for (const attempt of next.journal.attempts)
    if (attempt.bound !== null) attempt.bound = Math.max(0, attempt.bound - 1)
}

/**
 * A transaction lands in the newest block. It may also land in an older block, which then replaces a block by a fork.
 */
function landingSteps(scenario: Case, state: State, index: number, steps: Steps): void {
  const { isOut, at, lastHeight } = state.transactions[index]!
  if (!isOut || at !== null) return
  const sold = saleOf(scenario, state, index)
  for (let height = 1; height <= Math.min(state.head, lastHeight); height++) {
    const isFork = height < state.head
    if (isFork && state.faults.forks === 0) continue
    const place = isFork ? ' in a block that a fork replaces' : ''
    const land = (isOk: boolean) => (next: State) => {
      Object.assign(next.transactions[index]!, { at: height, isOk, sold: isOk ? sold : 0 })
      if (isFork) next.faults.forks--
    }
    const add = (name: string, change: (next: State) => void) =>
      isFork ? steps.fault(name, change) : steps.chance(name, change)
    if (sold !== undefined) add(`${attemptName(index)} executes on chain${place}`, land(true))
    add(`${attemptName(index)} reverts on chain${place}`, land(false))
  }
}

/** Returns the tokens that the sale would sell now; undefined if the wallet has too few, so that the sale reverts. */
function saleOf(scenario: Case, state: State, index: number): number | undefined {
  const kind = kindOf(scenario, state, index)
  if (kind === 'buy') return 0
  const held = tokensOf(scenario, state)
  const sold = kind === 'full exit' ? held : LOT / 2
  return sold > 0 && held >= sold ? sold : undefined
}

function tokensOf(scenario: Case, state: State): number {
  let tokens = initialTokens(scenario) + state.dust
  for (const [index, transaction] of state.transactions.entries()) {
    if (!isExecuted(transaction)) continue
    tokens += kindOf(scenario, state, index) === 'buy' ? LOT : -transaction.sold
  }
  return tokens
}

/** A fork drops a transaction. The transaction may land again while it is valid. */
function dropStep(state: State, index: number, steps: Steps): void {
  const { at } = state.transactions[index]!
  if (at === null || at === 0 || state.faults.forks === 0) return
  steps.fault(`a fork drops ${attemptName(index)}`, (next) => {
    Object.assign(next.transactions[index]!, { at: null, isOk: false, sold: 0 })
    next.faults.forks--
  })
}

function strangerSteps(scenario: Case, state: State, steps: Steps): void {
  const count = (kind: string) => state.strangers.filter((stranger) => stranger.kind === kind).length
  const arrive = (kind: 'inflow' | 'foreign') =>
    steps.fault(`${kind === 'inflow' ? 'an inflow' : 'a foreign transaction'} lands`, (next) =>
      next.strangers.push({ kind, at: next.head, isAccepted: false }),
    )
  if (state.head > 0 && count('inflow') < (scenario.inflows ?? 0)) arrive('inflow')
  if (state.head > 0 && count('foreign') < (scenario.foreign ?? 0)) arrive('foreign')
  if (state.faults.tokenDust === 0) return
  steps.fault('a stranger sends tokens', (next) => {
    next.dust++
    next.faults.tokenDust--
  })
}

/** A node's list of the wallet's signatures loses a final transaction, and contains it again later. */
function indexSteps(state: State, steps: Steps): void {
  if (state.lostRow !== null)
    steps.duty('the signature index lists the lost transaction again', '', (next) => (next.lostRow = null))
  if (state.faults.lostRows === 0 || state.lostRow !== null) return
  for (const [index, { at }] of state.transactions.entries()) {
    if (at !== 0) continue
    steps.fault(`the signature index loses ${attemptName(index)}`, (next) => {
      next.lostRow = index
      next.faults.lostRows--
    })
  }
}
