import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { costsOf } from '../../../src/backtest/bot-result.ts'
import { Equity } from '../../../src/backtest/equity.ts'
import type { MetricsInput } from '../../../src/backtest/metrics/facts.ts'
import { type Group, groupsOf, kindOf, periodsOf, withoutBest } from '../../../src/backtest/metrics/groups.ts'
import { METRICS, metricsOf } from '../../../src/backtest/metrics/metrics.ts'
import { normal, quantile } from '../../../src/backtest/metrics/statistics.ts'
import { Excursions } from '../../../src/backtest/metrics/tape-study.ts'
import { MoneyFold } from '../../../src/engine/accounting/money.ts'
import type { RoundTrip } from '../../../src/engine/accounting/round-trip.ts'
import { Mints } from '../../../src/market/mints.ts'
import { fill } from '../../support/journal-values.ts'

const DAY = 86_400_000
const T0 = 20_000 * DAY
const SOL = 1e9

function trip(net: number, more: Partial<RoundTrip> = {}): RoundTrip {
  return {
    ...{
      mint: 'A',
      openedAt: T0,
      closedAt: T0 + 10_000,
      entryReason: 'in',
      exitReason: 'out',
      entryTag: '',
      exitTag: '',
    },
    ...{ boughtLamports: SOL, soldLamports: SOL * (1 + net) + 1e6, feeLamports: 1e6, valueLamports: 0 },
    ...{ buys: 1, sells: 1, boughtTokens: 1e6, lowPrice: null, highPrice: null, ...more },
  }
}

function equityOf(...samples: [number, number][]): Equity {
  const equity = new Equity(samples[0]?.[0] ?? 0, samples.at(-1)?.[0] ?? 0)
  for (const [time, sol] of samples) equity.sample(time, sol * SOL)
  return equity
}

function figures(input: Partial<MetricsInput>): Record<string, number | string | null> {
  const whole = { from: T0, to: T0 + 2 * DAY, startLamports: 10 * SOL, trips: [], equity: equityOf(), ...input }
  return Object.fromEntries(metricsOf(whole).map(({ key, value }) => [key, value]))
}

// Five trades of 1 SOL: +0.5, -0.25, -0.25, +0.2, 0.
const five = [
  trip(0.5),
  trip(-0.25, { mint: 'B', closedAt: T0 + 30_000 }),
  trip(-0.25, { mint: 'C', closedAt: T0 + 50_000 }),
  trip(0.2, { mint: 'B', closedAt: T0 + 20_000 }),
  trip(0, { mint: 'D', closedAt: T0 + 10_000 }),
]

test.each([
  ['trades', 5],
  ['tradesPerDay', 2.5],
  ['tradesPerWeek', null],
  ['mostOpenTrades', 5],
  ['wins', 2],
  ['losses', 2],
  ['draws', 1],
  ['winRate', 40],
  ['grossProfit', 0.7],
  ['grossLoss', -0.5],
  ['profitFactor', 1.4],
  ['expectancy', 0.04],
  ['expectancyPercent', 4],
  ['expectedPer100', 4],
  ['expectancyRatio', (1 + 0.35 / 0.25) * 0.4 - 1],
  ['winLossRatio', 1.4],
  ['medianTrade', 0],
  ['averageWin', 0.35],
  ['averageLoss', -0.25],
  ['bestTrade', 0.5],
  ['worstTrade', -0.25],
  ['bestReturn', 50],
  ['worstReturn', -25],
  ['smallestLoss', -0.25],
  ['smallestWin', 0.2],
  ['bestToken', 'A'],
  ['worstToken', 'C'],
  ['longestWinning', 1],
  ['longestLosing', 2],
  ['currentStreak', 0],
  ['averageHolding', 24],
  ['medianHolding', 20],
  ['averageWinHolding', 15],
  ['averageLossHolding', 40],
  ['shortestHolding', 10],
  ['longestHolding', 50],
  ['shortestWinHolding', 10],
  ['longestWinHolding', 20],
  ['shortestLossHolding', 30],
  ['longestLossHolding', 50],
  ['tradeFees', 0.005],
  ['averageStake', 1],
  ['volume', 5 + 5.2 + 0.005],
  // The mean is 0.04; the squared differences from it are 0.2116 + 0.0841 + 0.0841 + 0.0256 + 0.0016 = 0.407.
  ['returnDeviation', Math.sqrt(0.407 / 4) * 100],
  ['sharpePerTrade', 0.04 / Math.sqrt(0.407 / 4)],
  ['sqn', (0.04 / Math.sqrt(0.407 / 4)) * Math.sqrt(5)],
  ['sortinoPerTrade', 0.04 / Math.sqrt(0.125 / 5)],
  ['omega', 1.4],
  ['returnSkewness', (0.46 ** 3 - 2 * 0.29 ** 3 + 0.16 ** 3 - 0.04 ** 3) / 5 / (0.407 / 5) ** 1.5],
  ['returnKurtosis', (0.46 ** 4 + 2 * 0.29 ** 4 + 0.16 ** 4 + 0.04 ** 4) / 5 / (0.407 / 5) ** 2 - 3],
  ['sharpe', null],
  ['cagr', null],
])('the metric %s of five trades is %s', (key, value) => {
  const found = figures({ trips: five })[key]
  if (typeof value === 'number') expect(found).toBeCloseTo(value, 9)
  else expect(found).toBe(value)
})

