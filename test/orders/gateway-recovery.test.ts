import { expect, test } from 'vitest'
import type { Order } from '../../src/engine/order.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import type { Outcome } from '../../src/orders/ports.ts'
import { aBuy, anOrder, fillOf, GatewayWorld, type Script } from '../support/gateway-world.ts'
import { FILL, only, refused, unsent } from '../support/outcomes.ts'

const FILLED = ['working', 'filled', 'filled']

/** Runs `order` until `ms` have passed, and goes on in another process. */
function crashed(order: Order, ms: number, share: number, ...scripts: Script[]): GatewayWorld {
  const world = new GatewayWorld()
  world.commitMs = 5
  world.script = (_attempt, number) => scripts[Math.min(number, scripts.length) - 1] as Script
  world.submit(order)
  world.settle(ms)
  world.crash(share)
  world.settle()
  return world
}

test('an attempt that is out is looked up, not sent again', () => {
  const order = anOrder()
  const world = crashed(order, 1_000, 0, FILL)
  expect(world.told(order)).toEqual(['working', 'filled'])
  expect(world.executed).toHaveLength(1)
})

test('an attempt that was armed and not executed is looked up too', () => {
  const order = anOrder()
  const world = crashed(order, 4, 1, FILL)
  expect(world.told(order)).toEqual(['working', 'not_executed ABSENT'])
  expect(world.executed).toEqual([])
})

test('of a fill that was seen, finality is still waited for', () => {
  const order = anOrder()
  const world = crashed(order, 5_000, 0, FILL)
  expect(world.told(order)).toEqual(FILLED)
})

test('a report that the engine did not take is said again', () => {
  const order = anOrder()
  const world = crashed(order, 1_506, 1, FILL) // the report is on disk, its commit not through
  expect(world.told(order)).toEqual(FILLED)
})

test('an exit between two tries goes on where it was', () => {
  const order = anOrder()
  const slippage = only(refused('SLIPPAGE_EXCEEDED', 'slippage'))
  const world = crashed(order, 300, 0, slippage, only(unsent), FILL)
  expect(world.executed.map(({ id, slippagePercent }) => [id, slippagePercent])).toEqual([
    [`${order.id}.1`, 5],
    [`${order.id}.2`, 15],
    [`${order.id}.3`, 15],
  ])
  expect(world.stateOf(order)).toBe('filled')
})

test('an entry that is too old by then expires, an exit is sent', () => {
  const world = new GatewayWorld(2)
  world.script = () => FILL
  for (let index = 0; index < 2; index++) world.submit(anOrder())
  const [buy, exit] = [aBuy({ notAfter: 60_000 }), anOrder()]
  world.submit(buy)
  world.submit(exit)
  world.crash(0)
  world.settle()
  expect(world.told(exit)).toEqual(FILLED)
  expect(world.told(buy)).toEqual(['refused LIMIT_WAIT'])
  const late = new GatewayWorld(1)
  late.submit(anOrder())
  const old = aBuy({ notAfter: 1_500 })
  late.submit(old)
  late.crash(0, 600)
  late.settle()
  expect(late.told(old)).toEqual(['expired TTL'])
})

test('a fork had reopened a sale and the engine has not heard of it: another one that it decides meanwhile is refused', () => {
  const world = new GatewayWorld()
  world.commitMs = 5
  const [order, next] = [anOrder(), anOrder()]
  const again = { ...next, mint: order.mint }
  world.script = () => [
    [100, (attempt) => fillOf(attempt, false)],
    [1_000, { kind: 'unknown', reason: 'a fork took it back' }],
  ]
  world.submit(order)
  world.settle(1_008) // what the fork did is on the disk, and not said yet
  expect(world.told(order)).toEqual(['working', 'filled'])
  world.onReport = ({ code }) => {
    if (code === 'REVERSED') world.submit(again)
  }
  world.crash(1)
  expect(world.told(order)).toEqual(['working', 'filled', 'working REVERSED', 'working ANSWER_LOST'])
  world.settle(10)
  expect(world.told(again)).toEqual(['refused LANE_BUSY'])
})

test('a fill that was seen gives way to another transaction of the same attempt', () => {
  const order = anOrder()
  const other = (attempt: Attempt): Outcome => {
    const outcome = fillOf(attempt, true) as Extract<Outcome, { kind: 'filled' }>
    return { ...outcome, fill: { ...outcome.fill, signature: 'another' } }
  }
  const world = crashed(order, 1_000, 0, [
    [100, (attempt) => fillOf(attempt, false)],
    [30_000, other],
  ])
  expect(world.told(order)).toEqual(['working', 'filled', 'working REVERSED', 'filled'])
  expect(world.heard.find(({ code }) => code === 'REVERSED')?.reversed).toBe(`s${order.id}.1`)
})
