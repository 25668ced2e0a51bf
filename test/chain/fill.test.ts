import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codeOf, readFill } from '../../src/chain/fill.ts'
import type { Attempt } from '../../src/core/order.ts'
import { buyAttempt, sellAttempt } from '../support/attempts.ts'
import { keyOf, landed, MINT, ownTokens, POOL, SIGNATURE, type Use, WALLET, WSOL, wallet } from './landed.ts'

const RENT = 2_039_280
const buy = buyAttempt(MINT, 0.1)
const sell = sellAttempt(MINT)
const pool = (before: number, after: number): Use => ({ key: POOL, lamports: [before, after] })
const wrapped = (tokens: Use['tokens'] & {}, lamports: Use['lamports']): Use => ({
  key: keyOf(30),
  lamports,
  tokens,
  mint: WSOL,
  owner: WALLET,
})
const read = (answer: unknown, attempt: Attempt = buy) => readFill(answer, WALLET, attempt, 5, true)

/** tokens, trade, fee, rent, change of the wallet. */
type Money = [bigint, number, number, number, number]

test.each<[string, Attempt, Use[], { fee?: number; signers?: number }, Money]>([
  [
    'a buy into a new account',
    buy,
    [wallet(1_000_000_000, 897_955_720), ownTokens([undefined, 5_000n], [0, RENT]), pool(0, 100_000_000)],
    {},
    [5_000n, 100_000_000, 5_000, RENT, -102_044_280],
  ],
  [
    'a buy into an account that was there',
    buy,
    [wallet(1_000_000_000, 899_995_000), ownTokens([7n, 5_007n], [RENT, RENT]), pool(0, 100_000_000)],
    {},
    [5_000n, 100_000_000, 5_000, 0, -100_005_000],
  ],
  [
    'with a priority fee',
    buy,
    [wallet(1_000_000_000, 899_895_000), ownTokens([0n, 5_000n], [RENT, RENT])],
    { fee: 105_000 },
    [5_000n, 100_000_000, 105_000, 0, -100_105_000],
  ],
  [
    'a buy that somebody else paid the fee of',
    buy,
    [
      { key: POOL, lamports: [50_000, 45_000] },
      wallet(1_000_000_000, 900_000_000),
      ownTokens([0n, 5_000n], [RENT, RENT]),
    ],
    { signers: 2 },
    [5_000n, 100_000_000, 0, 0, -100_000_000],
  ],
  [
    'a sale',
    sell,
    [wallet(500_000_000, 599_995_000), ownTokens([5_000n, 0n], [RENT, RENT]), pool(100_000_000, 0)],
    {},
    [5_000n, 100_000_000, 5_000, 0, 99_995_000],
  ],
  [
    'a sale that closes the account and gets its rent back',
    sell,
    [wallet(500_000_000, 602_034_280), ownTokens([5_000n, undefined], [RENT, 0])],
    {},
    [5_000n, 100_000_000, 5_000, -RENT, 102_034_280],
  ],
  [
    'a buy with SOL that was wrapped before',
    buy,
    [
      wallet(500_000_000, 499_995_000),
      ownTokens([0n, 5_000n], [RENT, RENT]),
      wrapped([300_000_000n, 200_000_000n], [300_000_000 + RENT, 200_000_000 + RENT]),
    ],
    {},
    [5_000n, 100_000_000, 5_000, -100_000_000, -5_000],
  ],
  [
    'a sale that is paid in wrapped SOL',
    sell,
    [
      wallet(500_000_000, 497_955_720),
      ownTokens([5_000n, 0n], [RENT, RENT]),
      wrapped([undefined, 100_000_000n], [0, 100_000_000 + RENT]),
    ],
    {},
    [5_000n, 100_000_000, 5_000, 100_000_000 + RENT, -2_044_280],
  ],
  [
    'tokens in two accounts, one of them looked up',
    sell,
    [
      wallet(500_000_000, 599_995_000),
      ownTokens([3_000n, 0n], [RENT, RENT]),
      ownTokens([2_000n, 0n], [RENT, RENT], { key: keyOf(31), looked: 'readonly' }),
      { key: POOL, lamports: [9, 9], looked: 'writable' },
    ],
    {},
    [5_000n, 100_000_000, 5_000, 0, 99_995_000],
  ],
  [
    "somebody else's tokens of the same mint in the same transaction",
    buy,
    [
      wallet(1_000_000_000, 899_995_000),
      ownTokens([0n, 5_000n], [RENT, RENT]),
      ownTokens([9_000n, 4_000n], [RENT, RENT], { key: keyOf(32), owner: POOL }),
    ],
    {},
    [5_000n, 100_000_000, 5_000, 0, -100_005_000],
  ],
])('%s', (_name, attempt, uses, more, [tokens, trade, fee, rent, change]) => {
  const reading = read(landed(uses, more), attempt)
  expect(reading).toEqual({
    kind: 'filled',
    fill: {
      signature: SIGNATURE,
      orderId: 'o1',
      attemptId: 'o1.1',
      account: attempt.account,
      bot: 'bot',
      mint: MINT,
      side: attempt.side,
      slot: 100,
      time: 1_782_611_393_000,
      tokens,
      decimals: 6,
      tradeLamports: trade,
      feeLamports: fee,
      rentLamports: rent,
      walletLamports: change,
      final: true,
    },
  })
  expect(change).toBe((attempt.side === 'buy' ? -trade : trade) - fee - rent)
})

