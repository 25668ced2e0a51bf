import { describe, expect, test } from 'vitest'
import { lamports } from '../../src/base/units.ts'
import type { Fill } from '../../src/engine/order.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import type { Outcome } from '../../src/orders/ports.ts'
import { aBuy, anOrder, fillOf, GatewayWorld, type Script } from '../support/gateway-world.ts'
import { absent, FILL, lost, only, refused, unsent } from '../support/outcomes.ts'

const late = (attempt: Attempt, signature = `late ${attempt.id}`): Fill => {
  const { fill } = fillOf(attempt, true) as Extract<Outcome, { kind: 'filled' }>
  return { ...fill, signature }
}
const executed = (world: GatewayWorld, index = 0): Attempt => world.executed[index] as Attempt

describe('a late execution', () => {
  test('a late execution of an ended order is reported, and fills the order', () => {
    const world = new GatewayWorld()
    world.script = () => only(absent)
    const order = aBuy()
    world.submit(order)
    world.settle()
    expect(world.stateOf(order)).toBe('not_executed')
    const attempt: Attempt = { ...executed(world), state: 'absent' }
    world.gateway.lateFill(attempt, late(attempt), 'LATE_FILL')
    expect(world.statesOf(order)).toEqual(['working', 'not_executed ABSENT', 'filled LATE_FILL'])
    expect(world.heard.at(-1)).toMatchObject({ attemptId: attempt.id, fill: { signature: `late ${attempt.id}` } })
  })

  test('if an attempt executes late while its order waits for the next attempt, the order is filled and not sent again', () => {
    const world = new GatewayWorld()
    world.script = () => only(refused('RATE_LIMIT', 'wait', 5_000))
    const order = aBuy()
    world.submit(order)
    world.settle(1_000)
    const attempt: Attempt = { ...executed(world), state: 'refused' }
    world.gateway.lateFill(attempt, late(attempt), 'LATE_FILL')
    world.settle()
    expect(world.executed).toHaveLength(1)
    expect(world.statesOf(order).at(-1)).toBe('filled LATE_FILL')
  })

  test('if an attempt executes late while the next one is open, the order is filled once the next one is proved absent', () => {
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
    world.gateway.lateFill(attempt, late(attempt), 'LATE_FILL')
    expect(world.statesOf(order).at(-1)).toBe('working LATE_FILL')
    world.settle()
    expect(world.statesOf(order).at(-1)).toBe('filled LATE_FILL')
    expect(world.executed).toHaveLength(2)
  })

  test('a second execution of a filled order is reported with its fill, as SERVICE_DUPLICATE', () => {
    const world = new GatewayWorld()
    world.script = () => FILL
    const order = aBuy()
    world.submit(order)
    world.settle()
    const attempt: Attempt = { ...executed(world), state: 'filled' }
    world.gateway.lateFill(attempt, late(attempt, 'second'), 'SERVICE_DUPLICATE')
    expect(world.statesOf(order).at(-1)).toBe('filled SERVICE_DUPLICATE')
    expect(world.heard.at(-1)).toMatchObject({ fill: { signature: 'second' } })
  })

  test.each([false, true])(
    'after a second execution, the order stays filled if a fork reverses the first one (after a restart: %s)',
    (isRestarted) => {
      const world = new GatewayWorld()
      const gone: Script = [
        [30_000, { kind: 'unknown', reason: 'a fork reversed it' }],
        [60_000, absent],
      ]
      world.script = () => [...FILL.slice(0, 2), ...gone]
      const order = aBuy()
      world.submit(order)
      world.settle(2_000)
      const attempt: Attempt = { ...executed(world), state: 'landed' }
      world.gateway.lateFill(attempt, late(attempt, 'second'), 'SERVICE_DUPLICATE')
      if (isRestarted) world.crash(1)
      world.settle()
      expect(world.stateOf(order)).toBe('filled')
      expect(world.executed).toHaveLength(1)
    },
  )

  test('a late execution also fills the order after a crash', () => {
    const world = new GatewayWorld()
    world.script = () => only(refused('RATE_LIMIT', 'wait', 60_000))
    const order = anOrder()
    world.submit(order)
    world.settle(1_000)
    const attempt: Attempt = { ...executed(world), state: 'refused' }
    world.gateway.lateFill(attempt, late(attempt), 'LATE_FILL')
    world.crash(1)
    world.settle()
    expect(world.statesOf(order).at(-1)).toBe('filled LATE_FILL')
    expect(world.executed).toHaveLength(1)
  })
})

