import { expect, test } from 'vitest'
import { testStrategy } from '../../src/testing.ts'
import grid from '../../strategies/grid-dca.ts'
import { addBars, asked, bars, type ShortBar } from './bars.ts'

const params = { stepPercent: 10, maxLots: 3, maxRangePercent: 8, minVolumeSol: 2, sizeSol: 0.1 }
const CALM = bars(14, 100, 3)
const LOT = (lot: number): string => `buy 0.1: lot ${lot} of 3`

test.each<[string, ShortBar[], string[]]>([
  ['after a calm price, it buys the first lot', CALM, [LOT(1)]],
  ['after a calm price on little volume, it does not buy', bars(14, 100, 1), []],
  [
    'after a wild price, it does not buy',
    Array.from({ length: 14 }, (_, bar): ShortBar => [bar % 2 ? 100 : 120, 3]),
    [],
  ],
  ['one step down, it buys the second lot', [...CALM, ...bars(4, 85, 3)], [LOT(1), LOT(2)]],
  ['one step up, it sells the lot', [...CALM, ...bars(4, 125, 1)], [LOT(1), 'sell all: lot 1, one step higher']],
  [
    'down and up again, it sells the second lot and keeps the first',
    [...CALM, ...bars(4, 85, 3), ...bars(3, 100, 3)],
    [LOT(1), LOT(2), 'sell 50 %: lot 2, one step higher'],
  ],
])('grid-dca: %s', (_what, rows, orders) => {
  const rig = testStrategy(grid, { params })
  addBars(rig, '15s', rows)
  expect(asked(rig)).toEqual(orders)
})

test('grid-dca buys at most its maximum number of lots while the price falls', () => {
  const rig = testStrategy(grid, { params, exits: 'none' })
  addBars(rig, '15s', [...CALM, ...[86, 74, 63, 54, 46].flatMap((price) => bars(4, price, 3))])
  expect(asked(rig)).toEqual([LOT(1), LOT(2), LOT(3)])
})

test('grid-dca keeps its lots after a restart', () => {
  const rig = testStrategy(grid, { params })
  addBars(rig, '15s', [...CALM, ...bars(4, 85, 3)])
  rig.restart()
  addBars(rig, '15s', bars(5, 100, 3))
  expect(asked(rig)).toEqual([LOT(1), LOT(2), 'sell 50 %: lot 2, one step higher'])
})
