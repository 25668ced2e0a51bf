import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededRandom } from '../../src/base/random.ts'
import { lamports, solToLamports } from '../../src/base/units.ts'
import { DEFAULT_FILL_MODEL } from '../../src/engine/accounting/fill-assumptions.ts'
import { buy, drawLatencyMs, lossPercent, networkFee, sell, stressed } from '../../src/simulation/fill-model.ts'
import { reservesAt } from '../../src/solana/pool-depth.ts'

/** A pump.fun curve without buys: 30 SOL and 1.073e9 tokens. */
const LAUNCH = 30 / 1_073_000_000
const at = (worst: number) => ({ quoted: reservesAt(LAUNCH), worst: reservesAt(LAUNCH * worst) })
const FEES = { venueFeePercent: 1.25, serviceFeePercent: 0 }

// Expected whole tokens for 1 SOL: 3.42 % of the supply before the fee of 1.25 %.
test.each([
  ['the quoted price', 1, 10, 34_181_265],
  ['a price 1 % higher', 1.01, 10, 33_852_000],
  ['a price just within the slippage limit', 1.09, 10, 31_418_000],
  ['a price beyond the slippage limit', 1.11, 10, undefined],
  ['a price beyond a narrow slippage limit', 1.02, 0.5, undefined],
])('the fill model fills or rejects a buy of 1 SOL at %s', (_what, worst, slippage, tokens) => {
  const swap = buy(solToLamports(1), slippage, at(worst), FEES)
  if (tokens === undefined) expect(swap).toBeUndefined()
  else expect(Number(swap?.tokens) / 1e6 / tokens).toBeCloseTo(1, 2)
  expect(swap?.tradeLamports).toBe(tokens === undefined ? undefined : 1_000_000_000)
})

test.each([
  ['the quoted price', 1, 10, 0.0272],
  ['a price 10 % lower', 0.9, 10, 0.0245],
  ['a price beyond the slippage limit', 0.8, 10, undefined],
  ['a very low price with a slippage limit of 100 %', 0.01, 100, 0.000275],
])('the fill model fills or rejects a sale of a million tokens at %s', (_what, worst, slippage, sol) => {
  const swap = sell(1_000_000_000_000n, 6, slippage, at(worst), FEES)
  if (sol === undefined) expect(swap).toBeUndefined()
  else expect((swap?.tradeLamports ?? 0) / 1e9 / sol).toBeCloseTo(1, 1)
})

test('in the fill model, a round trip loses at least twice the fees of venue and service, and no buy costs more than its amount', () => {
  const price = fc.double({ min: 1e-12, max: 1, noNaN: true })
  fc.assert(
    fc.property(price, fc.integer({ min: 1_000_000, max: 100_000_000_000 }), (quoted, spend) => {
      const pool = { quoted: reservesAt(quoted), worst: reservesAt(quoted) }
      const spent = solToLamports(spend / 1e9)
      const bought = buy(spent, 1, pool, DEFAULT_FILL_MODEL)
      expect(bought?.tradeLamports).toBe(spend)
      const sold = sell(bought?.tokens ?? 0n, 6, 1, pool, DEFAULT_FILL_MODEL)
      expect(sold?.tradeLamports).toBeLessThanOrEqual((spend * 0.99 * 0.99 * (1 - 0.0125)) / (1 + 0.0125) + 1)
    }),
  )
})

test('the latencies of the fill model have the configured percentiles', () => {
  const random = seededRandom(7)
  const drawn = Array.from({ length: 20_000 }, () => drawLatencyMs({ p50: 1_500, p95: 4_000 }, random)).sort(
    (a, b) => a - b,
  )
  expect(drawn[10_000]).toBeGreaterThan(1_450)
  expect(drawn[10_000]).toBeLessThan(1_550)
  expect(drawn[19_000]).toBeGreaterThan(3_800)
  expect(drawn[19_000]).toBeLessThan(4_200)
  expect(drawn.every(Number.isInteger)).toBe(true)
  expect(drawLatencyMs({ p50: 700, p95: 700 }, random)).toBe(700)
})

const USUAL = DEFAULT_FILL_MODEL.autoPriorityFeeLamports

test.each([
  ['transactions without competition and with the usual fee', null, 0, 3],
  ['transactions without competition and with a fee that equals the usual one', USUAL, 0, 3],
  ['transactions with four prints per slot', null, 4, 6],
  ['transactions with twelve prints per slot', null, 12, 12],
  ['transactions with a quarter of the usual fee', lamports(USUAL / 4), 0, 6],
  ['transactions with four times the usual fee', lamports(USUAL * 4), 4, 3],
  ['transactions with a tiny fee and much competition, at most 60 %', lamports(10_000), 100, 60],
])(
  'the fill model loses %s (fee %s lamports, %d prints per slot) at a rate of %d %%',
  (_what, fee, prints, percent) => {
    expect(lossPercent(DEFAULT_FILL_MODEL, fee, prints)).toBeCloseTo(percent, 9)
  },
)

test('a configured loss rate of 100 % or 0 % is the same with any fee', () => {
  const model = { ...DEFAULT_FILL_MODEL, landingFailurePercent: 100 }
  expect(lossPercent(model, null, 0)).toBe(100)
  expect(lossPercent({ ...model, landingFailurePercent: 0 }, lamports(10_000), 50)).toBe(0)
})

test('a stress factor multiplies every fee and the latency of the fill model', () => {
  const twice = stressed(DEFAULT_FILL_MODEL, 2)
  expect(twice).toMatchObject({ latencyMs: { p50: 3_000, p95: 8_000 }, venueFeePercent: 2.5, serviceFeePercent: 2 })
  expect(networkFee(null, twice)).toBe(2 * 505_000)
  expect(networkFee(lamports(20_000), twice)).toBe(2 * 25_000)
})
