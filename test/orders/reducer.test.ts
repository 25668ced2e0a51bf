import { expect, test } from 'vitest'
import type { Order } from '../../src/engine/order.ts'
import type { Effect, OrderEvent } from '../../src/orders/events.ts'
import { Limiter } from '../../src/orders/plan-limiter.ts'
import type { Executor, Slot } from '../../src/orders/ports.ts'
import { step } from '../../src/orders/reducer.ts'
import { Orders } from '../../src/orders/reducer-state.ts'
import type { WorkingOrder } from '../../src/orders/working-order.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { aBuy, anOrder } from '../support/gateway-world.ts'
import { unsent } from '../support/outcomes.ts'

const NOW = 1_000
const SLOT: Slot = { key: 'k', id: 1, boot: 'b', takenAt: 0n, doneAt: null }

/** Returns the reducer without its environment. The test fails if the reducer calls an executor or a limiter. */
function reducer() {
  const called = (): never => expect.fail('a step of the reducer calls nothing outside of the state')
  const executor: Executor = { execute: called, resume: called }
  const clock = new SimulatedClock(NOW)
  const limiter = new Limiter({
    ...{
      key: 'k',
      boot: 'b',
      requestsPerMinute: 1,
      past: 'fresh',
      clock,
      monotonicMs: () => clock.now(),
      write: called,
    },
  })
  const orders = new Orders(() => ({ kind: 'cloud', executor, limiter }), 1)
  const take = (event: OrderEvent): readonly Effect[] => step(orders, event, NOW, NOW)
  const submit = (order: Order): WorkingOrder => {
    take({ kind: 'submitted', order })
    return orders.open.get(order.id) as WorkingOrder
  }
  const grant = (working: WorkingOrder) =>
    take({ kind: 'slotGranted', working, slot: SLOT, askedAt: NOW, baseline: null })
  return { orders, take, submit, grant }
}

const kinds = (effects: readonly Effect[]): string[] =>
  effects.map((effect) => (effect.kind === 'event' ? effect.event.kind : effect.kind))
const whenDurable = (effects: readonly Effect[]): string[] =>
  effects.flatMap((effect) => (effect.kind === 'commit' ? kinds(effect.whenDurable) : []))

test('an accepted order requests a request slot, and is committed without an attempt if no slot is free', () => {
  const { orders, take } = reducer()
  const order = aBuy()
  expect(kinds(take({ kind: 'submitted', order }))).toEqual(['failpoint', 'requestSlot'])
  const working = orders.open.get(order.id) as WorkingOrder
  expect(kinds(take({ kind: 'queued', working }))).toEqual(['commit', 'limitSlotWait'])
})

test('an attempt is sent only after its record is durable and the engine has received the report about it', () => {
  const { take, submit, grant } = reducer()
  const working = submit(anOrder())
  const effects = grant(working)
  expect(kinds(effects)).toEqual(['unschedule', 'write', 'write', 'failpoint', 'commit'])
  expect(whenDurable(effects)).toEqual(['report', 'attemptDurable'])
  const [open] = working.openAttempts
  if (open === undefined) return expect.fail('the order has no open attempt')
  expect(kinds(take({ kind: 'attemptDurable', working, open }))).toEqual(['failpoint', 'execute', 'failpoint'])
})

test('an order that the engine cancels when it receives the report of a failure has no further attempt', () => {
  const { take, submit, grant } = reducer()
  const working = submit(anOrder())
  grant(working)
  const [open] = working.openAttempts
  if (open === undefined) return expect.fail('the order has no open attempt')
  expect(kinds(take({ kind: 'outcome', working, open, outcome: unsent }))).toEqual(['slotUnused', 'outcomeCounted'])
  const effects = take({ kind: 'outcomeCounted', working, open, outcome: unsent })
  expect(kinds(effects)).toEqual(['write', 'write', 'failpoint', 'commit', 'failureReported'])
  const retry = effects.at(-1)
  if (retry?.kind !== 'event') return expect.fail('no event follows the failure')
  take({ kind: 'cancelled', orderId: working.order.id, code: 'CANCELLED' })
  expect(take(retry.event)).toEqual([])
})

test('a halt ends waiting entries one by one, and reports each before it ends the next', () => {
  const { take, submit } = reducer()
  const waiting = [submit(aBuy()), submit(aBuy())]
  submit(anOrder())
  const effects = take({ kind: 'haltChanged', account: 'a', isHalted: true })
  expect(kinds(effects)).toEqual(['entryBlocked', 'entryBlocked'])
  const [first] = waiting
  expect(kinds(take({ kind: 'entryBlocked', working: first as WorkingOrder }))).toEqual([
    ...['unschedule', 'write', 'failpoint', 'commit'],
  ])
  expect(waiting.map(({ state }) => state)).toEqual(['refused', 'accepted'])
})
