import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codeOf, errorText, readFill } from '../../../src/chain/landed/fill.ts'
import { NO_COSTS, walletChange } from '../../../src/engine/accounting/fill-costs.ts'
import type { Attempt } from '../../../src/orders/attempt.ts'
import { buyAttempt, sellAttempt } from '../../support/attempts.ts'
import { runs } from '../../support/runs.ts'
import { keyOf, landed, MINT, ownTokens, POOL, SIGNATURE, type Use, WALLET, WSOL, wallet } from '../landed.ts'
import { answerOf, costsOf, type Shape, shapes } from '../trade-shapes.ts'

const RENT = 2_039_280
/** The number of random samples; the longest manual run had 20,000. */
const RUNS = runs(100)
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

/** The expected fill: base units of the token, then in lamports: amount of the trade, network fee, rent, change of the
 *  wallet's balance, and wrapped SOL. */
type Money = [bigint, number, number, number, number, number?]

test.each<[string, Attempt, Use[], { fee?: number; signers?: number }, Money]>([
  [
    'a buy into a new account',
    buy,
    [wallet(1_000_000_000, 897_955_720), ownTokens([undefined, 5_000n], [0, RENT]), pool(0, 100_000_000)],
    {},
    [5_000n, 100_000_000, 5_000, RENT, -102_044_280],
  ],
  [
    'a buy into an existing account',
    buy,
    [wallet(1_000_000_000, 899_995_000), ownTokens([7n, 5_007n], [RENT, RENT]), pool(0, 100_000_000)],
    {},
    [5_000n, 100_000_000, 5_000, 0, -100_005_000],
  ],
  [
    'a buy with a priority fee',
    buy,
    [wallet(1_000_000_000, 899_895_000), ownTokens([0n, 5_000n], [RENT, RENT])],
    { fee: 105_000 },
    [5_000n, 100_000_000, 105_000, 0, -100_105_000],
  ],
  [
    'a buy whose fee is paid by another wallet',
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
    'a sale that closes the account and returns its rent',
    sell,
    [wallet(500_000_000, 602_034_280), ownTokens([5_000n, undefined], [RENT, 0])],
    {},
    [5_000n, 100_000_000, 5_000, -RENT, 102_034_280],
  ],
  [
    'a buy with SOL that was wrapped earlier',
    buy,
    [
      wallet(500_000_000, 499_995_000),
      ownTokens([0n, 5_000n], [RENT, RENT]),
      wrapped([300_000_000n, 200_000_000n], [300_000_000 + RENT, 200_000_000 + RENT]),
    ],
    {},
    [5_000n, 100_000_000, 5_000, 0, -5_000, -100_000_000],
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
    [5_000n, 100_000_000, 5_000, RENT, -2_044_280, 100_000_000],
  ],
  [
    'a buy into two token accounts, one of them from a lookup table',
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
    'a buy in a transaction that also moves tokens of another owner',
    buy,
    [
      wallet(1_000_000_000, 899_995_000),
      ownTokens([0n, 5_000n], [RENT, RENT]),
      ownTokens([9_000n, 4_000n], [RENT, RENT], { key: keyOf(32), owner: POOL }),
    ],
    {},
    [5_000n, 100_000_000, 5_000, 0, -100_005_000],
  ],
])('%s', (_name, attempt, uses, more, [tokens, trade, fee, rent, change, wrapped = 0]) => {
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
      // Without inner instructions the fees cannot be separated from the trade.
      costs: {
        ...NO_COSTS,
        tradeLamports: trade,
        ...{ baseFeeLamports: Math.min(fee, 5_000), priorityFeeLamports: Math.max(fee - 5_000, 0) },
        ...{ rentPaidLamports: Math.max(rent, 0), rentReturnedLamports: Math.max(-rent, 0), wrappedLamports: wrapped },
        ...{ withheldTokens: expect.any(BigInt), unknown: ['venueFee', 'serviceFee'] },
      },
      final: true,
    },
  })
  expect(change).toBe((attempt.side === 'buy' ? -trade : trade) - fee - rent - wrapped)
})

