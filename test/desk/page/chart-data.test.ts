import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  candles,
  cellMsOf,
  cellOf,
  gridOf,
  gridOfToken,
  marksOf,
  offeredWidths,
  priceAt,
  priceCells,
  waterfallSteps,
} from '../../../src/desk/page/chart-data.ts'
import { mintOf, NOW, recordedToken, SMALL } from './recorded-desk.ts'

const HOUR = 3_600_000

test('the time grid of a chart covers the whole time, and its number of cells is limited', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2e12 }), fc.integer({ min: 0, max: 1e10 }), (from, span) => {
      const grid = gridOf(from, from + span)
      expect(grid.from).toBeLessThanOrEqual(from)
      expect(cellOf(grid, from + span)).toBeLessThan(grid.cells)
      expect(grid.cells).toBeLessThanOrEqual(4_002)
    }),
    { seed: 17 },
  )
})

test('the time grid in the chart of a young token begins with its first price', () => {
  const token = recordedToken(SMALL, mintOf(0), '')
  const young = { ...token, price: [[NOW - 60_000], [1]] as const }
  expect(gridOfToken(young, 0).from).toBe(NOW - 60_000)
  expect(gridOfToken({ ...token, price: [[], []] }, 0).from).toBe(token.from)
})

test('each cell of a chart has the last price in it, and a price is valid until the next price', () => {
  const grid = gridOf(0, 4_000)
  const price = [
    [1_000, 1_500, 3_200],
    [1, 2, 3],
  ] as const
  expect(priceCells({ price }, grid)).toEqual([
    { time: 0 },
    { time: 1, value: 2 },
    { time: 2, value: 2 },
    { time: 3, value: 3 },
    { time: 4, value: 3 },
  ])
})

test('in a chart, a bar is in the cell in which it ends, and bars of trades may share a cell', () => {
  const bar = (t: number, o: number, h: number, l: number, c: number) => ({ t, o, h, l, c, v: 1 })
  const grid = gridOf(0, 180_000, 60_000)
  expect(candles([bar(60_000, 1, 2, 1, 2), bar(120_000, 2, 3, 2, 3)], grid)).toEqual([
    { time: 0, open: 1, high: 2, low: 1, close: 2 },
    { time: 60, open: 2, high: 3, low: 2, close: 3 },
  ])
  expect(candles([bar(61_000, 1, 2, 1, 2), bar(62_000, 2, 5, 0.5, 3)], grid)).toEqual([
    { time: 60, open: 1, high: 5, low: 0.5, close: 3 },
  ])
})

test('the price of a chart at a given time is the last price before it', () => {
  const price = [
    [10, 20],
    [1, 2],
  ] as const
  expect([5, 10, 19, 20, 99].map((time) => priceAt(price, time))).toEqual([1, 1, 1, 2, 2])
  expect(priceAt([[], []], 5)).toBeUndefined()
})

test('the chart marks fills, refusals and notes in the order of time, and each mark can open its explanation', () => {
  const marks = marksOf(recordedToken(SMALL, mintOf(0), ''))
  expect(marks.map(({ kind, subject }) => [kind, subject])).toEqual([
    ['buy', 'o100'],
    ['sell', 'o103'],
    ['note', 'd777.0'],
    ['refusal', 'd812.1'],
    ['buy', 'o110'],
    ['refusal', 'd955.0'],
  ])
  expect(marks[3]?.text).toBe('positions limit (12 times): the bot holds 5 positions, and its limit is 5')
  expect(marks.every(({ price, time }) => price > 0 && time > NOW - HOUR)).toBe(true)
})

test('each bar of the waterfall chart begins at the end of the bar before it', () => {
  const rows = [
    { label: 'Gross', sol: 10 },
    { label: 'Fees', sol: -4 },
    { label: 'Rent', sol: -8 },
    { label: 'Net', sol: -2 },
  ]
  // The scale of the waterfall chart goes from -2 to 10 SOL, so 12 SOL are 100 percent.
  const steps = waterfallSteps(rows).map(({ left, width }) => [Math.round(left), Math.round(width)])
  expect(steps).toEqual([
    [17, 83],
    [67, 33],
    [0, 67],
    [0, 17],
  ])
  expect(waterfallSteps([])).toEqual([])
})

test("the chart offers the widths that bots declare, with the bots' names, and some usual widths", () => {
  const params = { bars: { '1m': 200, '500 trades': 20 }, fast: { every: '20s' }, size: '3 apples' }
  const offered = (bots: Parameters<typeof offeredWidths>[0]) =>
    offeredWidths(bots).map(({ width, bots }) => `${width}: ${bots.join()}`)
  const trend = { name: 'trend', bars: ['1s', '500 trades'], params }
  expect(offered([trend, { name: 'slow', bars: ['1s', '5m'], params: {} }])).toEqual([
    ...['1s: trend,slow', '500 trades: trend', '5m: slow', '15s: ', '1m: '],
  ])
  // A journal that an earlier version wrote does not contain the bars that a strategy declares.
  expect(offered([{ name: 'old', params }])).toEqual(['1m: old', '500 trades: old', '20s: old', '15s: ', '5m: '])
  expect(offered([{ name: 'none', params: { fast: 5 } }])).toEqual(['15s: ', '1m: ', '5m: '])
})

test('a chart cell is as long as a time bar; if each bar is a number of trades, nine bars in ten have a cell of their own', () => {
  const bars = (times: readonly number[]) => times.map((t) => ({ t, o: 1, h: 1, l: 1, c: 1, v: 1 }))
  expect(['15s', '5m', '4h', ''].map((width) => cellMsOf(width, bars([1, 2])))).toEqual([
    15_000, 300_000, 14_400_000, 0,
  ])
  const regular = bars(Array.from({ length: 100 }, (_none, index) => index * 37_000))
  expect(cellMsOf('500 trades', regular)).toBe(37_000)
  const grid = gridOf(0, 99 * 37_000, 37_000)
  expect(candles(regular.slice(1), grid)).toHaveLength(99)
  // Within a day, there are bursts of many bars in a second. The time cells into which the chart groups bars must still
  // be wide enough to be visible.
  const bursts = bars(Array.from({ length: 2_000 }, (_none, index) => Math.floor(index / 20) * 864_000 + index))
  expect(cellMsOf('1 trade', bursts)).toBe(214_000)
  expect([null, [], bars([5])].map((few) => cellMsOf('20 SOL', few))).toEqual([0, 0, 0])
})
