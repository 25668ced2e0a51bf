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

test('Every kind of step of the model occurs in these scenarios.', () => {
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
  ...[
    'a block',
    'a block is final',
    'a fork drops the attempt',
    'the signature index loses the attempt',
    'the signature index lists the lost transaction again',
  ],
  ...['the attempt executes on chain', 'the attempt executes on chain in a block that a fork replaces'],
  ...['the attempt reverts on chain', 'the attempt reverts on chain in a block that a fork replaces'],
  ...['an inflow lands', 'a foreign transaction lands', 'buys are halted', 'a person accepts the foreign transaction'],
  ...['the buy is accepted', 'the partial exit is accepted', 'the full exit is accepted'],
  ...[
    'armed in memory',
    'durable',
    'signed',
    'the attempt is refused before it is signed',
    'built too late',
    'sent',
    'no byte of the attempt is sent',
    'the buy is too old to be sent',
  ],
  ...[
    'sent again (the attempt)',
    'the request for the attempt is lost',
    'the service executes the attempt',
    'the service executes the attempt once more',
  ],
  ...[
    'the service executes the attempt, and executes it again if it reverts',
    'the service executes the attempt with another transaction',
  ],
  ...['the service executes the attempt after refusing it', 'the service refuses the attempt'],
  ...[
    'the service refuses the attempt for its slippage',
    'answered',
    'the attempt becomes unknown, because its answer is late',
    'the connection ends',
  ],
  ...[
    'the wait for a late execution is over',
    'the height is read',
    'the balance is read',
    'the list is read',
    'reverted',
  ],
  ...['seen on chain', 'the feed shows the attempt', 'a fork has reversed the fill', 'the engine takes the report'],
  ...['the process is killed', 'the process starts'],
]
