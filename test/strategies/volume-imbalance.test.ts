import { expect, test } from 'vitest'
import { testStrategy } from '../../src/testing.ts'
import imbalance from '../../strategies/volume-imbalance.ts'
import { addBars, asked, bars, type ShortBar } from './bars.ts'

const params = { imbalancePercent: 60, bars: 2, sizeSol: 0.1 }
const rising = (count: number, side: ShortBar[2]): ShortBar[] =>
  Array.from({ length: count }, (_, bar): ShortBar => [102 + 2 * bar, 10, side])
const MIXED = bars(1, 100, 10)
const BUY = /^buy 0\.1: buyers outweigh sellers by \d+ %$/

test.each<[string, ShortBar[], RegExp[]]>([
  ['bars with only buys at rising prices', [...MIXED, ...rising(2, 'buy')], [BUY]],
  ['a single bar with only buys', [...MIXED, ...rising(1, 'buy'), ...bars(2, 104, 10)], []],
  ['bars with only buys at a constant price', [...MIXED, ...bars(4, 100, 10, 'buy')], []],
  ['bars with only sales', [...MIXED, ...rising(4, 'sell')], []],
  [
    'bars with only sales after a buy',
    [...MIXED, ...rising(2, 'buy'), ...bars(2, 106, 10, 'sell')],
    [BUY, /^sell all: sellers outweigh/],
  ],
])('volume-imbalance sends the expected orders after %s', (_what, rows, orders) => {
  const rig = testStrategy(imbalance, { params })
  addBars(rig, '10 SOL', rows)
  expect(asked(rig)).toEqual(orders.map((pattern) => expect.stringMatching(pattern)))
})
