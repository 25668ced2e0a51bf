import { expect, test } from 'vitest'
import { testStrategy } from '../../src/testing.ts'
import imbalance from '../../strategies/volume-imbalance.ts'
import { addBars, asked, bars, type TestBar } from './bars.ts'

const params = { imbalancePercent: 60, bars: 2, sizeSol: 0.1 }
const rising = (count: number, side: TestBar[2]): TestBar[] =>
  Array.from({ length: count }, (_, bar): TestBar => [100 + 2 * bar, 5, side])
const MIXED = bars(1, 100, 5)
const BUY = /^buy 0\.1: buyers outweigh sellers by \d+ %$/

test.each<[string, TestBar[], RegExp[]]>([
  ['buys alone at rising prices', [...MIXED, ...rising(8, 'buy')], [BUY]],
  ['buys alone in one bar only', [...MIXED, ...rising(3, 'buy'), ...bars(4, 104, 5)], []],
  ['buys alone at a constant price', [...MIXED, ...bars(8, 100, 5, 'buy')], []],
  ['sales alone', [...MIXED, ...rising(8, 'sell')], []],
  [
    'sales after the buy',
    [...MIXED, ...rising(8, 'buy'), ...bars(3, 114, 5, 'sell')],
    [BUY, /^sell all: sellers outweigh/],
  ],
])('%s', (_what, rows, orders) => {
  const rig = testStrategy(imbalance, { params })
  addBars(rig, 15, rows)
  expect(asked(rig)).toEqual(orders.map((pattern) => expect.stringMatching(pattern)))
})
