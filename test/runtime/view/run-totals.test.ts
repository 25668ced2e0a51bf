import { expect, test } from 'vitest'
import { lamports } from '../../../src/base/units.ts'
import { NO_COSTS } from '../../../src/engine/accounting/fill-costs.ts'
import type { Input, Output } from '../../../src/engine/messages.ts'
import type { Fill, Order, OrderState } from '../../../src/engine/order.ts'
import { OpenOrders } from '../../../src/runtime/view/open-orders.ts'
import { RunTotals } from '../../../src/runtime/view/run-totals.ts'

/** Returns totals that have received the outputs of two orders: an entry at 0 ms and an exit at 1,000 ms. */
function told() {
  const orders = new OpenOrders()
  const totals = new RunTotals()
  const take = (time: number, output: Output): void => {
    totals.take(time, output, orders)
    orders.take(output)
  }
  const order = (id: string, more: Partial<Order>) => ({ kind: 'order', order: { id, bot: 'dips', ...more } }) as Output
  take(0, order('o1', { time: 0, side: 'buy', class: 'entry' }))
  take(1_000, order('o2', { time: 1_000, side: 'sell', class: 'exit' }))
  const ends = (time: number, orderId: string, state: OrderState, code = ''): void =>
    take(time, { kind: 'orderState', orderId, state, code, reason: '' } as Output)
  const report = (orderId: string, feeLamports: number) =>
    totals.hear({ kind: 'report', id: 1, report: { orderId, feeLamports } } as Input, orders)
  return { totals, ends, report }
}

test('in the totals, an order counts when it ends, and not again when its fill becomes final', () => {
  const { totals, ends } = told()
  ends(10, 'o1', 'working')
  expect(totals.totals.endedOrders).toEqual([])
  ends(700, 'o1', 'filled')
  ends(900, 'o1', 'filled')
  ends(1_100, 'o2', 'not_executed', 'SLIPPAGE_EXCEEDED')
  ends(1_200, 'unheard', 'filled')
  expect(totals.totals.endedOrders).toEqual([
    { bot: 'dips', side: 'buy', state: 'filled', code: '', count: 1 },
    { bot: 'dips', side: 'sell', state: 'not_executed', code: 'SLIPPAGE_EXCEEDED', count: 1 },
  ])
  const { entry, exit } = totals.totals.fillTimes
  expect([entry.sumSeconds, entry.counts.indexOf(1), entry.bounds[entry.counts.indexOf(1)]]).toEqual([0.7, 3, 1])
  expect([exit.sumSeconds, exit.counts.reduce((sum, count) => sum + count)]).toEqual([0, 0])
})

test('the totals count an order once more after a fork and once more after a late fill, and no count ever decreases', () => {
  const { totals, ends } = told()
  for (const state of ['filled', 'working', 'filled'] as const) ends(500, 'o1', state)
  for (const state of ['failed', 'filled'] as const) ends(2_000, 'o2', state)
  expect(totals.totals.endedOrders.map(({ side, state, count }) => [side, state, count])).toEqual([
    ['buy', 'filled', 2],
    ['sell', 'failed', 1],
    ['sell', 'filled', 1],
  ])
})

test('the totals add up fills and fees by kind, to the lamport', () => {
  const { totals, report } = told()
  const costs = {
    ...NO_COSTS,
    venueFeeLamports: lamports(3),
    baseFeeLamports: lamports(5_000),
    tipLamports: lamports(7),
  }
  for (let n = 0; n < 3; n++)
    totals.fill({ bot: 'dips', side: 'buy', tradeLamports: lamports(100_000_001), costs } as Fill)
  report('o1', 5_000)
  report('o2', 105_000)
  report('unheard', 1)
  const { fills, failedFeesSol } = totals.totals
  expect(failedFeesSol).toEqual({ dips: 0.00011 })
  expect(fills).toEqual([
    {
      ...{ bot: 'dips', side: 'buy', count: 3, tradedSol: 0.300000003, venueFeesSol: 9e-9, serviceFeesSol: 0 },
      ...{ baseFeesSol: 0.000015, priorityFeesSol: 0, tipsSol: 2.1e-8, rentPaidSol: 0, rentReturnedSol: 0 },
    },
  ])
})

test('the totals stay the same object until they count something new', () => {
  const { totals, ends } = told()
  const before = totals.totals
  ends(10, 'o1', 'working')
  expect(totals.totals).toBe(before)
  ends(20, 'o1', 'cancelled', 'HALTED')
  expect(totals.totals).not.toBe(before)
})
