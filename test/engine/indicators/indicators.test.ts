import fc from 'fast-check'
import * as signals from 'trading-signals'
import { expect, test } from 'vitest'
import * as sluice from '../../../src/index.ts'
import type { Bar } from '../../../src/market/bar.ts'

/** Bars of a random walk, some of them flat and without volume. */
const market = fc
  .array(
    fc.record({
      step: fc.double({ min: -0.3, max: 0.3, noNaN: true }),
      up: fc.double({ min: 0, max: 0.2, noNaN: true }),
      down: fc.double({ min: 0, max: 0.2, noNaN: true }),
      volumeSol: fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 50, noNaN: true })),
    }),
    { minLength: 1, maxLength: 80 },
  )
  .map((steps) => {
    let close = 3e-8
    return steps.map(({ step, up, down, volumeSol }, index): Bar => {
      const open = close
      if (volumeSol > 0) close *= 1 + step
      const high = volumeSol > 0 ? Math.max(open, close) * (1 + up) : close
      const low = volumeSol > 0 ? Math.min(open, close) * (1 - down) : close
      const times = { openTime: index * 60_000, closeTime: (index + 1) * 60_000 }
      return { width: '1m', ...times, open, high, low, close, volumeSol, buys: 1, sells: 0, trades: 1, gap: false }
    })
  })

const bars = fc.integer({ min: 1, max: 20 })

/** Expects two indicators to have the same values after each bar. Values of the order of a price are compared relative
 *  to the price. */
function expectSame<V>(all: readonly Bar[], ours: sluice.Indicator<V>, theirs: sluice.Indicator<unknown>): void {
  const [one, other] = [ours.create(), theirs.create()]
  for (const bar of all) {
    one.add(bar)
    other.add(bar)
    const [value, expected] = [numbersOf(one.value), numbersOf(other.value)]
    expect(value.length).toBe(expected.length)
    for (const [index, number] of value.entries()) {
      const distance = Math.abs(number - (expected[index] as number))
      expect(distance).toBeLessThanOrEqual(1e-9 * Math.max(bar.high, Math.abs(number)) + 1e-18)
    }
  }
}

function numbersOf(value: unknown): number[] {
  if (value === undefined) return []
  return typeof value === 'number' ? [value] : (Object.values(value as object) as number[])
}

test.each<[string, (n: number) => sluice.Indicator<unknown>, (n: number) => sluice.Indicator<unknown>]>([
  ['sma', (n) => sluice.sma('1m', n), (n) => sluice.signal('1m', () => new signals.SMA(n), 'close')],
  ['ema', (n) => sluice.ema('1m', n), (n) => sluice.signal('1m', () => new signals.EMA(n), 'close')],
  ['wma', (n) => sluice.wma('1m', n), (n) => sluice.signal('1m', () => new signals.WMA(n), 'close')],
  ['rsi', (n) => sluice.rsi('1m', n + 1), (n) => sluice.signal('1m', () => new signals.RSI(n + 1), 'close')],
  [
    'bollinger',
    (n) => sluice.bollinger('1m', n, 2),
    (n) => sluice.signal('1m', () => new signals.BollingerBands(n, 2), 'close'),
  ],
  ['atr', (n) => sluice.atr('1m', n), (n) => sluice.signal('1m', () => new signals.ATR(n))],
])('%s is that of trading-signals', (_name, ours, theirs) => {
  fc.assert(
    fc.property(market, bars, (all, n) => expectSame(all, ours(n), theirs(n))),
    { numRuns: 100 },
  )
})
