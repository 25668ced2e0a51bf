import { expect, test } from 'vitest'
import { ORDER_MOVES, type OrderState } from '../../src/engine/order.ts'
import { ATTEMPT_MOVES, type AttemptState } from '../../src/orders/attempt.ts'
import { check } from './checker.ts'
import { Coverage } from './coverage.ts'
import { QUICK } from './scenarios.ts'

const coverage = new Coverage()

test.each(Object.entries(QUICK))('The order protocol is correct in the scenario %s', (_, scenario) => {
  const result = check(coverage.of(scenario))
  expect(result.violation).toBeUndefined()
  expect(result.states).toBeGreaterThan(1_000)
})

test('Every kind of step occurs in these scenarios.', () => {
  expect([...coverage.happenings].sort()).toEqual([...HAPPENINGS].sort())
})

test('The model moves orders only as engine/order.ts allows; an order with a reversed fill may end in the same step.', () => {
  const ends: OrderState[] = ['failed', 'not_executed', 'expired', 'refused', 'cancelled']
  const states = (state: string) => (state === 'ended' ? ends : [state as OrderState])
  const isAllowed = (from: string, to: string) =>
    states(from).every((one) => states(to).some((other) => ORDER_MOVES[one].includes(other)))
  const moves = [...coverage.orderMoves].map((move) => move.split(' > ') as [string, string])
  const others = moves.filter(([from, to]) => !isAllowed(from, to))
  expect(others).toEqual([['filled', 'ended']])
  expect(isAllowed('filled', 'working') && isAllowed('working', 'ended')).toBe(true)
})

test('The model moves attempts only as orders/attempt.ts allows.', () => {
  const isAllowed = (from: string, to: string) =>
    ATTEMPT_MOVES[from as AttemptState].includes(to as AttemptState) ||
    (from === 'signed' && to === 'absent' && ATTEMPT_MOVES.signed.includes('expired')) ||
    (from === 'built' &&
      to === 'signed' &&
      ATTEMPT_MOVES.verified.includes('signed') &&
      ATTEMPT_MOVES.built.includes('verified'))
  const moves = [...coverage.attemptMoves].map((move) => move.split(' > ') as [string, string])
  expect(moves.length).toBeGreaterThan(20)
  expect(moves.filter(([from, to]) => !isAllowed(from, to))).toEqual([])
})

const HAPPENINGS = [
  ...['a block', 'a block is final', 'a fork drops it', 'the index loses it', 'the index finds its row'],
  ...['it executes on chain', 'it executes on chain in a block that a fork replaces'],
  ...['it reverts on chain', 'it reverts on chain in a block that a fork replaces'],
  ...['an inflow lands', 'a foreign transaction lands', 'buys are halted', 'a person accepts the foreign transaction'],
  ...['the buy is accepted', 'the partial exit is accepted', 'the full exit is accepted'],
  ...[
    'armed in memory',
    'durable',
    'signed',
    'it is refused before it is signed',
    'built too late',
    'sent',
    'no byte of it is written',
    'the buy is too old to be sent',
  ],
  ...['sent again (it)', 'the request of it is lost', 'the service executes it', 'the service executes it once more'],
  ...['the service executes it, and will again if it reverts', 'the service executes it with another transaction'],
  ...['the service executes it after refusing it', 'the service refuses it'],
  ...[
    'the service refuses it for its slippage',
    'answered',
    'the answer to it times out, it is unknown',
    'the connection ends',
  ],
  ...['the late wait is over', 'the height is read', 'the balance is read', 'the list is read', 'reverted'],
  ...['seen on chain', 'the feed shows it', 'reversed by a fork', 'the engine takes the report'],
  ...['the process is killed', 'the process starts'],
]
