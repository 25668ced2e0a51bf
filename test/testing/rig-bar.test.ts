import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Bar, type BarPlan, defineStrategy, sma, z } from '../../src/index.ts'
import { MINT, OTHER_MINT, type StrategyRig, type TestBar, testStrategy } from '../../src/testing.ts'

const PRICE = 1e-7

/** Returns a test rig, and the list of the bars that its strategy receives. */
function teller(bars: BarPlan) {
  const seen: { bar: Bar; price: number | undefined; mean: number | undefined; last: Bar | undefined }[] = []
  const [width] = Object.keys(bars) as ['1m']
  const strategy = defineStrategy({
    ...{ name: 'teller', about: '', params: z.object({}), keys: ['trades'], bars },
    indicators: () => ({ mean: sma(width, 2) }),
    start: () => ({
      onBar: (bar, token) =>
        void seen.push({ bar, price: token.price, mean: token.indicators.mean, last: token.bars(bar.width).at(-1) }),
    }),
  })
  return { rig: testStrategy(strategy), seen }
}

const UP: TestBar = { close: 1.2e-7, high: 1.3e-7, low: 0.9e-7, buys: 30, sells: 12, volumeSol: 4.2 }

test('a time bar that a test adds has the given values, and the strategy receives them as in a run', () => {
  const { rig, seen } = teller({ '1m': 5 })
  const from = rig.now
  rig.bar('1m', { close: PRICE })
  const bar = rig.bar('1m', UP)
  expect(bar).toMatchObject({ open: PRICE, close: 1.2e-7, high: 1.3e-7, low: 0.9e-7, buys: 30, sells: 12 })
  expect(bar).toMatchObject({ openTime: from + 60_000, closeTime: from + 120_000, trades: 42, gap: false })
  expect(bar.volumeSol).toBeCloseTo(4.2, 9)
  expect(rig.now).toBe(from + 120_000)
  expect(seen.map(({ bar }) => bar.close)).toEqual([PRICE, 1.2e-7])
  expect(seen[1]).toMatchObject({ bar, last: bar, price: 1.2e-7 })
  expect(seen[1]?.mean).toBeCloseTo(1.1e-7, 15)
})

test('a bar that a test adds without values is flat and has ten buys and ten sells of 1 SOL', () => {
  const { rig } = teller({ '15s': 5 })
  rig.bar('15s', { close: PRICE })
  const { open, high, low, close, volumeSol, buys, sells } = rig.bar('15s')
  expect([open, high, low, close]).toEqual(Array(4).fill(PRICE))
  expect([volumeSol, buys, sells]).toEqual([20, 10, 10])
})

test('bars of trades and of volume that a test adds close with their last print', () => {
  const { rig, seen } = teller({ '12 trades': 5, '3 SOL': 5 })
  const first = rig.bar('12 trades', { close: PRICE, volumeSol: 0.6 })
  expect(first).toMatchObject({ trades: 12, buys: 6, sells: 6 })
  rig.bar('12 trades', { close: 2 * PRICE, sells: 9, volumeSol: 0.6, seconds: 6 })
  const { bar } = seen.at(-1) ?? {}
  expect(bar).toMatchObject({ buys: 3, sells: 9, high: 2 * PRICE, closeTime: rig.now, openTime: rig.now - 5_500 })

  const { rig: other } = teller({ '3 SOL': 5 })
  expect(other.bar('3 SOL', { close: PRICE })).toMatchObject({ trades: 20, volumeSol: expect.closeTo(3, 9) })
  expect(other.bar('3 SOL', { low: PRICE / 2, buys: 7, sells: 0 })).toMatchObject({ trades: 7, low: PRICE / 2 })
})

test('a time bar that a test adds fills the rest of its interval, or the next interval after a print', () => {
  const { rig, seen } = teller({ '1m': 5 })
  const from = rig.now
  rig.bar('1m', { close: PRICE })
  rig.advance(2)
  rig.bar('1m')
  rig.trade({ price: PRICE, afterSeconds: 0 })
  rig.bar('1m')
  expect(seen.map(({ bar }) => [(bar.openTime - from) / 60_000, bar.trades])).toEqual([
    [0, 20],
    [1, 20],
    [2, 1],
    [3, 20],
  ])
})

test('every wider bar includes the bars that a test adds', () => {
  const { rig, seen } = teller({ '1m': 5, '15s': 5 })
  for (const close of [1, 2, 3, 3, 4, 5, 6, 7]) rig.bar('15s', { close: close * PRICE, mint: OTHER_MINT })
  const minutes = seen.filter(({ bar }) => bar.width === '1m').map(({ bar }) => bar)
  expect(minutes).toMatchObject([
    { open: PRICE, close: 3 * PRICE, trades: 80 },
    { open: 3 * PRICE, close: 7 * PRICE, trades: 80 },
  ])
})

