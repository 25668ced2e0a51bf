import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isFullExit, isOpen, type Order } from '../../src/engine/order.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import { aBuy, anOrder, fillOf, GatewayWorld, type Script } from '../support/gateway-world.ts'
import { absent, acked, FILL, lost, refused, reverted, unsent } from '../support/outcomes.ts'
import { runs } from '../support/runs.ts'
import { TokenChain } from '../support/token-chain.ts'

/** What can happen to an attempt, by name: the outcomes that the executor reports, each with its time in ms. */
const FATES = {
  fills: FILL,
  'fills at once': [[900, (attempt) => fillOf(attempt, true)]],
  'fills after its answer was lost': [
    [10_000, lost],
    [15_000, acked],
    [25_000, (attempt) => fillOf(attempt, true)],
  ],
  'fills, is reversed by a fork, and fills again': [
    ...FILL.slice(0, 2),
    [5_000, lost],
    [20_000, (attempt) => fillOf(attempt, true)],
  ],
  'never arrives, and its answer is lost': [
    [10_000, lost],
    [200_000, absent],
  ],
  'is not sent': [[20, unsent]],
  'gets a 429': [[300, refused('RATE_LIMIT', 'wait')]],
  'gets a 429 with Retry-After': [[300, refused('RATE_LIMIT', 'wait', 2_500)]],
  'is refused for slippage': [[300, refused('SLIPPAGE_EXCEEDED', 'slippage')]],
  'reverts for slippage': [
    [200, acked],
    [1_700, reverted('SLIPPAGE_EXCEEDED', false)],
    [14_000, reverted('SLIPPAGE_EXCEEDED', true)],
  ],
  'is refused': [[300, refused('INSUFFICIENT_BALANCE', 'never')]],
  'is refused because of the key': [[300, refused('AUTHENTICATION_FAILED', 'never')]],
  'is refused because of the plan': [[300, refused('PLAN_REFUSED', 'never')]],
} satisfies Record<string, Script>
type Fate = keyof typeof FATES
/** Outcomes of a sale for which the wallet has no tokens. */
const EMPTY: Script = [
  [200, acked],
  [1_700, reverted('REVERTED', false)],
  [14_000, reverted('REVERTED', true)],
]
const TOKENS = 4

interface Placed {
  afterMs: number
  mint: number
  kind: 'buy' | 'part' | 'all'
  ttlMs: number
  fates: Fate[]
}

const delay = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 60_000 }))
const placed: fc.Arbitrary<Placed> = fc.record({
  afterMs: delay,
  mint: fc.integer({ min: 0, max: 3 }),
  kind: fc.constantFrom('buy', 'part', 'all'),
  ttlMs: fc.integer({ min: 0, max: 12_000 }),
  fates: fc.array(fc.constantFrom(...(Object.keys(FATES) as Fate[])), { maxLength: 5 }),
})
const share = fc.double({ min: 0, max: 1, noNaN: true })
const event = fc.oneof(
  { weight: 6, arbitrary: placed.map((order) => ({ kind: 'order' as const, order })) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), afterMs: delay, which: fc.nat(30) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('plan' as const), afterMs: delay, slots: fc.constantFrom(1, 3, 6) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), afterMs: delay, share, downMs: delay }) },
)

test('every order ends once and is never sent before it is durable; it executes at most once, or is a full exit that sells at most the tokens held', () => {
  const seen = new Map<string, number>()
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.constantFrom(0, 3, 400),
      fc.array(event, { minLength: 1, maxLength: 25 }),
      (slots, commitMs, events) => {
        const world = new GatewayWorld(slots)
        world.commitMs = commitMs
        const fates = new Map<string, Fate[]>()
        const chain = new TokenChain(TOKENS)
        const scripts = new Map<string, Script>()
        world.script = (attempt, number) => {
          const known = scripts.get(attempt.id)
          if (known !== undefined) return known
          const fate = fates.get(attempt.orderId)?.[number - 1] ?? 'fills'
          if (fate === 'is refused because of the key') acceptKeyLater(world)
          const script = fate.startsWith('fills') ? onChain(chain, attempt, fate) : FATES[fate]
          scripts.set(attempt.id, script)
          return script
        }
        const orders: Order[] = []
        for (const happening of events) {
          world.settle(happening.kind === 'order' ? happening.order.afterMs : happening.afterMs)
          if (happening.kind === 'crash') world.crash(happening.share, happening.downMs)
          else if (happening.kind === 'plan') world.limiter.setRequestsPerMinute(happening.slots)
          else if (happening.kind === 'cancel') {
            const order = orders[happening.which % Math.max(1, orders.length)]
            if (order !== undefined) world.cancel(order)
          } else place(world, happening.order, orders, fates)
        }
        world.settle(3_600_000)
        world.gateway.keyAccepted(world.limiter) // a crash may have lost the timer that tries the key again
        world.settle(24 * 3_600_000)
        for (const order of world.orders) check(world, order, chain, seen)
        expect(world.limiter.status()).toMatchObject({ held: 0, waiting: 0 })
        expect(world.out.size).toBe(0)
      },
    ),
    { numRuns: runs(500) },
  )
  // Checks that the random runs covered every way in which an order can end.
  for (const end of ['filled', 'failed', 'not_executed', 'refused', 'expired', 'cancelled', 'repeated']) {
    expect(seen.get(end), end).toBeGreaterThan(20)
  }
})

