import { describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../src/base/errors.ts'
import type { Order } from '../../src/engine/order.ts'
import { aBuy, anOrder, fillOf, GatewayWorld, type Script } from '../support/gateway-world.ts'
import { absent, acked, FILL, lost, only, refused, reverted, unsent } from '../support/outcomes.ts'

const FILLED = ['working', 'filled', 'filled']

/**
 * Submits `order`. Each script contains the outcomes of one attempt; the last script also applies to all later
 * attempts.
 */
function run(order: Order, ...scripts: Script[]): GatewayWorld {
  const world = new GatewayWorld()
  world.script = (_attempt, number) => scripts[Math.min(number, scripts.length) - 1] ?? []
  world.submit(order)
  return world
}

/** Returns the time at which each attempt was recorded for sending, in ms after the time of the first attempt. */
function times(world: GatewayWorld): number[] {
  const first = world.executed[0]?.armedAt ?? 0
  return world.executed.map(({ armedAt }) => armedAt - first)
}

describe('the states of an order', () => {
  const throttled = only(refused('RATE_LIMIT', 'wait'))
  const later = only(refused('RATE_LIMIT', 'wait', 3_000))
  const slippage = only(refused('SLIPPAGE_EXCEEDED', 'slippage'))
  const poor = only(refused('INSUFFICIENT_BALANCE', 'never'))
  const down = only(unsent)
  const final: Script = [[20_000, (attempt) => fillOf(attempt, true)]]
  const lostThenFinal: Script = [[10_000, lost], ...final]
  const lostThenAcked: Script = [[10, lost], [20, acked], ...FILL.slice(1)]
  const lostThenAbsent: Script = [
    [10_000, lost],
    [11_000, lost],
    [200_000, absent],
  ]
  const takenBack: Script = [...FILL.slice(0, 2), [3_000, lost], ...final]
  const reverts = (code: ErrorCode): Script => [
    [100, acked],
    [1_500, reverted(code, false)],
    [13_000, reverted(code, true)],
  ]
  const climbs =
    'working, accepted SLIPPAGE_EXCEEDED, working, accepted SLIPPAGE_EXCEEDED, working, failed SLIPPAGE_EXCEEDED'
  const mayClimb = aBuy({ time: 1_000, slippagePercents: [5, 6, 7] })

  // biome-ignore format: one case on each line
  test.each<[string, Order, Script[], string, number[]]>([
    ['an order fills, first provisionally', anOrder(), [FILL], 'working, filled, filled', [0]],
    ['an order gets a fill that is final at once', aBuy(), [final], 'working, filled', [0]],
    ['an order that gets two 429s is retried after growing delays', anOrder(), [throttled, throttled, FILL], 'working, accepted RATE_LIMIT, working, accepted RATE_LIMIT, working, filled, filled', [0, 600, 1_700]],
    ['an order that gets a 429 with Retry-After waits that long', anOrder(), [later, FILL], 'working, accepted RATE_LIMIT, working, filled, filled', [0, 3_100]],
    ['a buy that gets 429s until its time to live ends', aBuy({ notAfter: 2_600 }), [throttled], 'working, accepted RATE_LIMIT, working, expired TTL', [0, 600]],
    ['an order is retried after growing delays if its first two attempts could not be sent', anOrder(), [down, down, FILL], 'working, accepted UNSENT, working, accepted UNSENT, working, filled, filled', [0, 600, 1_700]],
    ['after a refusal for slippage, the delays after 429s start again', anOrder(), [throttled, slippage, throttled, FILL], 'working, accepted RATE_LIMIT, working, accepted SLIPPAGE_EXCEEDED, working, accepted RATE_LIMIT, working, filled, filled', [0, 600, 700, 1_300]],
    ['an exit is retried with each slippage, then ends', anOrder(), [slippage], climbs, [0, 100, 200]],
    ['a buy is not retried with more slippage', aBuy(), [slippage], 'working, failed SLIPPAGE_EXCEEDED', [0]],
    ['a buy with several slippages is retried twice, after 0.5 and 1 s', mayClimb, [slippage], climbs, [0, 600, 1_700]],
    ['an order that the service refuses fails', aBuy(), [poor], 'working, failed INSUFFICIENT_BALANCE', [0]],
    ['an order whose answer was lost gets a final fill', aBuy(), [lostThenFinal], 'working, working ANSWER_LOST, filled', [0]],
    ['an order whose answer was lost is acknowledged later', aBuy(), [lostThenAcked], 'working, working ANSWER_LOST, working, filled, filled', [0]],
    ['an order whose answer was lost is proved not to have executed', aBuy(), [lostThenAbsent], 'working, working ANSWER_LOST, not_executed ABSENT', [0]],
    ['a partial sale whose answer was lost is not sent again', anOrder(), [lostThenAbsent], 'working, working ANSWER_LOST, not_executed ABSENT', [0]],
    ['an order whose transaction reverts fails once the revert is final', aBuy(), [reverts('REVERTED')], 'working, working REVERTED, failed REVERTED', [0]],
    ['an exit that reverted for slippage is retried once the revert is final', anOrder(), [reverts('SLIPPAGE_EXCEEDED'), FILL], 'working, working SLIPPAGE_EXCEEDED, accepted SLIPPAGE_EXCEEDED, working, filled, filled', [0, 13_000]],
    ['an order whose fill a fork reverses can fill again', aBuy(), [takenBack], 'working, filled, working REVERSED, working ANSWER_LOST, filled', [0]],
  ])('%s', (_what, order, scripts, states, armed) => {
    const world = run(order, ...scripts)
    world.settle()
    expect(world.statesOf(order).join(', ')).toBe(states)
    expect(times(world)).toEqual(armed)
    expect(world.limiter.status()).toMatchObject({ held: 0, waiting: 0 })
  })

  test('each attempt has its own slippage', () => {
    const world = run(anOrder(), slippage)
    world.settle()
    expect(world.executed.map(({ id, slippagePercent }) => [id.split('.')[1], slippagePercent])).toEqual([
      ['1', 5],
      ['2', 15],
      ['3', 30],
    ])
  })

  test('the fee of a reverted transaction is reported once', () => {
    const world = run(aBuy(), [
      [1_500, reverted('REVERTED', false)],
      [13_000, reverted('REVERTED', true)],
    ])
    world.settle()
    expect(world.heard.map(({ feeLamports }) => feeLamports)).toEqual([undefined, undefined, 5_000])
  })
})

test('a request that was not sent uses no request slot', () => {
  const world = new GatewayWorld(1)
  world.script = (_attempt, number) => (number < 3 ? only(unsent) : FILL)
  world.submit(anOrder())
  world.settle()
  expect(times(world)).toEqual([0, 600, 1_700])
})

test('an order that the engine cancels when it receives the failure is not retried', () => {
  const world = new GatewayWorld()
  const order = anOrder()
  world.script = () => only(refused('SLIPPAGE_EXCEEDED', 'slippage'))
  world.onReport = ({ state }) => state === 'accepted' && world.cancel(order)
  world.submit(order)
  world.settle()
  expect(world.statesOf(order)).toEqual(['working', 'accepted SLIPPAGE_EXCEEDED', 'cancelled CANCELLED'])
  expect(world.executed).toHaveLength(1)
})

test('if a request slot is free, a new order and its first attempt become durable in one commit', () => {
  const world = run(anOrder())
  expect(world.commits).toBe(1)
  expect(world.executed).toHaveLength(1)
})

test('an order that waits for a request slot is committed without an attempt', () => {
  const world = new GatewayWorld(1)
  world.submit(anOrder())
  world.submit(anOrder())
  expect(world.commits).toBe(2)
  expect(world.executed).toHaveLength(1)
})

test('an attempt is not executed before its commit is durable', () => {
  const world = new GatewayWorld()
  world.commitMs = 40
  world.submit(anOrder())
  expect(world.executed).toEqual([])
  world.settle(40)
  expect(world.executed).toHaveLength(1)
})

test('an entry whose commit took longer than its time to live is not sent', () => {
  const world = new GatewayWorld()
  world.commitMs = 5_000
  const buy = aBuy({ notAfter: 3_000 })
  world.submit(buy)
  world.settle()
  expect(world.statesOf(buy)).toEqual(['working', 'expired TTL'])
  expect(world.executed).toEqual([])
  expect(world.limiter.status().held).toBe(0)
})

test('a second open order of the same token and side fails an assertion', () => {
  const world = run(anOrder({ mint: 'm' }))
  expect(() => world.submit(anOrder({ mint: 'm' }))).toThrow('second open order')
})

test('if an attempt gets an outcome after its end, an assertion fails', () => {
  const world = run(anOrder(), [...FILL, [14_000, absent]])
  expect(() => world.settle()).toThrow('had an outcome after its end')
})

test('after a provisional fill, another order of the same token and side may be sent', () => {
  const world = run(anOrder({ mint: 'm' }), FILL)
  world.settle(1_500)
  world.submit(anOrder({ mint: 'm' }))
  world.settle()
  expect(world.executed).toHaveLength(2)
})

test('if a fork reverses a fill, other orders of the token and side are refused until the engine receives the report', () => {
  const world = run(anOrder({ mint: 'm' }), [
    ...FILL.slice(0, 2),
    [3_000, lost],
    [20_000, (attempt) => fillOf(attempt, true)],
  ])
  world.settle(2_900)
  world.commitMs = 200
  world.settle(200)
  const next = anOrder({ mint: 'm' })
  world.submit(next)
  world.settle()
  expect(world.statesOf(next)).toEqual(['refused LANE_BUSY'])
  world.submit(anOrder({ mint: 'm' })) // the lane is free again
})

test('an entry waits at most two seconds for a request slot, an exit waits without limit, and exits come first', () => {
  const world = new GatewayWorld(2)
  world.script = () => FILL
  const [first, second] = [anOrder(), anOrder()]
  const [buy, late, exit] = [aBuy(), aBuy({ notAfter: 2_500 }), anOrder()]
  for (const order of [first, second, buy, late, exit]) world.submit(order)
  world.settle()
  expect(world.statesOf(buy)).toEqual(['refused LIMIT_WAIT'])
  expect(world.statesOf(late)).toEqual(['refused LIMIT_WAIT'])
  const { reason } = world.heard.find(({ orderId }) => orderId === buy.id) ?? {}
  expect(reason).toMatch(/^2 of 2 requests a minute are in use, /)
  expect(world.statesOf(exit)).toEqual(FILLED)
  expect(times(world)).toEqual([0, 0, 60_100])
})

test.each<[string, Script | undefined, string[]]>([
  ['an order that is cancelled while it waits for a request slot', undefined, ['cancelled CHASED']],
  [
    'an order that is cancelled between two attempts',
    only(refused('RATE_LIMIT', 'wait')),
    ['working', 'accepted RATE_LIMIT', 'cancelled CHASED'],
  ],
  [
    'an order that is cancelled after it was sent',
    [[5_000, acked], ...FILL.slice(2)],
    ['working', 'working TOO_LATE', 'working', 'filled'],
  ],
])('%s has the expected states', (_when, script, states) => {
  const world = new GatewayWorld(1)
  const buy = aBuy()
  world.script = (attempt) => (attempt.orderId === buy.id ? (script ?? FILL) : FILL)
  if (script === undefined) world.submit(anOrder())
  world.submit(buy)
  world.settle(300)
  world.cancel(buy, 'CHASED')
  world.settle()
  expect(world.statesOf(buy)).toEqual(states)
  world.cancel(buy)
  expect(world.statesOf(buy)).toEqual(states)
})

test('while the API key is refused, entries are refused, and exits wait and try the key every 30 s', () => {
  const world = new GatewayWorld(4)
  const exit = anOrder()
  const [before, after] = [aBuy(), aBuy()]
  world.script = (attempt, number) =>
    attempt.orderId === exit.id && number < 3 ? only(refused('AUTHENTICATION_FAILED', 'never')) : FILL
  world.submit(exit)
  for (let others = 0; others < 3; others++) world.submit(anOrder())
  world.submit(before) // no request slot is free
  world.settle(100)
  world.submit(after)
  world.settle(20_000)
  expect(world.statesOf(exit)).toEqual(['working', 'accepted KEY_REFUSED'])
  expect(world.statesOf(before)).toEqual(['refused KEY_REFUSED'])
  expect(world.statesOf(after)).toEqual(['refused KEY_REFUSED'])
  world.settle(50_000)
  expect(world.statesOf(exit)).toEqual([1, 2].flatMap(() => ['working', 'accepted KEY_REFUSED']))
  world.gateway.keyAccepted(world.limiter)
  world.settle()
  expect(world.statesOf(exit).slice(4)).toEqual(FILLED)
})

test('if the feed reports the key as refused, the waiting entries end', () => {
  const world = new GatewayWorld(1)
  world.submit(anOrder())
  const buy = aBuy()
  world.submit(buy)
  world.gateway.keyRefused(world.limiter)
  expect(world.statesOf(buy)).toEqual(['refused KEY_REFUSED'])
})

test('while the plan is refused, entries are refused and exits are tried once a minute; after the service has accepted an exit, entries are accepted again', () => {
  const world = new GatewayWorld()
  const no = only(refused('PLAN_REFUSED', 'never'))
  const exit = anOrder()
  world.script = (attempt, number) => (attempt.orderId === exit.id && number < 4 ? no : FILL)
  world.submit(exit)
  world.settle(1_000)
  const buy = aBuy({ notAfter: 1e9 })
  world.submit(buy)
  world.settle()
  expect(world.statesOf(buy)).toEqual(['refused PLAN_REFUSED'])
  expect(times(world)).toEqual([0, 60_100, 120_200, 180_300])
  expect(world.stateOf(exit)).toBe('filled')
  const next = aBuy({ notAfter: 1e9 })
  world.submit(next)
  world.settle()
  expect(world.statesOf(next)).toEqual(FILLED)
})

test('a request whose answer was lost keeps its request slot until the connection must have ended', () => {
  const world = run(anOrder(), [
    [10_000, lost],
    [200_000, absent],
  ])
  world.settle(119_999)
  expect(world.limiter.status().held).toBe(1)
  world.settle(1)
  expect(world.limiter.status().held).toBe(0)
})

test('a request that belongs to no order also takes a durable request slot', () => {
  const world = new GatewayWorld(1)
  world.commitMs = 10
  const got: number[] = []
  const ask = () => world.gateway.requestSlot(world.limiter, (slot) => got.push(world.clock.now() - 1_000 + slot.id))
  ask()
  expect(got).toEqual([])
  world.settle(10)
  expect(got).toEqual([11])
  const leave = ask()
  leave?.()
  world.settle()
  expect(got).toEqual([11])
})