test('an open trade counts with the value at which it could be sold', () => {
  const open = trip(0, { closedAt: null, soldLamports: 0, valueLamports: 0.3 * SOL, feeLamports: 0 })
  expect(figures({ trips: [open] })).toMatchObject({
    openTrades: 1,
    openProfit: -0.7,
    expectancy: -0.7,
    longestHolding: 172_800,
  })
})

test('a sale whose block time is before the block time of our buy gives a holding time of 0, not a negative one', () => {
  const fold = new MoneyFold()
  fold.apply({ kind: 'fill', fill: fill(1, { side: 'buy', time: 1_000_900 }), reason: 'in' })
  fold.apply({ kind: 'fill', fill: fill(1, { side: 'sell', time: 1_000_000 }), reason: 'out' })
  expect(fold.bots[0]?.trips).toMatchObject([{ openedAt: 1_000_900, closedAt: 1_000_900 }])
})

// The position cost 1 SOL for 1,000,000 tokens, so 1e-6 SOL per token.
const moved = [
  trip(0.5, { lowPrice: 0.9e-6, highPrice: 1.8e-6 }), // -10 %, +80 %; 30 of the 80 given back
  trip(-0.25, { lowPrice: 0.6e-6, highPrice: 1.2e-6 }), // -40 %, +20 %; 45 given back
  trip(-0.1, { lowPrice: 0.5e-6, highPrice: 0.8e-6 }), // -50 %, never above; 10 given back
  trip(0.2, { lowPrice: 1.1e-6, highPrice: 1.3e-6 }), // never below, +30 %; 10 given back
  trip(9), // no known price
]

test.each([
  ['averageAdverse', -25],
  ['largestAdverse', -50],
  ['winAdverse', -5],
  ['averageFavorable', 32.5],
  ['largestFavorable', 80],
  ['lossFavorable', 10],
  ['averageGivenBack', (30 + 45 + 10 + 10) / 4],
])('the metric %s of four trades with known prices is %s', (key, value) => {
  expect(figures({ trips: moved })[key]).toBeCloseTo(value, 9)
  expect(figures({ trips: five })[key]).toBeNull()
})

test('the largest gain and loss during a trade use the prices of its token while the trade was open', () => {
  const mints = new Mints()
  const [a, b] = [mints.intern('A'), mints.intern('B')]
  const at = (mint: string, openedAt: number, closedAt: number | null): RoundTrip =>
    trip(0, { mint, openedAt, closedAt })
  const trips = {
    first: at('A', 10, 20), // the price of 8 stood when it was opened; then 3, 9
    again: at('A', 20, 35), // 9 stood; then 7, 5
    between: at('A', 41, 49), // between two prints: 4 stood
    open: at('A', 60, null), // 6 stood; then 2, 10
    other: at('A', 15, 31), // of another bot: 3 stood, then 9, 7
    lone: at('B', 5, 6), // nothing known before it was over
    late: at('B', 70, 80), // after the last print: 1 stood
    never: at('C', 10, 20),
  }
  const excursions = new Excursions(mints, Object.values(trips).reverse())
  const prints: [number, number, number][] = [
    [a, 5, 8],
    [b, 9, 1],
    [a, 12, 3],
    [a, 20, 9],
    [a, 30, 7],
    [a, 35, 5],
    [a, 40, 4],
    [a, 50, 6],
    [a, 61, 2],
    [a, 90, 10],
  ]
  for (const [token, time, price] of prints) excursions.price(token, time, price)
  excursions.end()
  expect(Object.entries(trips).map(([name, { lowPrice, highPrice }]) => [name, lowPrice, highPrice])).toEqual([
    ['first', 3, 9],
    ['again', 5, 9],
    ['between', 4, 4],
    ['open', 2, 10],
    ['other', 3, 9],
    ['lone', null, null],
    ['late', 1, 1],
    ['never', null, null],
  ])
})

