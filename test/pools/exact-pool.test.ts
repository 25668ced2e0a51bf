import { expect, test } from 'vitest'
import { DisplacedPool, type ExactPool, type PoolEvent } from '../../bench/pools/exact-pool.ts'
import type { Reserves } from '../../src/solana/bonding-curve.ts'
import { CURVE_START, POOL_START } from '../../src/solana/constants.ts'

const SOL = 1_000_000_000n
const TOKEN = 1_000_000n
/** A pool of 100 SOL and a million tokens. */
const POOL: Reserves = { virtualSol: 100n * SOL, virtualTokens: 1_000_000n * TOKEN, realTokens: 0n, complete: true }

function poolOf(start: Reserves, events: readonly Omit<PoolEvent, 'after'>[] = []): ExactPool {
  const realTokens = start.complete ? start.virtualTokens : start.realTokens
  return {
    mint: 'm',
    isHoneypot: false,
    start: { ...start, realTokens },
    events: events.map((one) => ({ ...one, after: start })),
  }
}

function solOf(pool: DisplacedPool): number {
  return Number(pool.reserves.virtualSol) / 1e9
}

test("a buy of 10 SOL plus its fee gets a tenth of the pool's tokens, minus its own price impact", () => {
  const pool = new DisplacedPool(poolOf(POOL), 0)
  const { sol, fee, tokens } = pool.buy(10_125_000_000n)
  expect(Number(sol) / 1e9).toBeCloseTo(10, 8)
  expect(Number(fee) / 1e9).toBeCloseTo(0.125, 8)
  expect(Number(tokens) / 1e6).toBeCloseTo(90_909.0909, 3)
})

test('our own buy stays in the pool while others trade', () => {
  const pool = new DisplacedPool(poolOf(POOL, [{ kind: 'buy', time: 1, amount: 10n * SOL }]), 0)
  const { tokens } = pool.buy(10_125_000_000n)
  pool.advance(1)
  expect(solOf(pool)).toBeCloseTo(120, 7)
  // The pool has 120 SOL and 833,333.33 tokens. The sale adds 90,909.09 tokens.
  expect(Number(pool.sell(tokens)?.sol) / 1e9).toBeCloseTo(11.80328, 4)
})

test('an immediate sale after a buy loses both fees and nothing else', () => {
  const pool = new DisplacedPool(poolOf(POOL), 0)
  const { tokens } = pool.buy(10_125_000_000n)
  const { sol, fee } = pool.sell(tokens) ?? { sol: 0n, fee: 0n }
  expect(Number(sol - fee) / 1e9).toBeCloseTo(10 * 0.9875, 7)
})

test("after our buy, another trader's recorded sale sells the same number of tokens, and gets SOL at the changed price", () => {
  const pool = new DisplacedPool(poolOf(POOL, [{ kind: 'sell', time: 1, amount: 1_000_000n * TOKEN }]), 0)
  pool.buy(10_125_000_000n)
  pool.advance(1)
  expect(solOf(pool)).toBeCloseTo(110 * (909_090.909 / 1_909_090.909), 4)
})

test('an order that lands is executed after all events up to that time, and before later ones', () => {
  const buys = [5, 6, 7].map((time) => ({ kind: 'buy' as const, time, amount: 10n * SOL }))
  const pool = new DisplacedPool(poolOf(POOL, buys), 4)
  pool.advance(6)
  expect(solOf(pool)).toBeCloseTo(120, 7)
})

test('a withdrawal of liquidity reduces the depth of a pool, and does not change its price', () => {
  const pool = new DisplacedPool(poolOf(POOL, [{ kind: 'withdraw', time: 1, amount: 40n }]), 0)
  pool.advance(1)
  expect(pool.reserves).toMatchObject({ virtualSol: 4n * SOL, virtualTokens: 40_000n * TOKEN })
})

test('a bonding curve pays its sellers no more than was paid in', () => {
  const pool = new DisplacedPool(poolOf({ ...CURVE_START, complete: false }), 0)
  const { sol } = pool.buy(2n * SOL)
  expect(pool.sell(10n ** 15n)?.sol).toBe(sol)
})

test('a buy that completes the curve pays for its remaining tokens and opens the pool', () => {
  const pool = new DisplacedPool(poolOf({ ...CURVE_START, complete: false }), 0)
  const { sol, tokens } = pool.buy(500n * SOL)
  expect(tokens).toBe(CURVE_START.realTokens)
  expect(Number(sol) / 1e9).toBeCloseTo(85.005, 2)
  expect(pool.reserves).toEqual({ ...POOL_START, realTokens: POOL_START.virtualTokens, complete: true })
})

test('a honeypot accepts no sale', () => {
  const pool = new DisplacedPool({ ...poolOf(POOL), isHoneypot: true }, 0)
  expect(pool.sell(pool.buy(SOL).tokens)).toBeUndefined()
})
