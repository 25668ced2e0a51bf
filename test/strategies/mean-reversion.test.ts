import { expect, test } from 'vitest'
import { testStrategy } from '../../src/testing.ts'
import meanReversion from '../../strategies/mean-reversion.ts'
import { addBars, asked, bars, type ShortBar } from './bars.ts'

const params = { bars: 10, deviations: 2, maxRsi: 30, minVolumeSol: 1, sizeSol: 0.1 }
/** Enough bars for the RSI, which needs fifteen. */
const CALM = Array.from({ length: 16 }, (_, bar): ShortBar => [bar % 2 === 0 ? 100 : 101, 2])
const FALL: ShortBar[] = [[88, 2]]
const BUY = /^buy 0\.1: below the lower band, RSI \d+$/
const SELL = /^sell all: back at the middle band$/

test.each<[string, ShortBar[], RegExp[]]>([
  ['a calm price', [...CALM, ...bars(3, 100, 2)], []],
  ['a close below the lower band', [...CALM, ...FALL], [BUY]],
  ['a close below the lower band on little volume', [...CALM, [88, 0.5]], []],
  ['a fall before the bands are known', [...bars(8, 100, 2), ...FALL], []],
  ['a fall and the way back to the middle band', [...CALM, ...FALL, [88, 2], [101, 2]], [BUY, SELL]],
  ['a close above the upper band without a position', [...CALM, [110, 2]], []],
])('mean-reversion sends the expected orders after %s', (_what, rows, orders) => {
  const rig = testStrategy(meanReversion, { params })
  addBars(rig, '1m', rows)
  expect(asked(rig)).toEqual(orders.map((pattern) => expect.stringMatching(pattern)))
})

test('mean-reversion does not buy if the RSI is not low', () => {
  const rig = testStrategy(meanReversion, { params: { ...params, maxRsi: 5 } })
  addBars(rig, '1m', [...CALM, ...FALL])
  expect(rig.orders).toEqual([])
})
