import { describe, expect, test } from 'vitest'
import { lamports } from '../../src/base/units.ts'
import type { Order } from '../../src/engine/order.ts'
import type { Outcome } from '../../src/orders/ports.ts'
import { aBuy, anOrder, fillOf, GatewayWorld, type Script } from '../support/gateway-world.ts'
import { absent, lost, only, refused } from '../support/outcomes.ts'

const verified: Outcome = { kind: 'verified' }
const signed: Outcome = { kind: 'signed', signature: 's' }
const sent: Outcome = { kind: 'sent', signature: 's' }
/** An attempt that is built and verified within a second, and then sent. */
const OUT: Script = [
  [800, verified],
  [810, signed],
  [812, sent],
]
const FILLED: Script = [
  ...OUT,
  [1_500, (attempt) => fillOf(attempt, false)],
  [13_000, (attempt) => fillOf(attempt, true)],
]

function local(...scripts: Script[]): GatewayWorld {
  const world = new GatewayWorld(100, 'local')
  world.script = (_attempt, number) => scripts[Math.min(number, scripts.length) - 1] ?? []
  return world
}

const attemptStates = (world: GatewayWorld): string[] =>
  world.attempts.map(({ state, code }) => (code === '' ? state : `${state} ${code}`))

describe('a locally signed attempt', () => {
  test('a locally signed attempt starts as built, and is filled', () => {
    const world = local(FILLED)
    const order = aBuy({ time: 1_000 })
    world.submit(order)
    expect(world.executed[0]?.state).toBe('built')
    world.settle()
    expect(world.statesOf(order)).toEqual(['working', 'filled', 'filled'])
    expect(attemptStates(world)).toEqual(['filled'])
  })

  test.each<[string, Script, string[], string[]]>([
    ['expires', [...OUT, [60_000, absent]], ['working', 'not_executed ABSENT'], ['expired ABSENT']],
    [
      'a locally signed attempt is reversed by a fork and expires',
      [...FILLED.slice(0, 4), [5_000, lost], [60_000, absent]],
      ['working', 'filled', 'working REVERSED', 'working ANSWER_LOST', 'not_executed ABSENT'],
      ['expired ABSENT'],
    ],
    [
      'a locally signed attempt is refused by the verifier',
      only(refused('AUTHORITY_CHANGE', 'never')),
      ['working', 'failed AUTHORITY_CHANGE'],
      ['refused AUTHORITY_CHANGE'],
    ],
  ])('%s', (_what, script, reported, states) => {
    const world = local(script)
    const order = anOrder()
    world.submit(order)
    world.settle()
    expect(world.statesOf(order).filter((one) => one !== 'working ANSWER_LOST' || reported.includes(one))).toEqual(
      reported,
    )
    expect(attemptStates(world)).toEqual(states)
  })

  test('if the builder does not answer, a locally signed attempt is built again within its time to live, and the unanswered request keeps its request slot until its time limit', () => {
    const silent = only(refused('BUILDER_SILENT', 'wait'))
    const world = local(silent, FILLED)
    const sale = anOrder()
    world.submit(sale)
    world.settle(63_000)
    expect(world.statesOf(sale)).toEqual(['working', 'accepted BUILDER_SILENT', 'working', 'filled', 'filled'])
    expect(world.limiter.status().held).toBe(1)
    const buy = aBuy({ time: world.clock.now(), notAfter: world.clock.now() + 700 })
    world.script = () => silent
    world.submit(buy)
    world.settle(10_000)
    expect(world.statesOf(buy).at(-1)).toBe('expired TTL')
  })

  describe('an exit with a refused priority fee', () => {
    const refusedFee = only(refused('PRIORITY_FEE', 'never'))
    const feesOf = (world: GatewayWorld) => world.attempts.map(({ priorityFeeLamports }) => priorityFeeLamports)

    test("is retried at once with the service's own fee, then with the least, and then fails", () => {
      const world = local(refusedFee)
      const sale = anOrder({ priorityFeeLamports: lamports(100_000) })
      world.submit(sale)
      world.settle()
      expect(feesOf(world)).toEqual([100_000, null, 10_000])
      expect(world.statesOf(sale).at(-1)).toBe('failed PRIORITY_FEE')
    })

    test('an exit whose priority fee is refused is filled with the next fee, at the same slippage', () => {
      const world = local(refusedFee, FILLED)
      const sale = anOrder({ priorityFeeLamports: lamports(100_000) })
      world.submit(sale)
      world.settle()
      expect(world.statesOf(sale)).toEqual(['working', 'accepted PRIORITY_FEE', 'working', 'filled', 'filled'])
      expect(world.attempts.map(({ slippagePercent }) => slippagePercent)).toEqual([5, 5])
    })

    test('an exit tries no fee twice, raises its fee step by step, and still knows refused fees after a restart', () => {
      const world = local(refusedFee, [], refusedFee)
      const sale = anOrder({ priorityFeeLadder: [lamports(10_000), lamports(20_000)] })
      world.submit(sale)
      world.settle(5_000)
      world.crash(1)
      world.settle()
      expect(feesOf(world)).toEqual([10_000, null, null])
    })

    test('an exit is retried with another fee, but a buy fails', () => {
      const world = local(refusedFee)
      const buy = aBuy({ time: 1_000, priorityFeeLamports: lamports(100_000) })
      world.submit(buy)
      world.settle()
      expect(feesOf(world)).toEqual([100_000])
      expect(world.statesOf(buy).at(-1)).toBe('failed PRIORITY_FEE')
    })
  })

  test('an exit is retried after a refusal by the local verifier, even if the service ignored the requested fee', () => {
    const world = local(only(refused('SLIPPAGE_EXCEEDED', 'slippage')), FILLED)
    world.gateway.trust('a', false)
    const sale = anOrder()
    world.submit(sale)
    world.settle()
    expect(world.statesOf(sale)).toEqual(['working', 'accepted SLIPPAGE_EXCEEDED', 'working', 'filled', 'filled'])
  })
})

