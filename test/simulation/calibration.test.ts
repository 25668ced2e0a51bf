import { expect, test } from 'vitest'
import { baseUnits, lamports, ZERO } from '../../src/base/units.ts'
import { DEFAULT_FILL_MODEL } from '../../src/engine/accounting/fill-assumptions.ts'
import { type FillCosts, NO_COSTS } from '../../src/engine/accounting/fill-costs.ts'
import type { Fill } from '../../src/engine/order.ts'
import { Mints } from '../../src/market/mints.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import { calibrated, type Execution, FillComparison, measure, type Unheard } from '../../src/simulation/calibration.ts'
import { CURVE_PRODUCT, poolAround, reservesAt, tokensFor } from '../../src/solana/pool-depth.ts'
import { buyAttempt } from '../support/attempts.ts'
import { blockOf } from '../support/market-rows.ts'

const T0 = 1_780_000_000_000
const PRICE = 5e-8

function filled(
  latencyMs: number,
  tokens: number,
  more: Partial<Attempt> = {},
  costs: Partial<FillCosts> = {},
): Execution {
  const attempt = buyAttempt('mint', 0.1, { armedAt: T0 + 1, state: 'filled', executor: 'cloud', ...more })
  const fill: Fill = {
    ...{
      signature: '',
      orderId: attempt.orderId,
      attemptId: attempt.id,
      account: '',
      bot: 'bot',
      mint: 'mint',
      side: attempt.side,
    },
    ...{ slot: 1, time: attempt.armedAt + latencyMs, tokens: baseUnits(tokens, 6), decimals: 6 },
    ...{
      tradeLamports: lamports(100_000_000),
      feeLamports: lamports(205_000),
      rentLamports: ZERO,
      walletLamports: ZERO,
    },
    costs: { ...NO_COSTS, ...costs },
    final: true,
  }
  return { attempt, fill }
}

const ended = (state: Attempt['state']): Execution => ({ attempt: buyAttempt('mint', 0.1, { state }), fill: undefined })
const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

test('the calibration replaces assumed parameters of the fill model by measured ones', () => {
  const costs = {
    tradeLamports: lamports(98_000_000),
    venueFeeLamports: lamports(980_000),
    serviceFeeLamports: lamports(500_000),
  }
  const executions = [
    ...times(40, (at) => filled(100 * (at + 1), 1, {}, costs)),
    ...times(10, () => ended('absent')),
    ended('working' as never),
  ]
  const measured = measure(executions)
  expect(measured).toMatchObject({
    ...{ fills: 40, decided: 50, latencyMs: { p50: 2_100, p95: 3_900 }, landingFailurePercent: 20 },
    ...{ autoPriorityFeeLamports: 200_000, serviceFeePercent: 0.5 },
  })
  expect(measured.venueFeePercent).toBeCloseTo(1, 9)
  expect(calibrated(DEFAULT_FILL_MODEL, measured)).toMatchObject({
    ...{
      latencyMs: { p50: 2_100, p95: 3_900 },
      landingFailurePercent: 20,
      serviceFeePercent: 0.5,
      deadAfterMs: 600_000,
    },
  })
})

test('if measured orders had competition, the calibration counts this competition once', () => {
  const rows = [-3, -2, -1, 100, 200, 300, 400, 500, 600, 700, 800].map((ms) => ({
    time: T0 + ms,
    mint: 'mint',
    price: PRICE,
  }))
  const lost = (mint: string, more: Partial<Attempt> = {}): Execution => ({
    attempt: buyAttempt(mint, 0.1, { armedAt: T0 + 1, state: 'absent', priorityFeeLamports: null, ...more }),
    fill: undefined,
  })
  const executions = [
    ...times(48, () => filled(801, 1, { priorityFeeLamports: null })), // eight prints in three slots
    lost('mint', { priorityFeeLamports: lamports(125_000) }), // at a quarter of the fee
    lost('mint', { armedAt: T0 + 9_000 }), // without competition
    lost('unknown-mint'),
    ended('working' as never),
  ]
  const usual = { ...measure(executions), autoPriorityFeeLamports: lamports(500_000) }
  const model = calibrated({ ...DEFAULT_FILL_MODEL, latencyMs: { p50: 800, p95: 800 } }, { ...usual, latencyMs: null })
  const mints = new Mints()
  const comparison = new FillComparison(mints, { tradePrice: 'sol', tradeAmount: 'sol' }, model, executions, [])
  comparison.rows(blockOf(rows, mints), 0, rows.length)
  comparison.end()
  const crowded = 1 + 8 / 3 / 4
  expect(comparison.lossFactors.toSorted((a, b) => a - b)).toEqual(
    [1, ...times(48, () => crowded), 2 * crowded].map((one) => expect.closeTo(one, 2)),
  )
  const mean = comparison.lossFactors.reduce((sum, one) => sum + one, 0) / 50
  const found = calibrated(model, usual, mean)
  expect(usual.landingFailurePercent).toBeCloseTo((3 / 51) * 100, 9)
  // For the same attempts, the mean loss rate of the calibrated model must be the measured one.
  const again = comparison.lossFactors.reduce((sum, one) => sum + found.landingFailurePercent * one, 0) / 50
  expect(again).toBeCloseTo(usual.landingFailurePercent as number, 9)
  expect(calibrated(model, { ...usual, landingFailurePercent: 90 }, 0.5).landingFailurePercent).toBe(100)
  expect(calibrated(DEFAULT_FILL_MODEL, { ...usual, landingFailurePercent: null }, mean).landingFailurePercent).toBe(3)
})

