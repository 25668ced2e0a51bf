import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Drawdown, fallOf } from '../../src/backtest/drawdowns.ts'
import { Equity } from '../../src/backtest/equity.ts'
import { metricsOf } from '../../src/backtest/metrics/metrics.ts'
import { netOf, newTrip, type RoundTrip } from '../../src/engine/accounting/round-trip.ts'

const DAY = 86_400_000
const SOL = 1e9

const lossOf = (deepest: Drawdown | undefined): number => (deepest === undefined ? 0 : fallOf(deepest))

/** Returns the largest fall from any value to any later one. */
function deepestOf(values: readonly number[]): number {
  let deepest = 0
  for (const [at, high] of values.entries()) for (const low of values.slice(at)) deepest = Math.max(deepest, high - low)
  return deepest
}

function equityOf(values: readonly number[], stepMs = 1_000): Equity {
  const equity = new Equity(0, Math.max(1, (values.length - 1) * stepMs))
  for (const [at, value] of values.entries()) equity.sample(at * stepMs, value)
  return equity
}

const LEVELS = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 30 })

test('the deepest and the longest fall of an equity curve equal those that a search over all pairs of values finds', () => {
  fc.assert(
    fc.property(LEVELS, (values) => {
      const { drawdowns, low, high } = equityOf(values)
      let longest = 0
      let share = 0
      for (const [from, before] of values.entries())
        for (let to = from; to < values.length; to++) {
          if (before > 0) share = Math.max(share, (before - (values[to] as number)) / before)
          if (values.slice(from + 1, to + 1).every((value) => value < before)) longest = Math.max(longest, to - from)
        }
      expect(lossOf(drawdowns.deepest)).toBe(deepestOf(values))
      expect(drawdowns.longestMs).toBe(longest * 1_000)
      expect(drawdowns.largestShare).toBeCloseTo(share, 12)
      expect([low, high]).toEqual([Math.min(...values), Math.max(...values)])
    }),
  )
})

test('an equity curve of any number of samples has at most 2,005 points in order of time, and keeps the extreme values', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6_000 }),
      fc.infiniteStream(fc.double({ min: 0, max: 1e12, noNaN: true })),
      (length, stream) => {
        const values = [...stream.take(length)]
        const equity = equityOf(values)
        const { curve } = equity
        const levels = curve.map(({ lamports }) => lamports)
        expect(curve.length).toBeLessThanOrEqual(2_005)
        expect(curve.every(({ index }, at) => at === 0 || index > (curve[at - 1]?.index ?? 0))).toBe(true)
        expect([levels[0], levels.at(-1)]).toEqual([values[0], values.at(-1)])
        expect([Math.min(...levels), Math.max(...levels)]).toEqual([equity.low, equity.high])
        expect(lossOf(equity.drawdowns.deepest)).toBe(lossOf(equityOf(levels).drawdowns.deepest))
      },
    ),
    { numRuns: 15 },
  )
})

test('the memory of an equity curve does not grow with its samples', () => {
  const equity = new Equity(0, 31 * DAY)
  for (let at = 0; at <= 31 * 8_640; at++) equity.sample(at * 10_000, (at * 7_919) % 1_000)
  expect(equity.curve.length).toBeLessThan(2_005)
  expect(equity.dailyCloses).toHaveLength(32)
  expect(lossOf(equity.drawdowns.deepest)).toBe(999)
})

const TRADE = fc.record({
  openedAt: fc.integer({ min: 0, max: 1_000 }),
  heldMs: fc.option(fc.integer({ min: 0, max: 1_000 })),
  net: fc.integer({ min: -50, max: 50 }),
})

function tripOf({ openedAt, heldMs, net }: { openedAt: number; heldMs: number | null; net: number }): RoundTrip {
  const ends = heldMs === null ? { valueLamports: net } : { soldLamports: net, closedAt: openedAt + heldMs }
  return { ...newTrip('A', openedAt, ''), ...ends }
}

test('the maximum drawdown is the drawdown of the equity or of the balance after closed trades, if that is larger', () => {
  fc.assert(
    fc.property(LEVELS, fc.array(TRADE, { maxLength: 20 }), (values, trades) => {
      const trips = trades.map(tripOf)
      const equity = equityOf(values)
      const closed = trips.filter(({ closedAt }) => closedAt !== null)
      closed.sort((one, other) => (one.closedAt ?? 0) - (other.closedAt ?? 0))
      let balance = 100
      const balances = [balance, ...closed.map((trip) => (balance += netOf(trip)))]
      const input = { from: 0, to: DAY, startLamports: 100, trips, equity }
      const found = new Map(metricsOf(input).map(({ key, value }) => [key, value]))
      const deepest = Math.max(deepestOf(values), deepestOf(balances))
      expect(found.get('maxDrawdown')).toBeCloseTo(deepest / SOL, 12)
    }),
  )
})