describe('itemized costs of a fill', () => {
  test("the costs of a fill match the trade and add up to the change of the wallet's balance", () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const reading = read(answerOf(shape), shape.side === 'buy' ? buy : sell)
        expect(reading).toMatchObject({ kind: 'filled', fill: { costs: costsOf(shape) } })
        expectSum(reading)
      }),
      { numRuns: RUNS },
    )
  })

  test('the change of the wallet is the sum of the parts of a fill, for random balances and damaged instructions', () => {
    const noise = fc.array(fc.tuple(fc.nat(20), fc.integer({ min: -5_000_000, max: 5_000_000 })), { maxLength: 6 })
    fc.assert(
      fc.property(shapes, noise, fc.array(fc.nat(60)), (shape, changes, cuts) => {
        const answer = answerOf(shape)
        const { postBalances } = answer.meta
        for (const [place, change] of changes)
          if (place < postBalances.length) postBalances[place] = Math.max(0, (postBalances[place] as number) + change)
        const { instructions = [] } = answer.transaction.message
        for (const cut of cuts) {
          const one = instructions[cut % instructions.length] as { data: string }
          one.data = one.data.slice(cut % 7)
        }
        const reading = read(answer, shape.side === 'buy' ? buy : sell)
        if (reading.kind === 'filled') expectSum(reading)
      }),
      { numRuns: RUNS },
    )
  })

  test.each<[string, (answer: ReturnType<typeof answerOf>) => object]>([
    ['the node does not record inner instructions', ({ meta }) => ({ meta: { ...meta, innerInstructions: null } })],
    [
      'inner calls of an unknown program',
      ({ meta }) => ({ meta: { ...meta, innerInstructions: [{ index: 0, instructions: [{ programIdIndex: 99 }] }] } }),
    ],
    [
      'invalid instructions',
      ({ transaction }) => {
        const message = { ...transaction.message, instructions: [null] }
        return { transaction: { ...transaction, message } }
      },
    ],
  ])("%s: the fees remain part of the trade's amount and are listed as unknown", (_what, spoiled) => {
    const answer = answerOf(SIMPLE)
    const reading = read({ ...answer, ...spoiled(answer) })
    const unknown = { venueFeeLamports: 0, serviceFeeLamports: 0, unknown: ['venueFee', 'serviceFee'] }
    expect(reading).toMatchObject({ fill: { tradeLamports: 101_500_000, costs: unknown } })
    expectSum(reading)
  })

  test('SOL that stays with a program with its own token account is counted as the fee of venue and service', () => {
    const uses = [
      wallet(1_000_000_000, 898_495_000),
      ownTokens([0n, 5_000n], [RENT, RENT]),
      pool(0, 100_000_000),
      { key: keyOf(50), lamports: [0, 1_500_000] as [number, number] },
      {
        key: keyOf(40),
        lamports: [RENT, RENT] as [number, number],
        tokens: [9_000n, 4_000n] as [bigint, bigint],
        mint: MINT,
        owner: POOL,
      },
    ]
    const calls = [
      { program: keyOf(45), accounts: [MINT, POOL, keyOf(40), keyOf(21), WALLET, keyOf(50)], data: Uint8Array.of(1) },
    ]
    const reading = read(landed(uses, { calls }))
    const costs = {
      tradeLamports: 100_000_000,
      venueFeeLamports: 1_500_000,
      remainderLamports: 0,
      unknown: ['serviceFee'],
    }
    expect(reading).toMatchObject({ fill: { tradeLamports: 101_500_000, costs } })
    expectSum(reading)
  })
})

/** A buy for 0.1 SOL with fees of 0.001 SOL for the venue and 0.0005 SOL for the service. */
const SIMPLE: Shape = {
  ...{ side: 'buy', alone: 100_000_000, venueFees: [600_000, 400_000], service: 500_000, taken: 'transfer', tip: 0 },
  ...{
    priority: 0,
    hasLimit: true,
    account: 'kept',
    record: 0,
    moves: 'transfers',
    wrapped: 'kept',
    tokens: 5_000,
    withheld: 0,
  },
}

function expectSum(reading: ReturnType<typeof read>): void {
  if (reading.kind !== 'filled') throw new Error(`not read: ${JSON.stringify(reading)}`)
  const { side, walletLamports, tradeLamports, feeLamports, rentLamports, costs } = reading.fill
  expect(walletChange(side, costs)).toBe(walletLamports)
  const trade = side === 'buy' ? -tradeLamports : tradeLamports
  expect(trade - feeLamports - rentLamports - costs.wrappedLamports).toBe(walletLamports)
}

const bought = [wallet(1_000_000_000, 899_995_000), ownTokens([0n, 5_000n], [RENT, RENT])]

describe('an answer without a fill', () => {
  test.each<[string, unknown, Attempt]>([
    ['a transaction of the other side', landed(bought), sell],
    ['a transaction of another mint', landed(bought), buyAttempt(keyOf(66), 0.1)],
    [
      'a transaction that changes no tokens of the wallet',
      landed([wallet(5_000, 0), ownTokens([5n, 5n], [RENT, RENT])]),
      buy,
    ],
    ['a transaction that the wallet did not sign', landed([{ key: POOL, lamports: [5_000, 0] }, ...bought]), buy],
    ['a transaction without the wallet', landed([{ key: POOL, lamports: [5_000, 0] }]), buy],
    ['the answer null', null, buy],
    ['an answer that is an empty object', {}, buy],
    [
      'an answer with fewer balances than accounts',
      { ...landed(bought), meta: { ...landed(bought).meta, postBalances: [1] } },
      buy,
    ],
    [
      'an answer with a fee that is not an integer',
      { ...landed(bought), meta: { ...landed(bought).meta, fee: 1.5 } },
      buy,
    ],
  ])('no fill is read from %s', (_name, answer, attempt) => {
    expect(read(answer, attempt).kind).toBe('other')
  })
  test('reading the answer of a node never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (answer, meta) => {
        expect(read(answer).kind).toBe('other')
        expect(read({ ...landed(bought), meta }).kind).toBe('other')
      }),
    )
  })
})

test('a fill in a block without a time gets the time at which we saw the fill', () => {
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
])('a transaction with the error %j gives the code %s, and its fee is counted', (error, code) => {
  expect(codeOf(error)).toBe(code)
  expect(read(landed([wallet(10_000, 5_000)], { error }))).toEqual({ kind: 'reverted', feeLamports: 5_000, code })
})

test('an error that is nested too deeply to be printed is read as a revert without a text', () => {
  const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as unknown
  expect([codeOf(deep), errorText(deep)]).toEqual(['REVERTED', ''])
})
