import { expect, test } from 'vitest'
import dipBuyer from '../../strategies/dip-buyer.ts'
import { requestsOf, type Shown } from '../support/strategy-harness.ts'

/** Trades of one token, a second apart, at these robust prices. */
const prices = (...robust: (number | null)[]): Shown[] =>
  robust.map((price, index) => ({ time: index * 1_000, mint: 'A', price: 1, robust: price }))

const params = { dropPercent: 25, sizeSol: 0.1 }
const BUY = 'buy A 0.1: fell 25.0 %'

test.each<[string, object, Shown[], string[]]>([
  ['a fall by less than the drop', params, prices(100, 76), []],
  ['a fall by the drop', params, prices(100, 75), [BUY]],
  ['a slow fall from an older high', params, prices(80, 100, 95, 85, 74), ['buy A 0.1: fell 26.0 %']],
  ['a rise', params, prices(50, 60, 100), []],
  ['the defaults', {}, prices(100, 86, 84), ['buy A 0.05: fell 16.0 %']],
  ['no robust price yet', params, prices(null, null, null), []],
  ['a robust price that comes and goes', params, prices(100, null, 75), [BUY]],
  ['prints far off, which the robust price does not follow', params, prices(100, 100, 100), []],
  ['falling on while the first buy is under way', params, prices(100, 75, 50, 25, 12), [BUY]],
  ['already holding', params, [{ time: 0, mint: 'A', price: 100, holds: 'open' }, ...prices(100, 50)], []],
  [
    'sold again: the next fall counts from the price of the last buy',
    params,
    [...prices(100, 75), { time: 9_000, mint: 'A', price: 60, holds: null }, { time: 9_001, mint: 'A', price: 56.25 }],
    [BUY, BUY],
  ],
  [
    'two tokens, each with its own high',
    params,
    [...prices(100), { time: 1, mint: 'B', price: 80 }, { time: 2, mint: 'B', price: 60 }],
    ['buy B 0.1: fell 25.0 %'],
  ],
])('%s', (_what, given, rows, requests) => {
  expect(requestsOf(dipBuyer, given, rows)).toEqual(requests)
})

test('a refused buy is not repeated before the token fell again', () => {
  const requests = requestsOf(dipBuyer, params, prices(100, 75, 70, 60, 56.25), 'BALANCE_LOW')
  expect(requests).toEqual([BUY, BUY])
})
