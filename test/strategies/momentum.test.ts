import { expect, test } from 'vitest'
import { type StrategyRig, testStrategy } from '../../src/testing.ts'
import momentum from '../../strategies/momentum.ts'

const params = { fast: 2, slow: 25, sampleSeconds: 1, minSlopePercent: 1, minVolumeSol: 0.5, sizeSol: 0.1 }
/** The unit of the prices in this test. It is far below the price at which a token leaves its curve. */
const UNIT = 1e-9
const GAP = 'gap'

/**
 * Returns prints of 1 SOL at one price, one second apart. The robust price is sampled at each print, and equals `price`
 * from the third print on.
 */
const prints = (count: number, price: number): number[] => Array<number>(count).fill(price)
/** A flat price with enough samples for the slow average. */
const FLAT = prints(35, 100)

function show(rig: StrategyRig, rows: readonly (number | typeof GAP)[]): void {
  for (const row of rows) {
    if (row === GAP) rig.gap(5)
    else rig.trade({ price: row * UNIT })
  }
  rig.advance(1) // the last bar closes
}

function asked(rig: StrategyRig): string[] {
  return rig.orders.map(({ side, sol, all, reason }) => `${side} ${all ? 'all' : sol}: ${reason}`)
}

const BUY = 'buy 0.1: the 2-average crossed the 25-average, rising 6.7 % with 1.00 SOL a bar'
const SELL = 'sell all: the 2-average fell below the 25-average'
const UP = [...FLAT, ...prints(3, 110)]
const SLOW = { latencySeconds: 30 }

test.each<[string, object, object, (number | typeof GAP)[], string[]]>([
  ['a flat price', {}, {}, FLAT, []],
  ['a crossing of the averages upwards', {}, {}, UP, [BUY]],
  ['a price that rises further after the buy', {}, {}, [...UP, ...prints(5, 120), ...prints(5, 130)], [BUY]],
  [
    'a crossing upwards before the slow average has enough samples',
    {},
    {},
    [...prints(12, 100), ...prints(6, 110)],
    [],
  ],
  ['a slope below the minimum', { minSlopePercent: 10 }, {}, UP, []],
  ['volume below the minimum', { minVolumeSol: 2 }, {}, UP, []],
  ['a crossing downwards without a position', {}, {}, [...FLAT, ...prints(10, 80)], []],
  ['a crossing upwards and then downwards', {}, {}, [...UP, ...prints(10, 110), ...prints(10, 95)], [BUY, SELL]],
  [
    'a second crossing upwards before the first buy is filled',
    {},
    SLOW,
    [...UP, ...prints(8, 95), ...prints(8, 115)],
    [BUY],
  ],
  ['a crossing downwards before the buy is filled', {}, SLOW, [...UP, ...prints(25, 95)], [BUY]],
  ['a crossing downwards before the buy is filled, and the fill', {}, SLOW, [...UP, ...prints(35, 95)], [BUY, SELL]],
  ['a crossing upwards after a gap, over which the averages continue', {}, {}, [...FLAT, GAP, 110, 110, 110], [BUY]],
])('momentum sends the expected orders after %s', (_what, more, options, rows, requests) => {
  const rig = testStrategy(momentum, { params: { ...params, ...more }, ...options })
  show(rig, rows)
  expect(asked(rig)).toEqual(requests)
})

test('for momentum, all prints within a sample period are one sample with their total volume', () => {
  const burst = (sampleSeconds: number): string[] => {
    const rig = testStrategy(momentum, { params: { ...params, sampleSeconds } })
    show(rig, prints(12, 100))
    for (let print = 0; print < 300; print++) rig.trade({ price: 100 * UNIT, afterSeconds: 0.003 })
    show(rig, prints(3, 110))
    return asked(rig)
  }
  expect(burst(1)).toEqual([])
  expect(burst(0)).toEqual([BUY])

  const rig = testStrategy(momentum, { params })
  for (const price of UP) for (let print = 0; print < 4; print++) rig.trade({ price: price * UNIT, afterSeconds: 0.25 })
  rig.advance(1)
  expect(asked(rig)).toEqual([BUY.replace('1.00', '4.00')])
})

test('the params of momentum allow no fast average that is as long as a slow one', () => {
  const { fast, slow } = momentum.params.parse({})
  expect(fast).toBeLessThan(slow)
  expect(momentum.params.safeParse({ fast: 25 }).success).toBe(false)
  expect(momentum.params.safeParse({ slow: 20 }).success).toBe(false)
})
