import { expect, test } from 'vitest'
import { type Bar, type BarPlan, defineStrategy, ema, type Indicator, type Width, z } from '../../../src/index.ts'
import { testStrategy } from '../../../src/testing.ts'

/**
 * Plays a market to a strategy that declares these bars. Returns the bars that `onBar` received, and the token's list
 * of bars after each call of `advance`.
 */
function barsOf(bars: BarPlan, market: (rig: ReturnType<typeof testStrategy>) => void) {
  const closed: Bar[] = []
  let read: (width: Width) => readonly Bar[] = () => []
  const strategy = defineStrategy({
    ...{ name: 'bars', about: '', params: z.object({}), keys: ['trades'], bars },
    start: () => ({
      onBar: (bar) => void closed.push(bar),
      onTrade: (_trade, token) => {
        read = (width) => token.bars(width)
      },
    }),
  })
  market(testStrategy(strategy))
  return { closed, read: (width: Width) => read(width) }
}

const PRICE = 1e-7

test('a time bar has the robust prices and the prints of its interval, and closes without a print when the interval ends', () => {
  const { closed } = barsOf({ '1m': 5 }, (rig) => {
    rig.settle(PRICE, { sol: 1 })
    rig.settle(2 * PRICE, { sol: 2 })
    rig.settle(PRICE / 2, { sol: 1 })
    rig.advance(120)
  })
  expect(closed).toHaveLength(1)
  const [bar] = closed as [Bar]
  const { open, high, low, close, openTime, closeTime, width, gap } = bar
  expect({ open, high, low, close, width, gap }).toEqual({
    ...{ open: PRICE, high: 2 * PRICE, low: PRICE / 2, close: PRICE / 2 },
    ...{ width: '1m', gap: false },
  })
  expect(closeTime - openTime).toBe(60_000)
  expect(openTime % 60_000).toBe(0)
  expect(bar.trades).toBe(bar.buys + bar.sells)
  expect(bar.trades).toBe(3 * 61)
  expect(bar.volumeSol).toBeCloseTo(4 * 61)
  expect(JSON.parse(JSON.stringify(bar))).toMatchObject({ open, high, low, close, openTime, closeTime, width, gap })
})

test.each([
  ['fill', [1, 0, 0, 1]],
  ['gap', [1, 1]],
] as const)(
  'with silent: %s, the bars of four intervals, two of them without prints, have these numbers of trades: %j',
  (silent, trades) => {
    const { read } = barsOf({ '1m': { keep: 9, silent } }, (rig) => {
      rig.settle(PRICE)
      rig.advance(60)
      rig.trade({ price: PRICE })
      rig.advance(180)
      rig.trade({ price: PRICE })
      rig.advance(60)
    })
    const bars = read('1m').slice(1)
    expect(bars.map((bar) => bar.trades)).toEqual(trades)
    expect(bars.every((bar) => bar.open === bar.close)).toBe(true)
  },
)

test('a bar with a fixed number of trades, or with a fixed volume, closes with the print that completes it', () => {
  const { closed } = barsOf({ '3 trades': 5, '2 SOL': 5 }, (rig) => {
    rig.settle(PRICE, { sol: 0.5 })
  })
  const of = (width: Width) => closed.filter((bar) => bar.width === width)
  expect(of('3 trades').map(({ trades }) => trades)).toEqual(Array(20).fill(3))
  expect(of('2 SOL').map(({ volumeSol }) => volumeSol)).toEqual(Array(15).fill(2))
})

test('a list of bars has at most the declared number of bars, never changes, and stays the same list until the next bar', () => {
  const { closed, read } = barsOf({ '1 trade': 4 }, (rig) => {
    for (let print = 0; print < 200; print++) rig.trade({ price: PRICE * (1 + print / 1000) })
  })
  const list = read('1 trade')
  expect(list.map(({ close }) => close)).toEqual(closed.slice(-4).map(({ close }) => close))
  expect(read('1 trade')).toBe(list)
  expect(Object.isFrozen(list)).toBe(true)
  expect(() => read('1m')).toThrow(/declares no '1m' bars; it declares '1 trade'/)
})

test('bars during an interruption of the feed are marked, also the bars without prints', () => {
  const { closed, read } = barsOf({ '1m': 20 }, (rig) => {
    rig.settle(PRICE)
    rig.gap(200)
    rig.settle(PRICE)
    rig.advance(120)
    rig.settle(PRICE)
    rig.advance(60)
  })
  expect(closed.map(({ gap }) => gap)).toEqual([true, true, false])
  expect(read('1m').map(({ gap, trades }) => `${gap} ${trades > 0}`)).toEqual([
    'true true',
    ...['true false', 'true false'],
    'true true',
    'false false',
    'false true',
  ])
})

test('an indicator counts bars without prints, and its value does not depend on how often or how late it is read', () => {
  const values = (reads: 'often' | 'late') => {
    let last: number | undefined
    const strategy = defineStrategy({
      ...{ name: 'reader', about: '', params: z.object({ bars: z.number().default(3) }), keys: ['trades'] },
      bars: { '1m': 2 },
      indicators: ({ bars }) => ({ fast: ema('1m', bars) }),
      start: (_params, bot) => ({
        onBar: (_bar, token) => {
          if (reads === 'often') last = token.indicators.fast
        },
        onTrade: (_trade, token) => {
          if (bot.now() > 1_767_225_600_000 + 3_600_000) last = token.indicators.fast
        },
      }),
    })
    const rig = testStrategy(strategy)
    for (let minute = 0; minute < 61; minute++) {
      if (minute % 7 < 5) rig.trade({ price: PRICE * (1 + minute / 10) })
      rig.advance(60)
    }
    rig.trade({ price: PRICE })
    return last
  }
  expect(values('late')).toBeGreaterThan(PRICE)
  expect(values('late')).toBe(values('often'))
})

test('an indicator counts each bar once, even if earlier bars are dropped', () => {
  const volumes: number[] = []
  const volume: Indicator<number> = {
    width: '1m',
    create: () => ({ add: (bar) => void volumes.push(bar.volumeSol), value: undefined }),
  }
  const strategy = defineStrategy({
    ...{ name: 'volumes', about: '', params: z.object({}), keys: ['trades'], bars: { '1m': 1 } },
    indicators: () => ({ volume }),
    start: () => ({ onBar: (_bar, token) => void token.indicators.volume }),
  })
  const rig = testStrategy(strategy)
  const perMinute = [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
  for (const sol of perMinute)
    for (const afterSeconds of [20, 20, 20]) rig.trade({ price: PRICE, sol: sol / 3, afterSeconds })
  rig.advance(60)
  expect(volumes.every((sol) => sol > 0)).toBe(true)
  expect(volumes).toHaveLength(perMinute.length)
})
