import { expect, test } from 'vitest'
import { testStrategy } from '../../src/testing.ts'
import migration from '../../strategies/migration.ts'
import { addBars, asked, bars, type ShortBar } from './bars.ts'

// The price at the end of the curve is far below the real one, because the fill model knows the depth of a curve, but
// not the depth of an unknown pool.
const params = { curveEndPrice: 100e-9, holdBars: 2, maxAbovePercent: 50, minVolumeSol: 5, sizeSol: 0.1 }
const BELOW = bars(3, 80, 8)
const BUY = "buy 0.1: left its curve, 10 % above the curve's end price"

test.each<[string, ShortBar[], string[], string[]]>([
  ['bars below the end price of the curve', [...BELOW, ...bars(5, 99, 8)], [], []],
  ['two bars above the end price', [...BELOW, ...bars(3, 110, 8)], [BUY], []],
  ['only one bar above the end price', [...BELOW, [110, 8], ...bars(3, 90, 8)], [], []],
  [
    'two bars above the end price, after one above and one below',
    [...BELOW, [110, 8], [90, 8], ...bars(3, 110, 8)],
    [BUY],
    [],
  ],
  ['bars far above the end price', [...BELOW, ...bars(4, 180, 8)], [], ["80 % above the curve's end price"]],
  ['bars with little volume', [...BELOW, ...bars(4, 110, 2)], [], ['too little volume']],
])('migration sends the expected orders after %s', (_what, rows, orders, notes) => {
  const rig = testStrategy(migration, { params })
  rig.newToken({ afterSeconds: 0 })
  addBars(rig, '15s', rows)
  expect(asked(rig)).toEqual(orders)
  expect(rig.notes.map(({ reason }) => reason)).toEqual(notes)
})

test('migration does not trade a token whose launch it has not seen', () => {
  const rig = testStrategy(migration, { params })
  addBars(rig, '15s', [...BELOW, ...bars(3, 110, 8)])
  expect(rig.orders).toEqual([])
})
