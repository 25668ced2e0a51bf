import fc from 'fast-check'
import * as signals from 'trading-signals'
import { expect, test } from 'vitest'
import * as sluice from '../../../src/index.ts'
import type { Bar } from '../../../src/market/bar.ts'

/** Bars of a random walk. Some of them have a single price and no volume. */
const market = fc
  .array(
    fc.record({
      step: fc.double({ min: -0.3, max: 0.3, noNaN: true }),
      up: fc.double({ min: 0, max: 0.2, noNaN: true }),
      down: fc.double({ min: 0, max: 0.2, noNaN: true }),
      volumeSol: fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 50, noNaN: true })),
    }),
    { minLength: 1, maxLength: 150 },
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

/**
 * Lengths of indicators, in bars. The memory for a token's state grows at 16 and at 64 bars; the lengths are on both
 * sides of these numbers.
 */
const bars = fc.integer({ min: 1, max: 70 })

const RUNS = 100

/**
 * Expects two indicators to have nearly the same values after each bar. For values of the order of magnitude of a
 * price, the tolerance is relative to the price; for percentages, it is relative to 100.
 */
function expectSame<V>(
  all: readonly Bar[],
  ours: sluice.Indicator<V>,
  theirs: sluice.Indicator<unknown>,
  isPercent = false,
): void {
  const [one, other] = [ours.create(), theirs.create()]
  for (const bar of all) {
    one.add(bar)
    other.add(bar)
    const [value, expected] = [numbersOf(one.value), numbersOf(other.value)]
    if (value.length !== expected.length) expect(value).toEqual(expected)
    for (const [index, number] of value.entries()) {
      const distance = Math.abs(number - (expected[index] as number))
      const most = 1e-9 * Math.max(isPercent ? 100 : bar.high, Math.abs(number)) + 1e-18
      if (!(distance <= most)) expect(value).toEqual(expected)
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
])('%s has the same values as in trading-signals', (_name, ours, theirs) => {
  fc.assert(
    fc.property(market, bars, (all, n) => expectSame(all, ours(n), theirs(n))),
    { numRuns: RUNS },
  )
})

type Reference = readonly [string, (n: number) => sluice.Indicator<unknown>, (n: number) => sluice.Indicator<unknown>]

/** Returns an indicator that computes its value from all bars so far. */
function naive<V>(compute: (all: readonly Bar[]) => V | undefined): sluice.Indicator<V> {
  return {
    width: '1m',
    create: () => {
      const all: Bar[] = []
      return {
        add: (bar) => void all.push(bar),
        get value() {
          return compute(all)
        },
      }
    },
  }
}

/**
 * Returns an indicator of the package trading-signals. `least`: the indicator has no value before this number of bars.
 * `named` converts a result of the package to Sluice's field names.
 */
function theirs<V>(
  least: number,
  create: () => { add(candle: sluice.Candle): unknown },
  named: (result: never) => V,
): sluice.Indicator<V> {
  return {
    width: '1m',
    create: () => {
      const inner = create()
      let count = 0
      let value: V | undefined
      return {
        add: (bar) => {
          const result = inner.add({ ...bar, volume: bar.volumeSol })
          if (++count >= least) value = named(result as never)
        },
        get value() {
          return value
        },
      }
    },
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

test.each<Reference>([
  [
    'macd has the same values as in trading-signals, once the signal has enough values',
    (n) => sluice.macd('1m', n, n + 7, 5),
    (n) => {
      const { EMA, MACD } = signals
      const create = () => {
        const macd = new MACD(new EMA(n), new EMA(n + 7), new EMA(5))
        return { add: ({ close }: sluice.Candle) => macd.add(close) }
      }
      return theirs(n + 7 + 5 - 1, create, ({ macd, signal, histogram }: sluice.Macd) => ({ macd, signal, histogram }))
    },
  ],
  [
    'stochastic has the same values as in trading-signals without slowing, in percent',
    (n) => sluice.stochastic('1m', n, 3),
    (n) => {
      const create = () => new signals.StochasticOscillator({ kPeriod: n, kSlowingPeriod: 1, dPeriod: 3 })
      const named = ({ stochK, stochD }: { stochK: number; stochD: number }) => ({ k: stochK, d: stochD })
      return theirs(n + 2, create, named)
    },
  ],
  [
    'roc has the same values as in trading-signals, in percent',
    (n) => sluice.roc('1m', n),
    (n) => {
      const create = () => {
        const roc = new signals.ROC(n)
        return { add: ({ close }: sluice.Candle) => roc.add(close) }
      }
      return theirs(n + 1, create, (fraction: number) => fraction * 100)
    },
  ],
  [
    'vwap is the traded SOL of the last bars divided by the traded tokens',
    (n) => sluice.vwap('1m', n),
    (n) =>
      naive((all) => {
        const last = all.slice(-n)
        const volume = sum(last.map(({ volumeSol }) => volumeSol))
        if (last.length < n || volume === 0) return undefined
        return sum(last.map(({ high, low, close, volumeSol }) => ((high + low + close) / 3) * volumeSol)) / volume
      }),
  ],
  [
    'highest is the highest high of the last bars',
    (n) => sluice.highest('1m', n),
    (n) => naive((all) => (all.length < n ? undefined : Math.max(...all.slice(-n).map(({ high }) => high)))),
  ],
  [
    'lowest is the lowest low of the last bars',
    (n) => sluice.lowest('1m', n),
    (n) => naive((all) => (all.length < n ? undefined : Math.min(...all.slice(-n).map(({ low }) => low)))),
  ],
])('%s', (fact, ours, reference) => {
  fc.assert(
    fc.property(market, bars, (all, n) => expectSame(all, ours(n), reference(n), fact.includes('percent'))),
    { numRuns: RUNS },
  )
})

test.each(['open', 'high', 'low', 'close', 'volumeSol', 'buys', 'sells', 'trades'] as const)(
  'an indicator with the figure %s reads this figure of each bar',
  (figure) => {
    const state = sluice.sma('1m', 1, figure).create()
    const bar = { open: 2, high: 4, low: 1, close: 3, volumeSol: 7, buys: 5, sells: 6, trades: 11 }
    state.add({ ...bar, width: '1m', openTime: 0, closeTime: 60_000, gap: true })
    expect(state.value).toBe(bar[figure])
  },
)

test('an indicator with an unknown figure is refused', () => {
  expect(() => sluice.ema('1m', 3, 'volume' as never)).toThrow(/ema: expected a figure of a bar \(open, high, .*volume/)
})
