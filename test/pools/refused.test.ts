import { expect, test } from 'vitest'
import type { ExactPool } from '../../bench/pools/exact-pool.ts'
import { isRefusedBuy, refusedBuys } from '../../bench/pools/refused.ts'
import { lamports } from '../../src/base/units.ts'
import type { Attempt } from '../../src/orders/attempt.ts'

const SOL = 1_000_000_000n
/** A pool of 100 SOL and a million tokens. At 1,500 ms another trader buys for 20 SOL. */
const START = { virtualSol: 100n * SOL, virtualTokens: 10n ** 12n, realTokens: 10n ** 12n, complete: true }
const AFTER = { ...START, virtualSol: 120n * SOL, virtualTokens: (10n ** 12n * 100n) / 120n }
const POOL: ExactPool = {
  ...{ mint: 'm', isHoneypot: false, start: START },
  events: [{ kind: 'buy', time: 1_500, amount: 20n * SOL, after: AFTER }],
}
const REFUSED: Attempt = {
  ...{ id: 'o1.1', orderId: 'o1', account: '', bot: '', executor: 'paper', mint: 'm', side: 'buy', class: 'entry' },
  ...{ size: { kind: 'sol', lamports: lamports(1e9) }, priorityFeeLamports: null, price: null, armedAt: 1_000 },
  ...{ baseline: null, state: 'reverted', signature: '', code: 'SLIPPAGE_EXCEEDED', slippagePercent: 50 },
  trail: [{ at: 2_000, state: 'reverted', code: 'SLIPPAGE_EXCEEDED', reason: '' }],
}
const TERMS = { holdMs: 1_000, serviceFeePercent: 0 }

test('a refused buy that the exact pool would have filled counts with its result: it would have lost both fees', () => {
  const { refused, fillable, resultLamports } = refusedBuys(new Map([['m', POOL]]), [REFUSED], TERMS)
  expect({ refused, fillable }).toEqual({ refused: 1, fillable: 1 })
  expect(resultLamports / 1e9).toBeCloseTo(0.9875 / 1.0125 - 1, 6)
})

test('a buy that exceeds its slippage in the exact pool too was refused correctly', () => {
  // The price rises by 44 % between the sending and the landing of the order.
  const rightly = refusedBuys(new Map([['m', POOL]]), [{ ...REFUSED, slippagePercent: 40 }], TERMS)
  expect(rightly).toEqual({ refused: 1, fillable: 0, resultLamports: 0 })
})

test('a refused buy of a honeypot counts as if its whole amount had been lost', () => {
  const pools = new Map([['m', { ...POOL, isHoneypot: true }]])
  expect(refusedBuys(pools, [REFUSED], TERMS).resultLamports).toBe(-1e9)
})

test('only buys that failed for their slippage count as refused', () => {
  expect(isRefusedBuy(REFUSED)).toBe(true)
  expect(isRefusedBuy({ ...REFUSED, side: 'sell' })).toBe(false)
  expect(isRefusedBuy({ ...REFUSED, state: 'filled', code: '' })).toBe(false)
})
