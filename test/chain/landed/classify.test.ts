import { describe, expect, test } from 'vitest'
import { type LandedTransaction, readTransaction } from '../../../src/chain/landed/landed-transaction.ts'
import { changeOf, classOf } from '../../../src/chain/landed/wallet-change.ts'
import { laneMatch } from '../../../src/chain/resolver/executions.ts'
import { WatchedAttempt } from '../../../src/chain/resolver/watch-list.ts'
import type { Attempt } from '../../../src/orders/attempt.ts'
import { buyAttempt, sellAttempt } from '../../support/attempts.ts'
import { keyOf, landed, MINT, ownTokens, POOL, SIGNATURE, type Use, WALLET, WSOL, wallet } from '../landed.ts'

const RENT = 2_039_280
const SOL = 1_000_000_000
const stranger = (before: number, after: number): Use => ({ key: POOL, lamports: [before, after] })
const other = (tokens: Use['tokens'] & {}, lamports: Use['lamports'] = [RENT, RENT]): Use =>
  ownTokens(tokens, lamports, { mint: keyOf(66), key: keyOf(67) })

const read = (uses: Use[], more: Parameters<typeof landed>[1] = {}): LandedTransaction => {
  const transaction = readTransaction(landed(uses, more))
  if (transaction === undefined) throw new Error('unreadable')
  return transaction
}

describe('the class of a transaction that belongs to no order', () => {
  test.each<[what: string, uses: Use[], more: Parameters<typeof landed>[1], is: string, lamports: number]>([
    ['SOL from a stranger is an inflow', [stranger(SOL, SOL - 6_000), wallet(SOL, SOL + 1_000)], {}, 'inflow', 1_000],
    ['one lamport from a stranger is an inflow', [stranger(SOL, SOL - 5_001), wallet(SOL, SOL + 1)], {}, 'inflow', 1],
    [
      'tokens from a stranger are an inflow',
      [stranger(SOL, SOL - 5_000), wallet(SOL, SOL), ownTokens([0n, 5n], [RENT, RENT])],
      {},
      'inflow',
      0,
    ],
    [
      'a small payment to a stranger, such as a tip, is housekeeping',
      [wallet(SOL, SOL - 1_005_000)],
      {},
      'housekeeping',
      -1_005_000,
    ],
    [
      'an expense of 3,000,000 lamports without a trade is housekeeping',
      [wallet(SOL, SOL - 3_000_000)],
      {},
      'housekeeping',
      -3_000_000,
    ],
    [
      'an expense of more than 3,000,000 lamports without a trade is foreign',
      [wallet(SOL, SOL - 3_000_001)],
      {},
      'foreign',
      -3_000_001,
    ],
    [
      'the fee of a failed transaction of the wallet is housekeeping',
      [wallet(SOL, SOL - 5_000)],
      { error: 'AccountNotFound' },
      'housekeeping',
      -5_000,
    ],
    [
      'rent for an account of the wallet is housekeeping',
      [wallet(SOL, SOL - RENT - 5_000), other([undefined, 0n], [0, RENT])],
      {},
      'housekeeping',
      -RENT - 5_000,
    ],
    [
      'wrapping one SOL is housekeeping',
      [wallet(2 * SOL, SOL - 5_000), ownTokens([undefined, BigInt(SOL)], [0, SOL], { mint: WSOL })],
      {},
      'housekeeping',
      -SOL - 5_000,
    ],
    [
      'a payment of half the balance to a stranger is foreign',
      [wallet(SOL, SOL / 2), stranger(0, SOL / 2)],
      {},
      'foreign',
      -SOL / 2,
    ],
    ['a manual buy of a token is foreign', [wallet(SOL, SOL / 2), other([0n, 9n])], {}, 'foreign', -SOL / 2],
    [
      'a manual sale of a token that a bot holds is foreign',
      [wallet(SOL, 2 * SOL), ownTokens([9n, 0n], [RENT, RENT])],
      {},
      'foreign',
      SOL,
    ],
    [
      'sending tokens away that a bot holds is foreign',
      [wallet(SOL, SOL - 5_000), ownTokens([9n, 8n], [RENT, RENT])],
      {},
      'foreign',
      -5_000,
    ],
    [
      'a sale of a token that no bot holds is housekeeping',
      [wallet(SOL, 2 * SOL), other([9n, 0n])],
      {},
      'housekeeping',
      SOL,
    ],
  ])('%s', (_what, uses, more, is, lamports) => {
    const change = changeOf(read(uses, more), WALLET)
    expect(change.lamports).toBe(lamports)
    expect(classOf(change, '', (mint) => mint === MINT)).toBe(is)
    expect(classOf(change, 'o1.1', () => true)).toBe('ours')
  })
})

