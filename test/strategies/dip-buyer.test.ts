import { expect, test } from 'vitest'
import { MINT, OTHER_MINT, type StrategyRig, testStrategy } from '../../src/testing.ts'
import dipBuyer from '../../strategies/dip-buyer.ts'

const params = { dropPercent: 25, sizeSol: 0.1 }
/** The unit of the prices in this test. It is far below the price at which a token leaves its curve. */
const UNIT = 1e-9

function settle(rig: StrategyRig, ...prices: number[]): void {
  for (const price of prices) rig.settle(price * UNIT)
}

const asked = (rig: StrategyRig): string[] => rig.orders.map(({ side, sol, reason }) => `${side} ${sol}: ${reason}`)

const BUY = 'buy 0.1: fell 25.1 %'

test.each<[string, object, number[], string[]]>([
  ['a fall by less than `dropPercent`', params, [100, 75.1], []],
  ['a fall by more than `dropPercent`', params, [100, 74.9], [BUY]],
  ['a slow fall from an older high', params, [80, 100, 95, 85, 74], ['buy 0.1: fell 26.0 %']],
  ['a price that rises', params, [50, 60, 100], []],
  ['a fall of 16 % with the default params', {}, [100, 86, 84], ['buy 0.05: fell 16.0 %']],
])('dip-buyer sends the expected orders after %s', (_what, given, prices, requests) => {
  const rig = testStrategy(dipBuyer, { params: given })
  settle(rig, ...prices)
  expect(asked(rig)).toEqual(requests)
})

test('dip-buyer does not buy before there is a robust price', () => {
  const rig = testStrategy(dipBuyer, { params })
  for (const price of [100, 50, 50]) rig.trade({ price: price * UNIT })
  expect(rig.orders).toEqual([])
})

test('dip-buyer buys after a fall across a gap of the feed', () => {
  const rig = testStrategy(dipBuyer, { params })
  settle(rig, 100)
  rig.gap(5)
  settle(rig, 74.9)
  expect(asked(rig)).toEqual([BUY])
})

test('dip-buyer does not buy after outliers, which the robust price ignores', () => {
  const rig = testStrategy(dipBuyer, { params })
  settle(rig, 100)
  for (const price of [10, 100, 10, 100, 100]) rig.trade({ price: price * UNIT })
  expect(rig.orders).toEqual([])
})

test('dip-buyer does not buy twice if the price falls further during the first buy', () => {
  const rig = testStrategy(dipBuyer, { params, latencySeconds: 60 })
  settle(rig, 100, 74.9, 50, 25, 12)
  expect(rig.position()?.state).toBe('opening')
  expect(asked(rig)).toEqual([BUY])
})

test('dip-buyer does not buy a held token, and after its sale measures the next fall from the last buy', () => {
  const rig = testStrategy(dipBuyer, { params })
  settle(rig, 100, 74.9)
  rig.advance(5)
  settle(rig, 50)
  expect(asked(rig)).toEqual([BUY])
  rig.command({ name: 'sell', mint: MINT })
  settle(rig, 60)
  rig.advance(30) // until the sale is final: the next buy is refused before that
  expect(rig.position()?.state).toBe('closed')
  settle(rig, 56.1)
  expect(rig.orders.map(({ side, reason }) => [side, reason]).at(-1)).toEqual(['buy', 'fell 25.1 %'])
  expect(rig.orders).toHaveLength(3)
})

test('for dip-buyer, each token has its own high', () => {
  const rig = testStrategy(dipBuyer, { params })
  settle(rig, 100)
  rig.settle(80 * UNIT, { mint: OTHER_MINT })
  rig.settle(59.9 * UNIT, { mint: OTHER_MINT })
  expect(rig.orders).toMatchObject([{ mint: OTHER_MINT, sol: 0.1, reason: 'fell 25.1 %' }])
})

test('dip-buyer does not repeat a refused buy before the token falls again', () => {
  const rig = testStrategy(dipBuyer, { params, paper: { balanceSol: 0.05 } })
  settle(rig, 100, 74.9, 70, 60)
  expect(rig.refusals).toMatchObject([{ code: 'BALANCE_LOW' }])
  settle(rig, 56.1)
  expect(rig.refusals).toMatchObject([{ code: 'BALANCE_LOW' }, { code: 'BALANCE_LOW' }])
  expect(rig.orders).toEqual([])
})
