import { array, assert, bigInt, boolean, property, tuple } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Curve } from '../../src/solana/bonding-curve.ts'

const product = ({ reserves }: Curve): bigint => reserves.virtualSol * reserves.virtualTokens

describe('curve', () => {
  test('the curve quotes a real buy: 5 SOL at launch brought 151,660,777.334045 tokens for 4.938271603 SOL (PumpPortal, 2026-07-03)', () => {
    expect(new Curve().quoteBuy(5_000_000_000n)).toMatchObject({ sol: 4_938_271_603n, tokens: 151_660_777_334_045n })
  })

  test('price and market cap match pump.fun from the launch to the end of the curve', () => {
    const curve = new Curve()
    expect(curve.price).toBeCloseTo(2.7959e-8, 12)
    expect(curve.marketCapSol).toBeCloseTo(27.959, 3)
    const rest = curve.quoteBuy(200_000_000_000n)
    expect(rest).toMatchObject({ sol: 85_005_359_057n, tokens: 793_100_000_000_000n })
    curve.applyBuy(rest)
    expect(curve.reserves.complete).toBe(true)
    expect(curve.price).toBeCloseTo(4.1078e-7, 10)
  })

  test('the product of the reserves never falls, and a buy followed by a sale never makes a profit', () => {
    const amount = bigInt({ min: 2n, max: 20_000_000_000n })
    void assert(
      property(array(tuple(boolean(), amount), { maxLength: 40 }), amount, (trades, spend) => {
        const curve = new Curve()
        let held = 0n
        for (const [isBuy, size] of trades) {
          if (curve.reserves.complete) return
          const before = product(curve)
          if (isBuy) {
            const swap = curve.quoteBuy(size)
            curve.applyBuy(swap)
            held += swap.tokens
          } else {
            const swap = curve.quoteSell(held < size ? held : size)
            curve.applySell(swap)
            held -= swap.tokens
          }
          if (!curve.reserves.complete) expect(product(curve)).toBeGreaterThanOrEqual(before)
        }
        if (curve.reserves.complete) return
        const bought = curve.quoteBuy(spend)
        curve.applyBuy(bought)
        if (curve.reserves.complete) return
        const sold = curve.quoteSell(bought.tokens)
        expect(sold.sol - sold.fee).toBeLessThanOrEqual(spend)
        expect(bought.sol + bought.fee).toBeLessThanOrEqual(spend)
      }),
      { numRuns: 200, seed: 1 },
    )
  })

  test.each([1e-9, 2.8e-8, 4.1e-7, 1e-5, 0.3])(
    'a curve that is moved to a recorded price of %d SOL has that price and can be traded',
    (price) => {
      const curve = new Curve()
      curve.moveTo(price)
      expect(curve.price / price).toBeCloseTo(1, 3)
      const bought = curve.quoteBuy(50_000_000n)
      expect(Number(bought.tokens) / 1e6).toBeGreaterThan(
        (0.9 * 0.05) / price / (1 + 0.05 / (Number(curve.reserves.virtualSol) / 1e9)),
      )
      curve.applyBuy(bought)
      expect(curve.quoteSell(bought.tokens).sol).toBeLessThanOrEqual(bought.sol)
    },
  )
})