const bought = [wallet(1_000_000_000, 899_995_000), ownTokens([0n, 5_000n], [RENT, RENT])]

describe('what is no fill', () => {
  test.each<[string, unknown, Attempt]>([
    ['another side', landed(bought), sell],
    ['another mint', landed(bought), buyAttempt(keyOf(66), 0.1)],
    ['no change of tokens', landed([wallet(5_000, 0), ownTokens([5n, 5n], [RENT, RENT])]), buy],
    ['a wallet that did not sign', landed([{ key: POOL, lamports: [5_000, 0] }, ...bought]), buy],
    ['a transaction without the wallet', landed([{ key: POOL, lamports: [5_000, 0] }]), buy],
    ['null', null, buy],
    ['an empty object', {}, buy],
    [
      'balances that do not match the accounts',
      { ...landed(bought), meta: { ...landed(bought).meta, postBalances: [1] } },
      buy,
    ],
    ['a fee that is no whole number', { ...landed(bought), meta: { ...landed(bought).meta, fee: 1.5 } }, buy],
  ])('%s', (_name, answer, attempt) => {
    expect(read(answer, attempt).kind).toBe('other')
  })
  test('whatever a node answers, nothing throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (answer, meta) => {
        expect(read(answer).kind).toBe('other')
        expect(read({ ...landed(bought), meta }).kind).toBe('other')
      }),
    )
  })
})

test('a block without a time: when it was seen', () => {
  expect(read(landed(bought, { time: null }))).toMatchObject({ fill: { time: 5 } })
})

test.each<[unknown, string]>([
  [{ InstructionError: [2, { Custom: 6002 }] }, 'SLIPPAGE_EXCEEDED'],
  [{ InstructionError: [2, { Custom: 6003 }] }, 'SLIPPAGE_EXCEEDED'],
  [{ InstructionError: [2, { Custom: 6004 }] }, 'SLIPPAGE_EXCEEDED'],
  [{ InstructionError: [2, { Custom: 6042 }] }, 'SLIPPAGE_EXCEEDED'],
  [{ InstructionError: [0, { Custom: 6040 }] }, 'SLIPPAGE_EXCEEDED'],
  [{ InstructionError: [2, { Custom: 1 }] }, 'REVERTED'],
  [{ InstructionError: [2, { Custom: 60021 }] }, 'REVERTED'],
  [{ InstructionError: [6002, 'InvalidAccountData'] }, 'REVERTED'],
  ['AccountNotFound', 'REVERTED'],
])('%j is %s, and its fee is paid', (error, code) => {
  expect(codeOf(error)).toBe(code)
  expect(read(landed([wallet(10_000, 5_000)], { error }))).toEqual({ kind: 'reverted', feeLamports: 5_000, code })
})
