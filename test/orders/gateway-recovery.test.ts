import { expect, test } from 'vitest'
import type { Order } from '../../src/engine/order.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import type { Outcome } from '../../src/orders/ports.ts'
import { aBuy, anOrder, fillOf, GatewayWorld, type Script } from '../support/gateway-world.ts'
import { FILL, only, refused, unsent } from '../support/outcomes.ts'

const FILLED = ['working', 'filled', 'filled']

/**
 * Runs `order` for `ms` milliseconds, and then continues in another process. `share`: the share of the pending commits
 * that reach the disk before the process ends.
 */
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

test('after a restart, an open attempt is looked up and not sent again', () => {
  const order = anOrder()
  const world = crashed(order, 1_000, 0, FILL)
  expect(world.statesOf(order)).toEqual(['working', 'filled'])
  expect(world.executed).toHaveLength(1)
})

test('after a restart, an attempt that was recorded but not sent is looked up as well', () => {
  const order = anOrder()
  const world = crashed(order, 4, 1, FILL)
  expect(world.statesOf(order)).toEqual(['working', 'not_executed ABSENT'])
  expect(world.executed).toEqual([])
})

test('after a restart, a provisional fill is still followed until it is final', () => {
  const order = anOrder()
  const world = crashed(order, 5_000, 0, FILL)
  expect(world.statesOf(order)).toEqual(FILLED)
})

test('a report that the engine did not receive before the restart is delivered again', () => {
  const order = anOrder()
  const world = crashed(order, 1_506, 1, FILL) // the report is on disk, but its commit has not returned
  expect(world.statesOf(order)).toEqual(FILLED)
})

test('after a restart, an exit that waits for its next attempt continues with the slippage of that attempt', () => {
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

test('after a restart, an entry that is too old expires and an exit is sent', () => {
  const world = new GatewayWorld(2)
  world.script = () => FILL
  for (let index = 0; index < 2; index++) world.submit(anOrder())
  const [buy, exit] = [aBuy({ notAfter: 60_000 }), anOrder()]
  world.submit(buy)
  world.submit(exit)
  world.crash(0)
  world.settle()
  expect(world.statesOf(exit)).toEqual(FILLED)
  expect(world.statesOf(buy)).toEqual(['refused LIMIT_WAIT'])
  const late = new GatewayWorld(1)
  late.submit(anOrder())
  const old = aBuy({ notAfter: 1_500 })
  late.submit(old)
  late.crash(0, 600)
  late.settle()
  expect(late.statesOf(old)).toEqual(['expired TTL'])
})

test("if a fork reopened a sale before the restart, another sale of the token is refused until the engine has received the fork's report", () => {
  const world = new GatewayWorld()
  world.commitMs = 5
  const [order, next] = [anOrder(), anOrder()]
  const again = { ...next, mint: order.mint }
  world.script = () => [
    [100, (attempt) => fillOf(attempt, false)],
    [1_000, { kind: 'unknown', reason: 'a fork reversed it' }],
  ]
  world.submit(order)
  world.settle(1_008) // the reversal is on disk, but not reported yet
  expect(world.statesOf(order)).toEqual(['working', 'filled'])
  world.onReport = ({ code }) => {
    if (code === 'REVERSED') world.submit(again)
  }
  world.crash(1)
  expect(world.statesOf(order)).toEqual(['working', 'filled', 'working REVERSED', 'working ANSWER_LOST'])
  world.settle(10)
  expect(world.statesOf(again)).toEqual(['refused LANE_BUSY'])
})

test('a provisional fill is replaced if another transaction of the same attempt lands', () => {
  const order = anOrder()
  const other = (attempt: Attempt): Outcome => {
    const outcome = fillOf(attempt, true) as Extract<Outcome, { kind: 'filled' }>
    return { ...outcome, fill: { ...outcome.fill, signature: 'another' } }
  }
  const world = crashed(order, 1_000, 0, [
    [100, (attempt) => fillOf(attempt, false)],
    [30_000, other],
  ])
  expect(world.statesOf(order)).toEqual(['working', 'filled', 'working REVERSED', 'filled'])
  expect(world.heard.find(({ code }) => code === 'REVERSED')?.reversed).toBe(`s${order.id}.1`)
})