function acceptKeyLater(world: GatewayWorld): void {
  world.later(30_000, () => world.gateway.keyAccepted(world.limiter))
}

/** Returns an attempt that executes if tokens are left, and once more after a fork if tokens are left at that time. */
function onChain(chain: TokenChain, attempt: Attempt, fate: Fate): Script {
  if (!chain.execute(attempt)) return EMPTY
  const [seen, end] = [FATES[fate].slice(0, -1), FATES[fate].at(-1)?.[0] ?? 0]
  const script: Script = seen.map(([ms, outcome]) => [
    ms,
    outcome === lost && fate === 'fills, is reversed by a fork, and fills again'
      ? () => {
          chain.takeBack(attempt)
          return lost
        }
      : outcome,
  ])
  return [...script, [end, () => (chain.execute(attempt) ? fillOf(attempt, true) : reverted('REVERTED', true))]]
}

/**
 * Places an order only if the engine would place it. No other order of its token and side may be open, except a partial
 * sale during a full exit. A mint that an open full exit may still sell is not bought.
 */
function place(
  world: GatewayWorld,
  { mint, kind, ttlMs, fates }: Placed,
  orders: Order[],
  all: Map<string, Fate[]>,
): void {
  const isInTheWay = (order: Order): boolean => {
    if (order.mint !== `${mint}` || !world.orders.includes(order)) return false
    if (kind === 'buy' && world.unprovedOf(order) > 0) return true
    if (!isOpen(world.stateOf(order))) return false
    if (kind === 'buy') return order.side === 'buy' || isFullExit(order)
    return order.side === 'sell' && (kind === 'part' || isFullExit(order))
  }
  if (orders.some(isInTheWay)) return
  const time = world.clock.now()
  const sale = { mint: `${mint}`, time }
  const order =
    kind === 'buy'
      ? aBuy({ ...sale, notAfter: time + ttlMs, slippagePercents: ttlMs % 2 === 0 ? [5] : [5, 10, 15, 20] })
      : anOrder(kind === 'all' ? { ...sale, repeatMs: 3_000 } : { ...sale, size: { kind: 'percent', percent: 50 } })
  orders.push(order)
  all.set(order.id, fates)
  world.submit(order)
}

function check(world: GatewayWorld, order: Order, chain: TokenChain, seen: Map<string, number>): void {
  const states = world.statesOf(order)
  const state = world.stateOf(order)
  seen.set(state, (seen.get(state) ?? 0) + 1)
  expect(isOpen(state), `${order.id} is still ${state}: ${states}`).toBe(false)
  const reports = world.heard.filter(({ orderId }) => orderId === order.id)
  const ends = reports.filter(
    (report, index) => !isOpen(report.state) && isOpen(reports[index - 1]?.state ?? 'accepted'),
  )
  const takenBack = reports.filter((report) => report.reversed !== undefined && isOpen(report.state))
  expect(ends.length - takenBack.length, `${states}`).toBe(1)
  const executed = world.executed.filter(({ orderId }) => orderId === order.id)
  const executing = executed.filter((attempt) => chain.hasExecuted(attempt)).map(({ id }) => id)
  if (!isFullExit(order)) expect(executing.length, `${order.id} executed twice`).toBeLessThanOrEqual(1)
  expect(state === 'filled', `${states}`).toBe(executing.length > 0)
  const finals = reports.flatMap(({ fill }) => (fill?.final === true ? [fill.attemptId] : []))
  expect(finals.sort(), 'every execution is booked once').toEqual(executing.sort())
  if (isFullExit(order)) expect(world.unprovedOf(order)).toBe(0)
  if (executed.length > 1 && order.repeatMs !== null && executed.some(({ id }, index) => index > 0 && isBeside(id)))
    seen.set('repeated', (seen.get('repeated') ?? 0) + 1)
  for (const attempt of executed)
    if (order.notAfter !== null) expect(attempt.armedAt).toBeLessThanOrEqual(order.notAfter)

  /** Returns whether the attempt was sent while the outcome of an earlier attempt of the same order was unproved. */
  function isBeside(id: string): boolean {
    const working = reports.find(({ attemptId, state: to }) => attemptId === id && to === 'working')
    return (working?.unproved ?? 0) > 1
  }
}