test('a bar that a test adds after a restart or a gap has the given values', () => {
  const { rig } = teller({ '15s': 5 })
  rig.bar('15s', { close: PRICE })
  rig.restart()
  expect(rig.bar('15s', UP)).toMatchObject({ open: PRICE, close: 1.2e-7, gap: true })
  rig.gap(3)
  const interrupted = rig.bar('15s', { close: PRICE, open: PRICE / 2 })
  expect(interrupted).toMatchObject({ open: PRICE / 2, close: PRICE, gap: true })
})

const price = fc.integer({ min: 1, max: 400 }).map((units) => units * 1e-9)
const sized = fc.record({
  close: price,
  up: fc.double({ min: 1, max: 3, noNaN: true }),
  down: fc.double({ min: 0.3, max: 1, noNaN: true }),
  buys: fc.integer({ min: 6, max: 40 }),
  sells: fc.integer({ min: 6, max: 40 }),
  volumeSol: fc.double({ min: 2, max: 500, noNaN: true }),
})

test('any sequence of bars that a test adds closes at the requested prices, and equal prices are equal numbers', () => {
  fc.assert(
    fc.property(fc.array(sized, { minLength: 2, maxLength: 6 }), (bars) => {
      const { rig, seen } = teller({ '15s': 5 })
      let open = bars[0]?.close as number
      for (const { close, up, down, ...rest } of bars) {
        const [high, low] = [Math.max(open, close) * up, Math.min(open, close) * down]
        expect(rig.bar('15s', { close, high, low, ...rest })).toMatchObject({ open, high, low, close })
        open = close
      }
      expect(seen).toHaveLength(bars.length)
    }),
    { numRuns: 30, seed: 16 },
  )
})

describe('invalid input is refused with the reason', () => {
  const started = (bars: BarPlan = { '1m': 5 }): StrategyRig => {
    const { rig } = teller(bars)
    return rig
  }

  test.each<[string, (rig: StrategyRig) => void, string]>([
    ['a width that is not declared', (rig) => rig.bar('5m'), "bar '5m': the strategy declares '1m'"],
    ['a width in another notation', (rig) => rig.bar('1 min' as '1m'), "the strategy declares '1m'; did you mean 1m?"],
    [
      'a first bar without a price',
      (rig) => rig.bar('1m'),
      'close: the first bar of a token needs a price, SOL per token',
    ],
    ['a high below the low', (rig) => rig.bar('1m', { close: 2, high: 1, low: 3 }), 'high: 1 is below low, 3'],
    ['a high below the close', (rig) => rig.bar('1m', { close: 2, high: 1 }), 'high: 1 is below'],
    ['a low above the close', (rig) => rig.bar('1m', { close: 2, low: 3, high: 4 }), 'low: 3 is above open, 2'],
    ['a price below 0', (rig) => rig.bar('1m', { close: -1 }), 'expected a price above 0, SOL per token, got -1'],
    [
      'a number of buys that is not whole',
      (rig) => rig.bar('1m', { close: 1, buys: 0.5 }),
      'buys: expected a whole number from 0',
    ],
    ['a bar without a print', (rig) => rig.bar('1m', { close: 1, buys: 0, sells: 0 }), 'a bar has at least one print'],
    [
      'prints that are too small',
      (rig) => rig.bar('1m', { close: 1, volumeSol: 0.1 }),
      '0.005 a print; only prints of',
    ],
    [
      'too few prints for the prices',
      (rig) => rig.bar('1m', { close: 1, high: 2, low: 0.5, buys: 4, sells: 4 }),
      'this bar needs at least 12 prints, got 8',
    ],
    ['text that is not a mint', (rig) => rig.bar('1m', { close: 1, mint: 'x' }), 'invalid mint x'],
  ])('`rig.bar` refuses %s with the reason', (_what, add, message) => {
    expect(() => add(started())).toThrow(message)
  })

  test('`rig.bar` refuses a bar whose prints do not fit its width', () => {
    const trades = (bar: TestBar) => () => started({ '9 trades': 2 }).bar('9 trades', { close: PRICE, ...bar })
    expect(trades({ buys: 9, sells: 9 })).toThrow('a bar of 9 trades has 9 prints, got 18')
    expect(trades({ sells: 10 })).toThrow('buys: expected a whole number from 0 to 1,000,000, got -1')
    const sol = (bar: TestBar) => () => started({ '20 SOL': 2 }).bar('20 SOL', { close: PRICE, ...bar })
    expect(sol({ volumeSol: 30 })).toThrow('a bar of 20 SOL ends with the print that reaches this volume')
    expect(sol({ volumeSol: 10 })).toThrow('a bar of 20 prints cannot have 10 SOL')
  })

  test('`rig.bar` refuses a bar whose open the price cannot reach in one print, and a bar that already has prints', () => {
    const rig = started()
    rig.bar('1m', { close: PRICE })
    expect(() => rig.bar('1m', { open: 2 * PRICE, close: 2 * PRICE })).toThrow(
      'the 1m bar differs from the requested one: open is 1e-7 instead of 2e-7',
    )
    const own = started({ '30 trades': 2 })
    own.trade({ price: PRICE })
    expect(() => own.bar('30 trades', { close: PRICE })).toThrow('the 30 trades bar differs from the requested one: ')
    expect(own.position(MINT)).toBeUndefined()
  })
})