describe('the attempt to which a transaction belongs', () => {
  const baseline = { slot: 99, height: 90 }
  const watched = (attempt: Attempt, is: 'lost' | 'acked' | 'refused' | 'executed'): WatchedAttempt => {
    const one = new WatchedAttempt(attempt)
    one.lastReport = is === 'lost' ? 'unknown' : is === 'acked' ? 'acked' : 'nothing'
    one.ended = is === 'refused' || is === 'executed'
    if (is === 'executed') one.settled = 'another'
    return one
  }
  const buy = (id: string, sol = 0.1, more: Partial<Attempt> = {}): Attempt =>
    buyAttempt(MINT, sol, { id, baseline, ...more })
  const bought = (sol: number, more: Parameters<typeof landed>[1] = {}): LandedTransaction =>
    read([wallet(9 * SOL, 9 * SOL - sol * SOL - 5_000), ownTokens([0n, 5n], [RENT, RENT])], more)
  const sold = read([wallet(SOL, 2 * SOL), ownTokens([5n, 0n], [RENT, RENT])])
  const failed = (uses: Use[] = []): LandedTransaction =>
    read([wallet(SOL, SOL - 5_000), ...uses], { error: { InstructionError: [1, { Custom: 6002 }] } })
  const mint: Use = { key: MINT, lamports: [1, 1], looked: 'readonly' }

  test.each<[what: string, transaction: LandedTransaction, ones: WatchedAttempt[], id: string]>([
    ['a buy belongs to the attempt without an answer', bought(0.1), [watched(buy('a'), 'lost')], 'a'],
    ['a buy at the slippage limit plus fees belongs to the attempt', bought(0.114), [watched(buy('a'), 'lost')], 'a'],
    ['a buy of another amount belongs to an attempt without an answer', bought(0.5), [watched(buy('a'), 'lost')], 'a'],
    ['a buy of another amount belongs to an acknowledged attempt', bought(0.5), [watched(buy('a'), 'acked')], 'a'],
    [
      'a buy of another amount belongs to no attempt if the attempt was refused',
      bought(0.5),
      [watched(buy('a'), 'refused')],
      '',
    ],
    [
      'a buy of another amount belongs to no attempt if the attempt has executed',
      bought(0.5),
      [watched(buy('a'), 'executed')],
      '',
    ],
    ['a buy of the same amount belongs to a refused attempt', bought(0.1), [watched(buy('a'), 'refused')], 'a'],
    [
      'a second buy of the same amount belongs to an attempt that has already executed',
      bought(0.1),
      [watched(buy('a'), 'executed')],
      'a',
    ],
    [
      'an attempt without an answer has priority over a refused one',
      bought(0.1),
      [watched(buy('a'), 'refused'), watched(buy('b'), 'lost')],
      'b',
    ],
    [
      'an attempt without an answer has priority over an acknowledged one',
      bought(0.1),
      [watched(buy('a'), 'acked'), watched(buy('b'), 'lost')],
      'b',
    ],
    [
      'a refused attempt has priority over an executed one',
      bought(0.1),
      [watched(buy('a'), 'executed'), watched(buy('b'), 'refused')],
      'b',
    ],
    [
      'of two attempts without an answer, the one with the matching amount is chosen',
      bought(0.4),
      [watched(buy('a'), 'lost'), watched(buy('b', 0.4), 'lost')],
      'b',
    ],
    ['a sale does not belong to the attempt of a buy', sold, [watched(buy('a'), 'lost')], ''],
    ['a sale belongs to the attempt of a sale', sold, [watched(sellAttempt(MINT, { id: 'a', baseline }), 'lost')], 'a'],
    [
      'a sale of exactly the ordered amount belongs to the attempt',
      sold,
      [watched(sellAttempt(MINT, { id: 'a', baseline, size: { kind: 'tokens', tokens: 5n, decimals: 6 } }), 'refused')],
      'a',
    ],
    [
      'a buy of another mint belongs to no attempt',
      bought(0.1),
      [watched(buyAttempt(keyOf(66), 0.1, { baseline }), 'lost')],
      '',
    ],
    [
      'a buy that landed before the wallet was read for the attempt belongs to no attempt',
      bought(0.1),
      [watched(buy('a', 0.1, { baseline: { slot: 100, height: 1 } }), 'lost')],
      '',
    ],
    [
      'if the wallet was not read before the attempt, a buy that landed after its creation belongs to it',
      bought(0.1),
      [watched(buy('a', 0.1, { baseline: null, armedAt: 1_782_611_400_000 }), 'lost')],
      'a',
    ],
    [
      'if the wallet was not read before the attempt, a buy that landed long before its creation does not belong to it',
      bought(0.1),
      [watched(buy('a', 0.1, { baseline: null, armedAt: 1_782_611_500_000 }), 'lost')],
      '',
    ],
    [
      'a failed transaction that uses the mint of an attempt belongs to the attempt',
      failed([mint]),
      [watched(buy('a'), 'lost')],
      'a',
    ],
    [
      'a failed transaction that does not use the mint of an attempt belongs to no attempt',
      failed(),
      [watched(buy('a'), 'lost')],
      '',
    ],
    [
      'a failed transaction does not belong to an attempt that has already executed',
      failed([mint]),
      [watched(buy('a'), 'executed')],
      '',
    ],
    [
      'a failed transaction that could belong to a buy or to a sale belongs to neither',
      failed([mint]),
      [watched(buy('a'), 'lost'), watched(sellAttempt(MINT, { id: 'b', baseline }), 'lost')],
      '',
    ],
  ])('%s', (_what, transaction, ones, id) => {
    expect(laneMatch(transaction, WALLET, ones, 1_782_611_400_000, false)?.watched.attempt.id ?? '').toBe(id)
  })

  test('a transaction with the signature of an attempt belongs to it even if the amount differs', () => {
    const one = watched(buy('a'), 'executed')
    expect(laneMatch(bought(0.5), WALLET, [one], 0, true)?.watched).toBe(one)
    expect(laneMatch(failed(), WALLET, [one], 0, true)?.reading.kind).toBe('reverted')
    expect(laneMatch(sold, WALLET, [one], 0, true)).toBeUndefined()
    expect(SIGNATURE).toBe(bought(0.5).signature)
  })
})