test('trades are grouped by UTC day, week, month and weekday, in order', () => {
  const on = (date: string): RoundTrip => trip(0.1, { openedAt: Date.parse(date) })
  // 2026-11-29 is a Sunday.
  const some = ['2026-12-01T00:00Z', '2026-11-29T23:59Z', '2026-11-30T12:00Z', '2026-11-23T00:00Z'].map(on)
  const named = Object.entries<Group[]>({ ...periodsOf(some) }).map(([key, groups]) => [
    key,
    groups.map(({ name, trades }) => `${name} ${trades}`),
  ])
  expect(Object.fromEntries(named)).toEqual({
    byDay: ['2026-11-23 1', '2026-11-29 1', '2026-11-30 1', '2026-12-01 1'],
    byWeek: ['2026-11-23 2', '2026-11-30 2'],
    byMonth: ['2026-11 3', '2026-12 1'],
    byWeekday: ['Monday 2', 'Tuesday 1', 'Sunday 1'],
  })
})

// The equity at seven times that are one day apart, SOL.
const week = equityOf(...[10, 12, 9, 11, 8, 13, 12].map((sol, day) => [T0 + day * DAY, sol] as [number, number]))

test.each([
  ['endBalance', 12],
  ['netProfit', 2],
  ['netProfitPercent', 20],
  ['minBalance', 8],
  ['maxBalance', 13],
  ['maxDrawdown', 4],
  ['maxDrawdownPercent', 100 / 3],
  ['maxUnderwaterPercent', 100 / 3],
  ['drawdownHigh', 12],
  ['drawdownLow', 8],
  ['drawdownFrom', T0 + DAY],
  ['drawdownTo', T0 + 4 * DAY],
  ['drawdownSeconds', (3 * DAY) / 1000],
  ['underwaterSeconds', (3 * DAY) / 1000],
  ['recoveryFactor', 0.5],
  ['winningDays', 3],
  ['drawDays', 1],
  ['losingDays', 3],
  ['bestDay', 5],
  ['worstDay', -3],
])('the metric %s of the equity of one week is %s', (key, value) => {
  expect(figures({ equity: week, to: T0 + 6 * DAY })[key]).toBeCloseTo(value, 9)
})

describe('a year', () => {
  const days = Array.from(
    { length: 40 },
    (_, day) => [T0 + day * DAY, 10 + (day % 4 === 3 ? -0.2 : 0.1) * day] as [number, number],
  )
  const equity = equityOf(...days)
  const many = Array.from({ length: 100 }, (_, n) => trip(n % 2 === 0 ? 0.1 : -0.05))

  test('yearly figures need 30 days and 100 trades', () => {
    const long = figures({ equity, trips: many, to: T0 + 40 * DAY })
    for (const key of ['sharpe', 'sortino', 'cagr', 'calmar', 'volatility', 'serenity']) {
      expect(long[key], key).toEqual(expect.any(Number))
      expect(figures({ equity, trips: many.slice(1), to: T0 + 40 * DAY })[key], key).toBeNull()
      expect(figures({ equity, trips: many, to: T0 + 29.9 * DAY })[key], key).toBeNull()
    }
  })

  test('yearly figures equal an independent computation from daily returns', () => {
    const values = days.map(([, sol]) => sol)
    const returns = values.map((sol, day) => sol / (values[day - 1] ?? 10) - 1)
    const total = (some: readonly number[]) => some.reduce((a, b) => a + b, 0)
    const middle = total(returns) / 40
    const variance = total(returns.map((one) => (one - middle) ** 2)) / 39
    const down = total(returns.map((one) => (one < 0 ? one * one : 0))) / 40
    const falls = values.map((sol, day) => 1 - sol / Math.max(...values.slice(0, day + 1)))
    const end = values.at(-1) as number
    const cagr = (end / 10) ** (365 / 40) - 1
    const found = figures({ equity, trips: many, to: T0 + 40 * DAY })
    expect(found.volatility).toBeCloseTo(Math.sqrt(variance * 365) * 100, 8)
    expect(found.sharpe).toBeCloseTo((middle / Math.sqrt(variance)) * Math.sqrt(365), 8)
    expect(found.sortino).toBeCloseTo((middle / Math.sqrt(down)) * Math.sqrt(365), 8)
    expect(found.cagr).toBeCloseTo(cagr * 100, 6)
    expect(found.calmar).toBeCloseTo(cagr / Math.max(...falls), 8)
    // The tail is the deepest twentieth of the falls: two of 40.
    const [first = 0, second = 0] = [...falls].sort((a, b) => b - a)
    const pitfall = (first + second) / 2 / Math.sqrt(variance)
    const ulcer = Math.sqrt(total(falls.map((fall) => fall * fall)) / 39)
    expect(found.serenity).toBeCloseTo(total(returns) / (ulcer * pitfall), 8)
  })
})

