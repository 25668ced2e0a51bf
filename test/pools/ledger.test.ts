import { expect, test } from 'vitest'
import type { ExactPool } from '../../bench/pools/exact-pool.ts'
import { type EntryPlace, ledgerOf } from '../../bench/pools/ledger.ts'
import { lamports, type TokenAmount } from '../../src/base/units.ts'
import { NO_COSTS } from '../../src/engine/accounting/fill-costs.ts'
import type { Fill } from '../../src/engine/order.ts'

const SOL = 1_000_000_000n
/** A pool of 100 SOL and a million tokens. */
const START = { virtualSol: 100n * SOL, virtualTokens: 10n ** 12n, realTokens: 10n ** 12n, complete: true }

/** Returns a pool in which other traders buy 10 SOL at each of these times. */
function poolOf(times: readonly number[] = [], isHoneypot = false): ExactPool {
  const events = times.map((time, at) => {
    const virtualSol = BigInt(110 + 10 * at) * SOL
    const virtualTokens = (100n * SOL * 10n ** 12n) / virtualSol
    return { kind: 'buy' as const, time, amount: 10n * SOL, after: { ...START, virtualSol, virtualTokens } }
  })
  return { mint: 'm', isHoneypot, start: START, events }
}

function fill(side: 'buy' | 'sell', time: number, tokens: number, sol: number): Fill {
  const tradeLamports = lamports(Math.round(sol * 1e9))
  const serviceFeeLamports = lamports(side === 'buy' ? Math.round(sol * 1e7) : 0)
  const none = lamports(0)
  return {
    ...{
      signature: '',
      orderId: '',
      attemptId: '',
      account: '',
      bot: '',
      mint: 'm',
      slot: 0,
      decimals: 6,
      final: true,
    },
    ...{ side, time, tradeLamports, tokens: BigInt(Math.round(tokens * 1e6)) as TokenAmount },
    ...{ feeLamports: none, rentLamports: lamports(side === 'sell' ? -2_039_280 : 0), walletLamports: none },
    costs: { ...NO_COSTS, serviceFeeLamports },
  }
}

const options = (place: EntryPlace = 'end') => ({ place, serviceFeePercent: 1, endsAt: 100_000 })
/**
 * SOL that a buyer pays so that 10 SOL enter the pool. The venue takes 1.25 % of these 10 SOL in addition, and the
 * service takes 1 % of the payment.
 */
const SPENT = 10.125 / 0.99

test('a round trip in a pool without other trades costs both fees twice, and its own price impact once', () => {
  const fills = [fill('buy', 10_000, 90_000, SPENT), fill('sell', 20_000, 90_000, 9)]
  const {
    fills: [bought, sold],
    ...rest
  } = ledgerOf(poolOf(), fills, options())
  expect(Number(bought?.exactTokens) / 1e6).toBeCloseTo(90_909.09, 1)
  expect(bought?.exactLamports).toBe(bought?.simulatedLamports)
  expect((sold?.exactLamports as number) / 1e9).toBeCloseTo(10 * 0.9875 * 0.99, 6)
  expect(rest).toEqual({ simulatedTokens: 0n, exactTokens: 0n, exactValueLamports: 0 })
})

test.each([
  // The buy lands in the Solana slot from 9,600 to 10,000 ms. Others buy 10 SOL at 9,700 ms and at 9,900 ms.
  ['start', 100],
  ['middle', 110],
  ['end', 120],
] as const)('an order that lands at the %s of its Solana slot trades with a pool of %i SOL', (place, solBefore) => {
  const { fills } = ledgerOf(poolOf([9_700, 9_900]), [fill('buy', 10_000, 1, SPENT)], options(place))
  const tokensBefore = 1e8 / solBefore
  expect(Number(fills[0]?.exactTokens) / 1e6).toBeCloseTo((10 * tokensBefore) / (solBefore + 10), 1)
})

test('a partial sale sells the same share of the balance in the exact pool as of the position of the bot', () => {
  const fills = [fill('buy', 10_000, 50_000, SPENT), fill('sell', 20_000, 25_000, 2)]
  const {
    fills: [, sold],
    exactTokens,
    simulatedTokens,
  } = ledgerOf(poolOf(), fills, options())
  expect(Number(sold?.exactTokens) / 1e6).toBeCloseTo(45_454.54, 1)
  expect(Number(exactTokens) / 1e6).toBeCloseTo(45_454.54, 1)
  expect(simulatedTokens).toBe(25_000_000_000n)
})

test('an open position counts as if it were sold after all recorded trades', () => {
  const { exactValueLamports } = ledgerOf(poolOf([50_000]), [fill('buy', 10_000, 1, SPENT)], options())
  // The pool has 120 SOL and 833,333.33 tokens. The sale adds 90,909.09 tokens, and fees of 1.25 % and 1 % are
  // deducted.
  expect(exactValueLamports / 1e9).toBeCloseTo(11.80328 * 0.9875 * 0.99, 4)
})

test('in a honeypot, a sale of the simulation brings neither SOL nor rent, and the tokens are worth nothing', () => {
  const fills = [fill('buy', 10_000, 90_000, SPENT), fill('sell', 20_000, 90_000, 9)]
  const {
    fills: [, sold],
    exactTokens,
    exactValueLamports,
  } = ledgerOf(poolOf([], true), fills, options())
  expect(sold?.exactLamports).toBe(-2_039_280)
  expect(exactTokens).toBeGreaterThan(0n)
  expect(exactValueLamports).toBe(0)
})