test('the calibration changes no parameter with too few samples, and does not count unread values as zero', () => {
  const unread = { unknown: ['venueFee', 'serviceFee'] } as const
  const executions = [
    ...times(10, () => filled(1_000, 1, {}, unread)),
    ...times(4, () => filled(1_000, 1, { priorityFeeLamports: ZERO })),
  ]
  const measured = measure(executions)
  expect(measured).toMatchObject({
    fills: 14,
    latencyMs: null,
    landingFailurePercent: null,
    venueFeePercent: null,
    serviceFeePercent: null,
  })
  expect(calibrated(DEFAULT_FILL_MODEL, measured)).toEqual({ ...DEFAULT_FILL_MODEL, autoPriorityFeeLamports: 200_000 })
  expect(measure([])).toMatchObject({ fills: 0, decided: 0 })
})

test('the calibration treats a block time as the time of the block rounded down to a second', () => {
  const whole = times(20, () => filled(999, 1)) // armed a millisecond after the full second
  expect(measure(whole).latencyMs).toEqual({ p50: 1_499, p95: 1_499 })
})

/** Compares orders on a tape on which the price rises by 4 % half a second after the order. */
function compare(
  executions: readonly Execution[],
  cuts: readonly number[] = [0],
  gaps: readonly Unheard[] = [],
): readonly number[] {
  const mints = new Mints()
  const comparison = new FillComparison(
    mints,
    { tradePrice: 'sol', tradeAmount: 'sol' },
    DEFAULT_FILL_MODEL,
    executions,
    gaps,
  )
  const rows = [-3, -2, -1, 500, 600, 700, 5_000].map((ms) => ({
    time: T0 + ms,
    mint: 'mint',
    price: ms > 0 ? PRICE * 1.04 : PRICE,
  }))
  for (const [at, from] of cuts.entries()) {
    const part = rows.slice(from, cuts[at + 1])
    comparison.rows(blockOf(part, mints), 0, part.length)
  }
  comparison.end()
  return comparison.errorPercents
}

/** Returns the tokens that the model predicts for 0.1 SOL if the last trade had 1 SOL at the price `print`. */
const predicted = (print: number): number =>
  tokensFor(0.1 * 0.99, reservesAt(poolAround(print, 1, CURVE_PRODUCT).after), 0.0125)

test("a real fill is compared with the model's fill at the worst price of its slot", () => {
  const [early] = compare([filled(51, predicted(PRICE))])
  expect(early).toBeCloseTo(0, 6)
  const [worst] = compare([filled(1_501, predicted(PRICE * 1.04))])
  expect(worst).toBeCloseTo(0, 6)
  const [better] = compare([filled(1_501, predicted(PRICE * 1.04) * 1.05)])
  expect(better).toBeCloseTo(5, 4)
  const [flattered] = compare([filled(1_501, predicted(PRICE * 1.04) * 0.9)])
  expect(flattered).toBeCloseTo(-10, 4)
})

test('the calibration does not depend on how the tape is divided into blocks, and skips attempts without a price', () => {
  const executions = [
    filled(51, predicted(PRICE)),
    filled(1_501, 1e6),
    filled(99_000, 1e6),
    filled(51, 1, { mint: 'other' }),
    ended('absent'),
  ]
  const whole = compare(executions)
  expect(whole).toHaveLength(3)
  for (const cuts of [
    [0, 1, 3, 4],
    [0, 5],
    [0, 1, 2, 3, 4, 5, 6],
  ])
    expect(compare(executions, cuts)).toEqual(whole)
})

test('the calibration skips attempts during a gap, and after a gap there is no price until new prints', () => {
  const early = filled(51, predicted(PRICE)) // T0 + 1 to T0 + 52
  const late = filled(500, predicted(PRICE * 1.04), { armedAt: T0 + 4_000 }) // prints 500, 600 and 700 ms before it
  const gap = (from: number, to: number, ...keys: string[]): Unheard => ({ from: T0 + from, to: T0 + to, keys })
  const kept = (...gaps: Unheard[]) => compare([early, late], [0], gaps).length
  expect(kept()).toBe(2)
  expect(kept(gap(10, 20, 'trades'))).toBe(1) // a gap during its flight also removes the earlier prices
  expect(kept(gap(10, 20, 'mint'))).toBe(1)
  expect(kept(gap(10, 20, 'another', 'newTokens'))).toBe(2)
  expect(kept(gap(-100, 2, 'trades'))).toBe(1) // a gap at its start
  expect(kept(gap(52, 60, 'trades'))).toBe(2) // a gap after it landed
  expect(kept(gap(3_000, 3_900, 'trades'))).toBe(1) // a gap that ended before the second attempt but removed its prices
  expect(kept(gap(550, 560, 'trades'))).toBe(1) // two prints since then are not enough for a price
  expect(kept(gap(300, 500, 'trades'))).toBe(2) // the print at the last instant of the gap counts
})
