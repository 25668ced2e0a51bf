import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reservesAt, solFor, tokensFor } from '../../src/solana/pool-depth.ts'

// The reserves of pump.fun's bonding curve at the launch, and its integer formulas, in lamports and base units.
const LAUNCH_SOL = 30_000_000_000n
const LAUNCH_TOKENS = 1_073_000_000_000_000n
const FEE_BPS = 125n
const BPS = 10_000n

function curveBuy(spend: bigint, sol: bigint, tokens: bigint): bigint {
  const paid = ((spend - 1n) * BPS) / (BPS + FEE_BPS)
  return (paid * tokens) / (sol + paid)
}
function curveSell(amount: bigint, sol: bigint, tokens: bigint): bigint {
  const out = (amount * sol) / (tokens + amount)
  return out - (out * FEE_BPS + BPS - 1n) / BPS
}
const near = (value: number, exact: bigint, unit: number): void => {
  expect(Math.abs(value - Number(exact) / unit)).toBeLessThanOrEqual((Number(exact) / unit) * 1e-6 + 3 / unit)
}

/** Random states of the curve before it completes. The SOL is random, and the tokens follow from the constant
 *  product. */
const state = fc.bigInt({ min: LAUNCH_SOL, max: 114_900_000_000n }).map((sol) => ({
  sol,
  tokens: (LAUNCH_SOL * LAUNCH_TOKENS) / sol,
  price: Number(sol) / 1e9 / (Number((LAUNCH_SOL * LAUNCH_TOKENS) / sol) / 1e6),
}))

describe('the depth of a pool at a price', () => {
  it('a buy at the estimated depth gets as many tokens as the integer formula gives', () => {
    fc.assert(
      fc.property(state, fc.bigInt({ min: 10_000_000n, max: 5_000_000_000n }), ({ sol, tokens, price }, spend) => {
        near(tokensFor(Number(spend) / 1e9, reservesAt(price)), curveBuy(spend, sol, tokens), 1e6)
      }),
    )
  })

  it('a sale at the estimated depth gets the SOL of the integer formula', () => {
    fc.assert(
      fc.property(
        state,
        fc.bigInt({ min: 1_000_000n, max: 100_000_000_000_000n }),
        ({ sol, tokens, price }, amount) => {
          near(solFor(Number(amount) / 1e6, reservesAt(price)), curveSell(amount, sol, tokens), 1e9)
        },
      ),
    )
  })

  it.each([
    [0.1, 0.35],
    [0.5, 1.74],
    [1, 3.42],
    [2, 6.63],
    [5, 15.2],
    [10, 26.6],
    [30, 53.3],
  ])('%d SOL at the launch buys %d percent of the supply', (sol, percent) => {
    const tokens = tokensFor(sol, reservesAt(30 / 1_073_000_000))
    expect(Math.abs(tokens / 1e7 - percent)).toBeLessThan(percent * 0.01)
  })

  it('after the curve has completed, the depth is that of the pool', () => {
    const { sol, tokens } = reservesAt(1e-6)
    expect((sol * tokens) / (84.99036 * 206_900_000)).toBeCloseTo(1, 9)
    expect(sol / tokens / 1e-6).toBeCloseTo(1, 9)
  })

  it('a buy and a sale never return more than was paid', () => {
    const price = fc.double({ min: 1e-12, max: 1e3, noNaN: true })
    fc.assert(
      fc.property(price, fc.double({ min: 0.001, max: 100, noNaN: true }), (at, sol) => {
        const reserves = reservesAt(at)
        const tokens = tokensFor(sol, reserves)
        const paid = sol / 1.0125
        const after = { sol: reserves.sol + paid, tokens: reserves.tokens - tokens }
        expect(solFor(tokens, after)).toBeLessThan(sol)
      }),
    )
  })
})
