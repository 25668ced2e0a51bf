import { expect, test } from 'vitest'
import type { Order } from '../../src/engine/order.ts'
import type { Outcome } from '../../src/orders/ports.ts'
import { aBuy, anOrder, fillOf, GatewayWorld, type Script } from '../support/gateway-world.ts'
import { only, refused } from '../support/outcomes.ts'

const verified: Outcome = { kind: 'verified' }
const FILLED: Script = [[1_000, (attempt) => fillOf(attempt, true)]]

function bought(world: GatewayWorld, script: Script): Order {
  const buy = aBuy({ notAfter: 1e9 })
  world.script = (_attempt, number) => (number === 1 ? script : FILLED)
  world.submit(buy)
  return buy
}

test('a buy that waits for its next attempt is refused by a halt', () => {
  const world = new GatewayWorld()
  const buy = bought(world, only(refused('RATE_LIMIT', 'wait')))
  world.settle(200)
  world.halt()
  expect(world.statesOf(buy)).toEqual(['working', 'accepted RATE_LIMIT', 'refused HALTED'])
  world.halt(false)
  world.settle()
  expect(world.executed).toHaveLength(1)
})

test('a buy that waits for its commit is not sent after a halt', () => {
  const world = new GatewayWorld()
  world.commitMs = 5
  const buy = bought(world, FILLED)
  world.halt()
  world.settle()
  expect(world.statesOf(buy)).toEqual(['working', 'refused HALTED'])
  expect(world.executed).toEqual([])
  expect(world.attempts[0]).toMatchObject({ state: 'unsent', code: 'HALTED' })
})

test('a buy that was sent before a halt is not retried after a refusal, and is filled if it executed', () => {
  const world = new GatewayWorld()
  const [refusal, fill] = [bought(world, [[40_000, refused('RATE_LIMIT', 'wait')]]), bought(world, FILLED)]
  world.halt()
  world.settle()
  expect(world.statesOf(refusal)).toEqual(['working', 'refused HALTED'])
  expect(world.statesOf(fill)).toEqual(['working', 'filled'])
})

test('a buy that is being built during a halt may not be signed until entries are allowed again', () => {
  const world = new GatewayWorld(100, 'local')
  const buy = bought(world, [[100, verified]])
  const { outgoing } = world.gateway
  world.halt()
  expect(outgoing.refusalOf(buy.id)).toBe('HALTED')
  world.halt(false)
  expect(outgoing.refusalOf(buy.id)).toBeUndefined()
})

test.each([
  ['being built', 0],
  ['verified', 200],
])('if the process ends during a halt while a buy is %s, the buy is not built again', (_what, ms) => {
  const world = new GatewayWorld(100, 'local')
  const buy = bought(world, [[100, verified]])
  world.settle(ms)
  world.halt()
  world.crash(1)
  world.settle()
  expect(world.statesOf(buy)).toEqual(['working', 'refused HALTED'])
  expect(world.executed).toHaveLength(1)
})

test('exits, and entries of other accounts, continue during a halt', () => {
  const world = new GatewayWorld()
  world.script = () => FILLED
  world.commitMs = 5
  const [exit, other] = [anOrder(), aBuy({ account: 'another', notAfter: 1e9 })]
  world.submit(exit)
  world.submit(other)
  world.halt()
  world.settle()
  expect([world.statesOf(exit), world.statesOf(other)]).toEqual([
    ['working', 'filled'],
    ['working', 'filled'],
  ])
})

test('while the disk is nearly full, entries are refused even after a resume, and exits continue', () => {
  const world = new GatewayWorld()
  world.commitMs = 5
  const waits = bought(world, FILLED)
  world.gateway.diskLow(true)
  world.settle()
  world.halt(false)
  const [later, exit] = [bought(world, FILLED), anOrder()]
  world.submit(exit)
  world.settle()
  expect([world.statesOf(waits), world.statesOf(later)]).toEqual([
    ['working', 'refused DISK_LOW'],
    ['refused DISK_LOW'],
  ])
  expect(world.statesOf(exit)).toContain('filled')
  world.gateway.diskLow(false)
  const last = bought(world, FILLED)
  world.settle()
  expect(world.statesOf(last)).toEqual(['working', 'filled'])
})