describe('after an execution that contradicts the evidence', () => {
  /** Returns a gateway with an order that executed although it was refused or proved absent, or that executed twice. */
  const breached = (state: Attempt['state']): GatewayWorld => {
    const world = new GatewayWorld()
    const first = aBuy({ slippagePercents: [5] })
    world.script = () => (state === 'filled' ? FILL : only(state === 'absent' ? absent : NO))
    world.submit(first)
    world.settle()
    const attempt: Attempt = { ...executed(world), state }
    world.gateway.lateFill(attempt, late(attempt), state === 'filled' ? 'SERVICE_DUPLICATE' : 'LATE_FILL')
    return world
  }
  const NO = refused('SLIPPAGE_EXCEEDED', 'never')
  /**
   * Submits a buy that gets a 429, and a partial sale that is refused for slippage. Returns the number of attempts, and
   * how both orders ended.
   */
  const tried = (world: GatewayWorld): [sent: number, buy: string | undefined, sale: string | undefined] => {
    const before = world.executed.length
    world.script = (one) =>
      only(refused(one.side === 'buy' ? 'RATE_LIMIT' : 'SLIPPAGE_EXCEEDED', one.side === 'buy' ? 'wait' : 'slippage'))
    const buy = aBuy({ time: world.clock.now() })
    const sale = anOrder({ slippagePercents: [5, 15, 30], size: { kind: 'percent', percent: 50 } })
    world.submit(buy)
    world.submit(sale)
    world.settle()
    return [world.executed.length - before, world.statesOf(buy).at(-1), world.statesOf(sale).at(-1)]
  }
  const ONCE = [2, 'expired RATE_LIMIT', 'failed SLIPPAGE_EXCEEDED']

  test.each<Attempt['state']>(['refused', 'absent', 'filled'])(
    'after an order that was %s executes late or again, no refusal is retried at once',
    (state) => {
      expect(tried(breached(state))).toEqual(ONCE)
    },
  )
  test('immediate retries stay stopped after a restart, until the operator resumes', () => {
    const world = breached('absent')
    world.crash(1)
    expect(tried(world)).toEqual(ONCE)
    world.resume()
    expect(tried(world)[0]).toBeGreaterThan(4)
  })
  test('immediate retries also stay stopped after a restart before the engine has received the execution', () => {
    const world = breached('filled')
    world.commitMs = 5
    const attempt: Attempt = { ...executed(world), state: 'filled' }
    world.resume()
    world.gateway.lateFill(attempt, late(attempt, 'third'), 'SERVICE_DUPLICATE')
    world.crash(1)
    world.commitMs = 0
    expect(tried(world)).toEqual(ONCE)
  })
  test.each([false, true])(
    'a late execution ends an order that waits for a retry because of a 429 (after a restart: %s)',
    (isRestarted) => {
      const world = new GatewayWorld()
      world.script = () => only(refused('RATE_LIMIT', 'wait', 60_000))
      const [waits, other] = [anOrder(), aBuy()]
      world.submit(waits)
      world.submit(other)
      world.settle(1_000)
      const attempt: Attempt = { ...executed(world, 1), state: 'refused' }
      if (isRestarted) world.commitMs = 5
      world.gateway.lateFill(attempt, late(attempt), 'LATE_FILL')
      if (isRestarted) world.crash(0.5)
      world.settle()
      expect([world.statesOf(waits).at(-1), world.statesOf(other).at(-1)]).toEqual([
        'expired RATE_LIMIT',
        'filled LATE_FILL',
      ])
      expect(world.executed).toHaveLength(2)
    },
  )
  test('after a late execution, an attempt that was not sent is still retried', () => {
    const world = breached('refused')
    const order = anOrder({ size: { kind: 'percent', percent: 50 } })
    const before = world.executed.length
    world.script = (_attempt, number) => (number === 1 ? only(unsent) : FILL)
    world.submit(order)
    world.settle()
    expect([world.executed.length - before, world.stateOf(order)]).toEqual([2, 'filled'])
  })
})

test('a failed transaction that may belong to an attempt books its fee and ends no attempt', () => {
  const world = new GatewayWorld()
  world.script = () => [
    [10, lost],
    [200_000, absent],
  ]
  const order = aBuy()
  world.submit(order)
  world.settle(1_000)
  world.gateway.feePaid(executed(world), 's', lamports(5_000))
  expect(world.heard.at(-1)).toMatchObject({ state: 'working', code: 'ANSWER_LOST', feeLamports: 5_000 })
  world.settle()
  expect(world.statesOf(order)).toEqual([
    'working',
    'working ANSWER_LOST',
    'working ANSWER_LOST',
    'not_executed ABSENT',
  ])
})

test('a held order is decided by later evidence or by the operator', () => {
  const world = new GatewayWorld()
  world.script = (attempt) => [
    [10, lost],
    [1_000, { kind: 'undecided', reason: 'the sum of the lamports is wrong' }],
    [2_000, attempt.side === 'buy' ? fillOf(attempt, true) : { kind: 'absent', code: 'RESOLVED' }],
  ]
  const [buy, sale] = [aBuy(), anOrder({ size: { kind: 'percent', percent: 50 } })]
  world.submit(buy)
  world.submit(sale)
  world.settle()
  expect(world.statesOf(buy)).toEqual(['working', 'working ANSWER_LOST', 'held HELD', 'filled'])
  expect(world.statesOf(sale)).toEqual(['working', 'working ANSWER_LOST', 'held HELD', 'not_executed RESOLVED'])
})
