import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isOpen, type Order } from '../../src/core/order.ts'
import { aBuy, anOrder, fillOf, GatewayWorld, type Script } from '../support/gateway-world.ts'
import { absent, acked, FILL, lost, refused, reverted, unsent } from '../support/outcomes.ts'

/** What happens to one attempt. */
const FATES = {
  fills: FILL,
  'fills at once': [[900, (attempt) => fillOf(attempt, true)]],
  'fills, answer lost': [
    [10_000, lost],
    [15_000, acked],
    [25_000, (attempt) => fillOf(attempt, true)],
  ],
  'fills, is taken back, fills': [...FILL.slice(0, 2), [5_000, lost], [20_000, (attempt) => fillOf(attempt, true)]],
  'never arrives, answer lost': [
    [10_000, lost],
    [200_000, absent],
  ],
  'is not sent': [[20, unsent]],
  'is one too many': [[300, refused('RATE_LIMIT', 'wait')]],
  'is one too many, later': [[300, refused('RATE_LIMIT', 'wait', 2_500)]],
  'finds the price gone': [[300, refused('SLIPPAGE_EXCEEDED', 'slippage')]],
  'reverts for the price': [
    [200, acked],
    [1_700, reverted('SLIPPAGE_EXCEEDED', false)],
    [14_000, reverted('SLIPPAGE_EXCEEDED', true)],
  ],
  'is refused': [[300, refused('INSUFFICIENT_BALANCE', 'never')]],
  'meets a refused key': [[300, refused('AUTHENTICATION_FAILED', 'never')]],
  'meets a refused plan': [[300, refused('PLAN_REFUSED', 'never')]],
} satisfies Record<string, Script>
type Fate = keyof typeof FATES

interface Placed {
  afterMs: number
  mint: number
  isBuy: boolean
  ttlMs: number
  fates: Fate[]
}

const delay = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 60_000 }))
const placed: fc.Arbitrary<Placed> = fc.record({
  afterMs: delay,
  mint: fc.integer({ min: 0, max: 3 }),
  isBuy: fc.boolean(),
  ttlMs: fc.integer({ min: 0, max: 12_000 }),
  fates: fc.array(fc.constantFrom(...(Object.keys(FATES) as Fate[])), { maxLength: 5 }),
})
const share = fc.double({ min: 0, max: 1, noNaN: true })
const event = fc.oneof(
  { weight: 6, arbitrary: placed.map((order) => ({ kind: 'order' as const, ...order })) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), afterMs: delay, which: fc.nat(30) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('plan' as const), afterMs: delay, slots: fc.constantFrom(1, 3, 6) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), afterMs: delay, share, downMs: delay }) },
)

test('every order ends once, executes at most once, and never before it is durable', () => {
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
        world.script = ({ orderId }, number) => {
          const fate = fates.get(orderId)?.[number - 1] ?? 'fills'
          if (fate === 'meets a refused key') acceptKeyLater(world)
          return FATES[fate]
        }
        const orders: Order[] = []
        for (const happening of events) {
          world.settle(happening.afterMs)
          if (happening.kind === 'crash') world.crash(happening.share, happening.downMs)
          else if (happening.kind === 'plan') world.limiter.setRequestsPerMinute(happening.slots)
          else if (happening.kind === 'cancel') {
            const order = orders[happening.which % Math.max(1, orders.length)]
            if (order !== undefined) world.cancel(order)
          } else place(world, happening, orders, fates)
        }
        world.settle(3_600_000)
        world.gateway.keyAccepted(world.limiter) // should a crash have taken the timer along
        world.settle(24 * 3_600_000)
        for (const order of world.orders) check(world, order, fates, seen)
        expect(world.limiter.status()).toMatchObject({ held: 0, waiting: 0 })
      },
    ),
    { numRuns: 1_500 },
  )
  // The property is worth something only if it has been everywhere.
  for (const end of ['filled', 'failed', 'not_executed', 'refused', 'expired', 'cancelled']) {
    expect(seen.get(end), end).toBeGreaterThan(20)
  }
})

function acceptKeyLater(world: GatewayWorld): void {
  world.later(30_000, () => world.gateway.keyAccepted(world.limiter))
}

/** As the engine would: not into a lane whose order is open. */
function place(
  world: GatewayWorld,
  { mint, isBuy, ttlMs, fates }: Placed,
  orders: Order[],
  all: Map<string, Fate[]>,
): void {
  const lane = `${mint} ${isBuy}`
  const isTaken = orders.some((order) => {
    const known = world.orders.includes(order)
    return known && `${order.mint} ${order.side === 'buy'}` === lane && isOpen(world.stateOf(order))
  })
  if (isTaken) return
  const time = world.clock.now()
  const order = isBuy
    ? aBuy({ mint: `${mint}`, time, notAfter: time + ttlMs, slippagePercents: ttlMs % 2 === 0 ? [5] : [5, 10, 15, 20] })
    : anOrder({ mint: `${mint}`, time })
  orders.push(order)
  all.set(order.id, fates)
  world.submit(order)
}

function check(world: GatewayWorld, order: Order, fates: Map<string, Fate[]>, seen: Map<string, number>): void {
  const told = world.told(order)
  const state = world.stateOf(order)
  seen.set(state, (seen.get(state) ?? 0) + 1)
  expect(isOpen(state), `${order.id} is still ${state}: ${told}`).toBe(false)
  const reports = world.heard.filter(({ orderId }) => orderId === order.id)
  const ends = reports.filter(
    (report, index) => !isOpen(report.state) && isOpen(reports[index - 1]?.state ?? 'accepted'),
  )
  const takenBack = reports.filter(({ reversed }) => reversed !== undefined)
  expect(ends.length - takenBack.length, `${told}`).toBe(1)
  const executed = world.executed.filter(({ orderId }) => orderId === order.id)
  const executing = executed.filter((_attempt, index) => (fates.get(order.id)?.[index] ?? 'fills').startsWith('fills'))
  expect(executing.length, `${order.id} executed twice`).toBeLessThanOrEqual(1)
  expect(state === 'filled').toBe(executing.length === 1)
  for (const [index, attempt] of executed.entries()) {
    if (order.notAfter !== null) expect(attempt.armedAt).toBeLessThanOrEqual(order.notAfter)
    const next = executed[index + 1]
    const end = FATES[fates.get(order.id)?.[index] ?? 'fills'].at(-1)?.[0] ?? 0
    if (next !== undefined)
      expect(next.armedAt, 'before the one before it had ended').toBeGreaterThanOrEqual(attempt.armedAt + end)
  }
}
