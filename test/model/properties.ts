import type { Step } from './checker.ts'
import { type Case, holds, initialTokens, LOT } from './scenario.ts'
import { isExecuted, isOpen, isUndecided, type State } from './state.ts'

type Property = (scenario: Case, state: State, steps: readonly Step<State>[]) => boolean

/**
 * The properties, by the sentence that is true if a state breaks them. Each function returns whether a state breaks its
 * property.
 */
const BROKEN: Readonly<Record<string, Property>> = {
  'an attempt was sent before it was durable': (_, { posts, transactions, journal }) =>
    posts.some(
      ({ request }, index) =>
        (request !== 'none' && index >= journal.attempts.length) ||
        (transactions[index]!.isOut && journal.attempts[index]?.state === 'built'),
    ),

  'an order executed twice': (scenario, state) =>
    holds(scenario, 'A2') &&
    holds(scenario, 'A7') &&
    scenario.orders.some((kind, order) => kind !== 'full exit' && executionsOf(state, order).length > 1),

  'a full exit sold more than the wallet held': (scenario, state) =>
    scenario.orders.some((kind, order) => {
      if (kind !== 'full exit' || !isProofSound(scenario)) return false
      const refills = scenario.orders.slice(0, order).filter((earlier) => earlier === 'buy').length
      const sales = executionsOf(state, order)
      const sold = sales.reduce((sum, sale) => sum + state.transactions[sale]!.sold, 0)
      return sold > initialTokens(scenario) + state.dust + refills * LOT
    }),

  'a buy was accepted while a full exit was open': (scenario, state) =>
    isProofSound(scenario) && scenario.orders.some((_, order) => isBoughtInto(scenario, state, order)),

  'an attempt was declared dead although it executed': (scenario, { journal, transactions }) =>
    holds(scenario, 'A1') &&
    journal.attempts.some(
      ({ state }, index) =>
        (state === 'absent' || state === 'unsent') &&
        isExecuted(transactions[index]!) &&
        journal.fills[index]!.seen === 'none',
    ),

  'an order ended although an attempt was undecided': (_, { journal }) =>
    journal.attempts.some((attempt) => isUndecided(attempt) && journal.orders[attempt.order]!.state === 'ended'),

  'a lane was not held exactly while its order was open': (_, { journal, memory }) =>
    memory !== null && journal.orders.some((order, index) => memory.lanes[index] !== isOpen(order)),

  'a reservation was not held exactly while its order was open': (_, { journal }) =>
    journal.orders.some((order) => order.isHeard && order.isReserved !== isOpen(order)),

  'a lane had two open orders': ({ orders }, { journal }) =>
    orders.filter((kind, order) => kind === 'buy' && isOpen(journal.orders[order]!)).length > 1,

  'a fill was booked twice': (_, { journal }) => journal.fills.some(({ booked }) => booked > 1),

  'an order was held although nothing was wrong': (scenario, { journal }) =>
    holds(scenario, 'A4') && journal.orders.some(({ state }) => state === 'held'),

  'an inflow halted the buys': (_, { journal, strangers }) =>
    journal.isHalted && !strangers.some(({ kind }) => kind === 'foreign'),

  'an order was tried again after an alarm': (_, { journal, memory }) =>
    journal.isAlarmed && memory !== null && memory.arming !== null && isRetry(journal, memory.arming),

  'an execution was not booked': (_, state, steps) =>
    isQuiet(state, steps) &&
    state.transactions.some((one, index) => isExecuted(one) && state.journal.fills[index]!.booked !== 1),

  'a fill was booked without an execution': (_, state, steps) =>
    isQuiet(state, steps) &&
    state.transactions.some((one, index) => !isExecuted(one) && state.journal.fills[index]!.booked !== 0),

  'an order executed twice without an alarm': ({ orders }, state, steps) =>
    isQuiet(state, steps) &&
    !state.journal.isAlarmed &&
    orders.some((kind, order) => kind !== 'full exit' && executionsOf(state, order).length > 1),

  'a foreign transaction did not halt the buys': (_, state, steps) =>
    isQuiet(state, steps) &&
    !state.journal.isHalted &&
    state.strangers.some(({ kind, at, isAccepted }) => kind === 'foreign' && at === 0 && !isAccepted),
}

const PROPERTIES = Object.entries(BROKEN)

export function brokenProperty(scenario: Case, state: State, steps: readonly Step<State>[]): string | undefined {
  return PROPERTIES.find(([, isBroken]) => isBroken(scenario, state, steps))?.[0]
}

/** Returns whether no order is open and the books agree with the chain. */
export function isDecided({ journal, transactions, memory }: State): boolean {
  return (
    memory !== null &&
    memory.arming === null &&
    memory.sending === null &&
    journal.orders.every((order) => !isOpen(order) && order.isHeard) &&
    !journal.attempts.some(isUndecided) &&
    journal.fills.every(({ seen, booked }) => seen !== 'provisional' && booked === (seen === 'final' ? 1 : 0)) &&
    transactions.every((one, index) => !isExecuted(one) || journal.fills[index]!.seen === 'final')
  )
}

/** Returns whether nothing can happen any more except faults, new blocks and new requests. */
function isQuiet(state: State, steps: readonly Step<State>[]): boolean {
  return state.memory !== null && !steps.some(({ group, kind }) => kind !== 'fault' && !IDLE.test(group))
}
const IDLE = /^a block|accept/

/**
 * Returns whether the scenario excludes executions of attempts that were proved dead or refused (assumptions A1 and
 * A7).
 */
function isProofSound(scenario: Case): boolean {
  return holds(scenario, 'A1') && holds(scenario, 'A7')
}

function executionsOf({ transactions, journal }: State, order: number): number[] {
  return transactions.flatMap((one, index) =>
    isExecuted(one) && (journal.attempts[index]?.order ?? 0) === order ? [index] : [],
  )
}

/**
 * Returns whether a buy was accepted after this full exit was sent or executed, and a sale of the exit may still land.
 * The sale would then also sell the tokens of the buy.
 */
function isBoughtInto({ orders }: Case, { journal, posts, transactions }: State, exit: number): boolean {
  if (orders[exit] !== 'full exit') return false
  const mayLand = (index: number) =>
    posts[index]!.request === 'out' || (transactions[index]!.isOut && transactions[index]!.at !== 0)
  const isOut = (order: number, test: (index: number) => boolean) =>
    journal.attempts.some((attempt, index) => attempt.order === order && test(index))
  const laterBuys = orders.flatMap((kind, order) => (kind === 'buy' && order > exit ? [order] : []))
  return (
    isOut(exit, mayLand) &&
    laterBuys.some((buy) => isOut(buy, (index) => mayLand(index) || isExecuted(transactions[index]!)))
  )
}

function isRetry({ attempts }: State['journal'], order: number): boolean {
  const own = attempts.filter((attempt) => attempt.order === order)
  return own.length > 0 && !own.some(isUndecided)
}