describe('the questions of an executor', () => {
  test('an executor learns whether an order may still be sent, and how much SOL the open orders reserve', () => {
    const world = local(FILLED)
    const { outgoing } = world.gateway
    const reserve = { reserveLamports: 7 as never }
    const [one, two] = [aBuy({ time: 1_000, notAfter: 5_000, ...reserve }), aBuy({ time: 1_000, ...reserve })]
    world.submit(one)
    world.submit(two)
    expect([outgoing.reserveLamports(one.id), outgoing.reservedLamports('a', one.id)]).toEqual([7n, 7n])
    expect(outgoing.reservedLamports('another', one.id)).toBe(0n)
    expect([outgoing.headroomLamports('a'), outgoing.headroomLamports('another')]).toEqual([14n, 0n])
    expect(outgoing.refusalOf(one.id)).toBeUndefined()
    world.settle(2_000)
    expect(outgoing.refusalOf(one.id)).toBe('TTL')
    expect(outgoing.reservedLamports('a', '')).toBe(0n)
    expect(outgoing.refusalOf('o999999')).toBe('TTL')
  })

  test('an entry that took too long to build may not be sent', () => {
    const world = local([[9_000, verified]])
    const order = aBuy({ time: 1_000, notAfter: 5_000 })
    world.submit(order)
    world.settle(3_999)
    expect(world.gateway.outgoing.refusalOf(order.id)).toBeUndefined()
    world.settle(2)
    expect(world.gateway.outgoing.refusalOf(order.id)).toBe('TTL')
  })
})

describe('a process that stops in an orderly way waits until it is known which attempts were sent', () => {
  const acked: Script = [
    [500, { kind: 'acked', signature: 's' }],
    [60_000, absent],
  ]
  test.each<['cloud' | 'local' | 'paper', Script, answeredAfterMs: number]>([
    ['cloud', acked, 500],
    ['cloud', only(refused('INSUFFICIENT_BALANCE', 'never')), 100],
    ['local', OUT, 812],
    ['local', only(refused('AUTHORITY_CHANGE', 'never')), 100],
    ['paper', acked, 0],
  ])('%s', (executor, script, answeredAfterMs) => {
    const world = new GatewayWorld(100, executor)
    world.script = () => script
    const { outgoing } = world.gateway
    expect(outgoing.isAnswered).toBe(true)
    world.submit(aBuy({ time: 1_000 }))
    if (answeredAfterMs > 0) {
      world.settle(answeredAfterMs - 1)
      expect(outgoing.isAnswered).toBe(false)
      world.settle(1)
    }
    expect(outgoing.isAnswered).toBe(true)
  })
})

describe('a buy that is being built when a full exit of its mint is accepted', () => {
  const built = (): { world: GatewayWorld; buy: Order } => {
    const buy = aBuy({ mint: 'scaled', notAfter: 1e9 })
    const world = local()
    world.script = ({ side }) => (side === 'sell' ? FILLED : [[100, verified]])
    world.submit(buy)
    world.submit(anOrder({ mint: 'scaled' }))
    return { world, buy }
  }

  test('a buy that a full exit overtook may not be sent, even after the end of the exit; a buy of another mint may', () => {
    const { world, buy } = built()
    const other = aBuy({ notAfter: 1e9 })
    world.submit(other)
    const { outgoing } = world.gateway
    expect([outgoing.refusalOf(buy.id), outgoing.refusalOf(other.id)]).toEqual(['EXIT_UNPROVED', undefined])
    world.settle(60_000)
    expect(outgoing.refusalOf(buy.id)).toBe('EXIT_UNPROVED')
  })

  test.each([
    ['while the exit is open', 1_000],
    ['after the end of the exit', 60_000],
  ])('a buy that a full exit overtook is not built again if the process ends %s', (_what, ms) => {
    const { world, buy } = built()
    world.settle(ms)
    world.crash(1)
    world.settle()
    expect(world.statesOf(buy)).toEqual(['working', 'refused EXIT_UNPROVED'])
    expect(world.attempts.find(({ orderId }) => orderId === buy.id)).toMatchObject({
      ...{ state: 'unsent', code: 'EXIT_UNPROVED' },
    })
    expect(world.executed.filter(({ side }) => side === 'buy')).toHaveLength(1)
  })
})

describe('the process dies', () => {
  test.each([
    ['being built', 0, 'unsent CRASHED'],
    ['verified', 805, 'unsent CRASHED'],
  ])(
    'if the process ends while an attempt is %s, it could not execute, and the order is retried',
    (_what, ms, state) => {
      const world = local([[800, verified]], FILLED)
      const order = anOrder()
      world.submit(order)
      world.settle(ms)
      world.crash(1)
      world.settle()
      expect(world.statesOf(order)).toEqual(['working', 'working', 'filled', 'filled'])
      expect(attemptStates(world)).toEqual([state, 'filled'])
    },
  )

  test('if the process ends after an attempt was sent, it is looked up and not built again', () => {
    const world = local(OUT)
    world.commitMs = 1
    const order = anOrder()
    world.submit(order)
    world.settle(2_000)
    world.gateway.requestSlot(world.limiter, () => {}) // the commit of this request makes the outcomes durable
    world.settle(100)
    world.crash(1)
    world.settle()
    expect(world.executed).toHaveLength(1)
    expect(attemptStates(world)).toEqual(['expired ABSENT'])
  })
})