test.each([
  ['trades that follow one another', [0, 10, 10, 20, 20, null], 1],
  ['two overlapping trades', [0, 10, 5, 15, 12, 20], 2],
  ['trades that are still open at the end of the tape', [0, null, 1, null, 2, 3], 3],
  ['no trade', [], 0],
])('the largest number of trades open at the same time: %s', (_what, times, most) => {
  const trips = Array.from({ length: times.length / 2 }, (_, n) => {
    const closedAt = times[n * 2 + 1] ?? null
    return trip(0, { openedAt: T0 + (times[n * 2] ?? 0), closedAt: closedAt === null ? null : T0 + closedAt })
  })
  expect(figures({ trips })).toMatchObject({ mostOpenTrades: most })
})

test('metrics without trades are null, never NaN', () => {
  for (const [key, value] of Object.entries(figures({}))) expect(Number.isNaN(value), key).toBe(false)
  expect(figures({})).toMatchObject({ trades: 0, winRate: null, profitFactor: null, expectancy: null, sqn: null })
})

test('groups are ranked by net profit, and leaving out more of the best tokens never raises the net profit', () => {
  const groups = groupsOf(five, ({ mint }) => mint)
  expect(groups.map(({ name, trades }) => [name, trades])).toEqual([
    ['A', 1],
    ['D', 1],
    ['B', 2],
    ['C', 1],
  ])
  expect(groups[2]).toMatchObject({ winPercent: 50, holdingSeconds: 25 })
  expect(groups[2]?.averagePercent).toBeCloseTo(-2.5, 9)
  expect(groups[2]?.profitFactor).toBeCloseTo(0.8, 9)
  expect(groups[0]?.profitFactor).toBeNull()
  expect([0, 1, 3, 5].map((count) => withoutBest(five, count).toFixed(9))).toEqual([
    '0.200000000',
    '-0.300000000',
    '-0.300000000',
    '-0.300000000',
  ])
  expect(kindOf('fell 15.2 %')).toBe(kindOf('fell 7 %'))
  expect(kindOf('stop-loss: -20.3 % from the average price')).toBe('stop-loss')
})

test.each([
  ['close 1.2e-7 > 3-bar high 1.1E-07', 'close n > n-bar high n'],
  ['ema20 above ema50 by +1.5e+2 %', 'ema20 above ema50 by n %'],
  ['between 20-30', 'between n-n'],
  ['c12 at 1.20000e-7: target 2x', 'target nx'],
])('the numbers in the reason %j are replaced, so that equal reasons form a group', (reason, kind) => {
  expect(kindOf(reason)).toBe(kind)
})

test('the costs and the net profit add up to the gross profit', () => {
  const fees = { venue: 10, service: 20, slippage: -5, network: 3, failed: 2, rent: 0 }
  const { grossSol, netSol, costs } = costsOf(70, fees)
  expect(grossSol).toBeCloseTo(100e-9, 15)
  expect(netSol).toBeCloseTo(70e-9, 15)
  expect(costs.map(({ percentOfGross }) => percentOfGross)).toEqual([10, 20, -5, 3, 2, 0])
  expect(costsOf(-50, fees).costs[0]?.percentOfGross).toBeNull()
})

test('quantiles and the normal distribution have their known values', () => {
  expect([0, 0.25, 0.5, 1].map((share) => quantile([4, 1, 3, 2], share))).toEqual([1, 1.75, 2.5, 4])
  expect(normal(0)).toBeCloseTo(0.5, 6)
  expect(normal(1.6449)).toBeCloseTo(0.95, 5)
  expect(normal(-1.96)).toBeCloseTo(0.025, 4)
})

test('the table in docs/metrics.md has one row for each metric, with its unit and formula, and no other rows', () => {
  const page = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8')
  const sections = page.slice(page.indexOf('## Balance'), page.indexOf('## The figures of other programs'))
  const rows = sections.split('\n').filter((line) => line.startsWith('| `'))
  expect(rows).toEqual(
    Object.entries(METRICS).map(([key, { unit, formula }]) => `| \`${key}\` | ${unit} | ${formula} |`),
  )
})

test('docs/metrics.md maps every figure of freqtrade, NautilusTrader and Jesse, or says why it is missing', () => {
  const page = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8')
  const rows = page
    .slice(page.indexOf('## The figures of other programs'))
    .split('\n')
    .filter((line) => /^\| [^-]/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, theirs]) => theirs !== 'theirs')
  expect(rows.length).toBeGreaterThan(110)
  const first = [...page.slice(0, page.indexOf('## Balance')).matchAll(/`(\w+)`/g)].map(([, key = '']) => key)
  const known = [...Object.keys(figures({})), ...first]
  for (const [, theirs = '', ours = ''] of rows) {
    if (ours.startsWith('no: ')) continue
    const keys = [...ours.matchAll(/`(\w+)`/g)].map(([, key = '']) => key)
    expect(keys.length, theirs).toBeGreaterThan(0)
    for (const key of keys) expect(known, `${theirs}: ${key}`).toContain(key)
  }
})
