import { expect, test } from 'vitest'
import momentum from '../../strategies/momentum.ts'
import { GAP, requestsOf, type Shown } from '../support/strategy-harness.ts'

const params = { fast: 2, slow: 25, sampleSeconds: 1, minSlopePercent: 1, minVolumeSol: 0.5, sizeSol: 0.1 }

/** Trades of one token, a second apart, of 1 SOL each. */
function trades(from: number, ...robust: (number | null)[]): Shown[] {
  return robust.map((price, index) => ({ time: (from + index) * 1_000, mint: 'A', price: 1, robust: price }))
}

/** So many samples at one price: enough for the slow average, and below no other. */
const flat = (count = 30, from = 0): Shown[] => trades(from, ...Array<number>(count).fill(100))
const held = (rows: Shown[], state: 'opening' | 'open' | 'closing'): Shown[] =>
  rows.map((row) => ({ ...row, holds: state }))

const BUY = 'buy A 0.1: the 2-average crossed the 25-average, rising 6.7 % with 1.00 SOL a sample'
const SELL = 'sell A all: the 2-average fell below the 25-average'

test.each<[string, object, (Shown | typeof GAP)[], string[]]>([
  ['a flat price', {}, flat(), []],
  ['crossing up', {}, [...flat(), ...trades(30, 110)], [BUY]],
  ['rising on: one position', {}, [...flat(), ...trades(30, 110, 120, 130)], [BUY]],
  ['crossing up before the slow average is whole', {}, [...flat(10), ...trades(10, 110, 120)], []],
  ['a slope below the minimum', { minSlopePercent: 10 }, [...flat(), ...trades(30, 110)], []],
  ['volume below the minimum', { minVolumeSol: 2 }, [...flat(), ...trades(30, 110)], []],
  ['already holding', {}, [...flat(), ...held(trades(30, 110), 'open')], []],
  ['crossing down without a position', {}, [...flat(), ...trades(30, 80)], []],
  ['crossing down', {}, [...flat(), ...trades(30, 110), ...held(trades(31, 110, 80, 60), 'open')], [BUY, SELL, SELL]],
  [
    'crossing down while the buy is under way: sold once it is open',
    {},
    [...flat(), ...trades(30, 110), ...held(trades(31, 50, 50), 'opening'), ...held(trades(33, 50), 'open')],
    [BUY, SELL],
  ],
  ['no robust price', {}, [...flat(), ...trades(30, null, null, null)], []],
  [
    'a price that comes back after a pause',
    {},
    [...flat(), ...trades(30, null, null, 110)],
    ['buy A 0.1: the 2-average crossed the 25-average, rising 6.7 % with 2.33 SOL a sample'],
  ],
  ['a gap: the averages begin again', {}, [...flat(), GAP, ...trades(30, 110), ...flat(30, 31)], []],
])('%s', (_what, more, rows, requests) => {
  expect(requestsOf(momentum, { ...params, ...more }, rows)).toEqual(requests)
})

test('many prints within a sample are one sample', () => {
  const burst = trades(0, ...Array<number>(300).fill(100)).map((row, index) => ({ ...row, time: 30_000 + index }))
  const rows = [...flat(10), ...burst, ...trades(31, 110)]
  expect(requestsOf(momentum, params, rows)).toEqual([])
  const [bought] = requestsOf(momentum, { ...params, sampleSeconds: 0 }, rows)
  expect(bought).toContain('buy A 0.1')
})

test('its own ranges never contradict each other', () => {
  const { fast, slow } = momentum.params.parse({})
  expect(fast).toBeLessThan(slow)
  expect(momentum.params.safeParse({ fast: 25 }).success).toBe(false)
  expect(momentum.params.safeParse({ slow: 20 }).success).toBe(false)
})
