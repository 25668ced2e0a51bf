import { describe, expect, test } from 'vitest'
import type { Attempt, Fill } from '../../src/core/order.ts'
import type { Outcome } from '../../src/core/ports.ts'
import { lamports } from '../../src/core/units.ts'
import { aBuy, anOrder, fillOf, GatewayWorld } from '../support/gateway-world.ts'
import { absent, FILL, lost, only, refused } from '../support/outcomes.ts'

const late = (attempt: Attempt, signature = `late ${attempt.id}`): Fill => {
  const { fill } = fillOf(attempt, true) as Extract<Outcome, { kind: 'filled' }>
  return { ...fill, signature }
}
const executed = (world: GatewayWorld, index = 0): Attempt => world.executed[index] as Attempt

describe('an execution that nobody waits for any more', () => {
  test('of an order that had ended: told, and it is filled', () => {
    const world = new GatewayWorld()
    world.script = () => only(absent)
    const order = aBuy()
    world.submit(order)
    world.settle()
    expect(world.stateOf(order)).toBe('not_executed')
    const attempt: Attempt = { ...executed(world), state: 'absent' }
    world.gateway.findings.late(attempt, late(attempt), 'LATE_FILL')
    expect(world.told(order)).toEqual(['working', 'not_executed ABSENT', 'filled LATE_FILL'])
    expect(world.heard.at(-1)).toMatchObject({ attemptId: attempt.id, fill: { signature: `late ${attempt.id}` } })
    expect(world.gateway).toBeDefined()
  })

  test('of one that waits for its next try: it has what it wanted, and is not sent again', () => {
    const world = new GatewayWorld()
    world.script = () => only(refused('RATE_LIMIT', 'wait', 5_000))
    const order = aBuy()
    world.submit(order)
    world.settle(1_000)
    const attempt: Attempt = { ...executed(world), state: 'refused' }
    world.gateway.findings.late(attempt, late(attempt), 'LATE_FILL')
    world.settle()
    expect(world.executed).toHaveLength(1)
    expect(world.told(order).at(-1)).toBe('filled LATE_FILL')
  })

  test('while its next try is out: that one decides nothing any more', () => {
    const world = new GatewayWorld()
    world.script = (_attempt, number) =>
      number === 1
        ? only(refused('RATE_LIMIT', 'wait'))
        : [
            [1, lost],
            [200_000, absent],
          ]
    const order = aBuy()
    world.submit(order)
    world.settle(1_000)
    expect(world.executed).toHaveLength(2)
    const attempt: Attempt = { ...executed(world), state: 'refused' }
    world.gateway.findings.late(attempt, late(attempt), 'LATE_FILL')
    expect(world.told(order).at(-1)).toBe('working LATE_FILL')
    world.settle()
    expect(world.told(order).at(-1)).toBe('filled LATE_FILL')
    expect(world.executed).toHaveLength(2)
  })

  test('a second execution of what was filled', () => {
    const world = new GatewayWorld()
    world.script = () => FILL
    const order = aBuy()
    world.submit(order)
    world.settle()
    const attempt: Attempt = { ...executed(world), state: 'filled' }
    world.gateway.findings.late(attempt, late(attempt, 'second'), 'SERVICE_DUPLICATE')
    expect(world.told(order).at(-1)).toBe('filled SERVICE_DUPLICATE')
    expect(world.heard.at(-1)).toMatchObject({ fill: { signature: 'second' } })
  })

  test('it survives a crash', () => {
    const world = new GatewayWorld()
    world.script = () => only(refused('RATE_LIMIT', 'wait', 60_000))
    const order = anOrder()
    world.submit(order)
    world.settle(1_000)
    const attempt: Attempt = { ...executed(world), state: 'refused' }
    world.gateway.findings.late(attempt, late(attempt), 'LATE_FILL')
    world.crash(1)
    world.settle()
    expect(world.told(order).at(-1)).toBe('filled LATE_FILL')
    expect(world.executed).toHaveLength(1)
  })
})

test('a refusal that was none ends immediate retries for this run, 429 and slippage alike', () => {
  const world = new GatewayWorld()
  world.script = () => only(refused('SLIPPAGE_EXCEEDED', 'never'))
  const first = aBuy({ slippagePercents: [5] })
  world.submit(first)
  world.settle()
  const attempt: Attempt = { ...executed(world), state: 'refused' }
  world.gateway.findings.late(attempt, late(attempt), 'LATE_FILL')
  const before = world.executed.length
  world.script = (one) =>
    only(refused(one.side === 'buy' ? 'RATE_LIMIT' : 'SLIPPAGE_EXCEEDED', one.side === 'buy' ? 'wait' : 'slippage'))
  const [buy, sale] = [
    aBuy({ time: world.clock.now() }),
    anOrder({ slippagePercents: [5, 15, 30], size: { kind: 'percent', percent: 50 } }),
  ]
  world.submit(buy)
  world.submit(sale)
  world.settle()
  expect(world.executed.length - before).toBe(2)
  expect([world.told(buy).at(-1), world.told(sale).at(-1)]).toEqual(['expired RATE_LIMIT', 'failed SLIPPAGE_EXCEEDED'])
})

test('something failed that may have been it: its fee is told, and nothing is decided', () => {
  const world = new GatewayWorld()
  world.script = () => [
    [10, lost],
    [200_000, absent],
  ]
  const order = aBuy()
  world.submit(order)
  world.settle(1_000)
  world.gateway.findings.paid(executed(world), 's', lamports(5_000))
  expect(world.heard.at(-1)).toMatchObject({ state: 'working', code: 'ANSWER_LOST', feeLamports: 5_000 })
  world.settle()
  expect(world.told(order)).toEqual(['working', 'working ANSWER_LOST', 'working ANSWER_LOST', 'not_executed ABSENT'])
})

test('held, then decided by later evidence or a person', () => {
  const world = new GatewayWorld()
  world.script = (attempt) => [
    [10, lost],
    [1_000, { kind: 'undecided', reason: 'the lamports do not add up' }],
    [2_000, attempt.side === 'buy' ? fillOf(attempt, true) : { kind: 'absent', code: 'RESOLVED' }],
  ]
  const [buy, sale] = [aBuy(), anOrder({ size: { kind: 'percent', percent: 50 } })]
  world.submit(buy)
  world.submit(sale)
  world.settle()
  expect(world.told(buy)).toEqual(['working', 'working ANSWER_LOST', 'held HELD', 'filled'])
  expect(world.told(sale)).toEqual(['working', 'working ANSWER_LOST', 'held HELD', 'not_executed RESOLVED'])
})
