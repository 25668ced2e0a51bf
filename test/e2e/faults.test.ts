import { describe, expect, test } from 'vitest'
import type { Fault } from '../../src/sandbox/faults.ts'
import { openStage, orderIn, tell } from './stage.ts'
import type { Venue } from './venue.ts'

/** True if the tests wait until it is proved that an order did not execute, which takes half a minute. */
const LONG = process.env.SLUICE_E2E_LONG === '1'
const SOL = { tradeAmount: 'sol' }
const POSTS = { buy: 'POST /api/trade/buy', sell: 'POST /api/trade/sell' }

function posts({ requests }: Venue, side: 'buy' | 'sell'): number {
  return requests.filter((request) => request === POSTS[side]).length
}

describe.concurrent('an order whose answer goes wrong', () => {
  test.for<[what: string, fault: Fault]>([
    ['the answer to the order is lost', { kind: 'dropAfter' }],
    ['the answer to the order is replaced by a 502', { kind: 'serverError', status: 502, executed: true }],
    ['the answer to the order is replaced by a 408', { kind: 'serverError', status: 408, executed: true }],
    ['the answer to the order comes late', { kind: 'delay', ms: 1_500 }],
  ])(
    'if an order executed and %s, the feed shows the execution, one fill is booked, and nothing is sent again',
    async ([, fault], { onTestFinished }) => {
      const stage = await openStage({}, onTestFinished)
      const running = await stage.go()
      for (const [side, id] of [
        ['buy', 'o1'],
        ['sell', 'o2'],
      ] as const) {
        stage.sandbox.faults.set({ ...fault, target: `/trade/${side}` })
        expect((await tell(running.handle, stage, side)).answer).toBe(id)
        await orderIn(stage, id, ({ state }) => state === 'filled')
      }
      await stage.settled()
      await running.stop()
      expect(await stage.complaints()).toEqual([])
      expect([posts(stage, 'buy'), posts(stage, 'sell')]).toEqual([1, 1])
    },
  )

  test.for<[what: string, fault: Fault]>([
    ['the answer to the order is lost', { kind: 'dropBefore' }],
    ['the answer to the order is a 500', { kind: 'serverError', status: 500, executed: false }],
  ])(
    'if an order did not execute and %s, its token and its SOL stay reserved over restarts, and nothing is sent again',
    async ([, fault], { onTestFinished }) => {
      // Without LONG, the proof comes so late that the outcome is still unproved in every process of this test. With
      // LONG, the test waits for the proof.
      const lateSeconds = LONG ? 3 : 3_600
      const stage = await openStage({ config: { service: { units: SOL, lateSeconds } } }, onTestFinished)
      const running = await stage.go()
      stage.sandbox.faults.set({ ...fault, target: '/trade/buy' })
      expect((await tell(running.handle, stage, 'buy')).answer).toBe('o1')
      const { reserveLamports } = await orderIn(stage, 'o1', ({ code }) => code === 'ANSWER_LOST')
      const refused = { answer: 'LANE_BUSY', reservedSol: reserveLamports / 1e9 }
      expect(await tell(running.handle, stage, 'buy')).toEqual(refused)
      await running.stop()
      const again = await stage.go()
      expect(await tell(again.handle, stage, 'buy')).toEqual(refused)
      expect(stage.books().orders).toEqual([expect.objectContaining({ id: 'o1', state: 'working' })])
      if (LONG) await orderIn(stage, 'o1', ({ state }) => state === 'not_executed')
      expect(posts(stage, 'buy')).toBe(1)
      if (LONG) expect(await tell(again.handle, stage, 'buy')).toEqual({ ...refused, answer: 'o2' })
      if (LONG) await stage.settled()
      await again.stop()
      expect(await stage.complaints()).toEqual([])
    },
  )

  test('if the service answers 429 repeatedly, the order is retried at growing intervals until it succeeds, and the request rate is reduced', async ({
    onTestFinished,
  }) => {
    const stage = await openStage({}, onTestFinished)
    const running = await stage.go()
    for (const [side, id] of [
      ['buy', 'o1'],
      ['sell', 'o2'],
    ] as const) {
      stage.sandbox.faults.set({ kind: 'rateLimit', count: 2, target: `/trade/${side}` })
      await tell(running.handle, stage, side)
      await orderIn(stage, id, ({ state }) => state === 'filled')
    }
    const { allowed, perMinute, holds } = running.world.limiter.status()
    expect(allowed).toBeLessThan(perMinute)
    expect(holds).toMatchObject([
      { code: 'THROTTLED', text: expect.stringContaining('429 (too many requests) 4 times') },
    ])
    await stage.settled()
    await running.stop()
    expect(await stage.complaints()).toEqual([])
    expect([posts(stage, 'buy'), posts(stage, 'sell')]).toEqual([3, 3])
  })

  test('if the service answers 429 for longer than a buy may wait, the buy expires and releases its reserved SOL', async ({
    onTestFinished,
  }) => {
    const stage = await openStage({}, onTestFinished)
    const running = await stage.go()
    stage.sandbox.faults.set({ kind: 'rateLimit', count: 100 })
    await tell(running.handle, stage, 'buy within a second')
    await orderIn(stage, 'o1', ({ state, code }) => state === 'expired' && code === 'TTL')
    stage.sandbox.faults.clear()
    expect(await tell(running.handle, stage, 'buy')).toMatchObject({ answer: 'o2' })
    await stage.settled()
    await running.stop()
    expect(await stage.complaints()).toEqual([])
    expect(stage.books().orders.map(({ state }) => state)).toEqual(['expired', 'filled'])
  })

  test('after an answer 403 without a code, entries stop and the reason is reported', async ({ onTestFinished }) => {
    const stage = await openStage({}, onTestFinished)
    const running = await stage.go()
    stage.sandbox.faults.set({ kind: 'planRefused' })
    await tell(running.handle, stage, 'buy')
    await orderIn(stage, 'o1', ({ state, code }) => state === 'refused' && code === 'PLAN_REFUSED')
    await tell(running.handle, stage, 'buy')
    await orderIn(stage, 'o2', ({ state, code }) => state === 'refused' && code === 'PLAN_REFUSED')
    expect(posts(stage, 'buy')).toBe(1)
  })
})

describe.concurrent('an order that the chain reverts or drops', () => {
  test.for<[what: string, fault: Fault, ends: string[]]>([
    ['an order fails on the chain', { kind: 'reverted' }, ['failed']],
    ['an order is reverted by a fork and lands again', { kind: 'fork', slots: 10 }, ['filled']],
    [
      'an order is looked up at an RPC that fails twice',
      { kind: 'rpcError', count: 2, target: 'getTransaction' },
      ['filled'],
    ],
  ])('if %s, the journal ends with the state of the chain', async ([, fault, ends], { onTestFinished }) => {
    const stage = await openStage({}, onTestFinished)
    const running = await stage.go()
    stage.sandbox.faults.set(fault)
    await tell(running.handle, stage, 'buy')
    await stage.settled()
    await running.stop()
    expect(await stage.complaints()).toEqual([])
    expect(stage.books().orders.map(({ state }) => state)).toEqual(ends)
    expect(posts(stage, 'buy')).toBe(1)
  })
})
