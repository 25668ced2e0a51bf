import { expect, test } from 'vitest'
import { refusalOf } from '../../../src/chain/signer/rules.ts'
import { withGuards } from '../../../src/chain/verifier/guards.ts'
import { verifyTransaction } from '../../../src/chain/verifier/verify.ts'
import { decodeTransaction } from '../../../src/solana/transaction.ts'
import { compile } from '../verifier/draft.ts'
import { honest, SHAPES } from '../verifier/honest.ts'
import { FAMILIES, spoiled } from '../verifier/hostile.ts'
import * as parts from '../verifier/parts.ts'
import { boundOf, leastBoundOf, requestOf, rulesOf } from './drafts.ts'

const EACH = Number(process.env.SLUICE_MUTANTS ?? 3)

test.each(Object.keys(SHAPES))('what the verifier lets pass at its bound is signed: %s', (shape) => {
  for (let seed = 0; seed < 2 * EACH; seed++) {
    const draft = honest(shape, seed)
    expect(refusalOf(requestOf(draft, boundOf(draft)), rulesOf(draft.drawn.user)), `seed ${seed}`).toBeUndefined()
  }
})

/** Families that only the verifier can refuse, because the signer knows neither the order nor the policy. */
const BEYOND_THE_SIGNER = [
  'the SOL of a stranger is counted',
  'seeded accounts that the trade does not need',
  'CloseAccount of another token',
  'an account for another token',
  'a share of nobody knows what',
  'a number of nobody knows what',
  'content with nothing',
  'spends more than was ordered',
  'sells more than was ordered',
  'sells one base unit more than rounding explains',
  'another token',
  'other money than SOL',
  'a sale in place of a buy',
  'the tokens go to a thief',
  'the SOL goes to a thief',
  'somebody else trades',
  'the wallet stands where it does not belong',
  'a pool of the builder',
  'something else of the trading program',
  'a trade with bytes or accounts too few or too many',
  'money itself in place of a token',
  'a second signer that nobody listed',
  'a co-signer who has not signed, or something else',
  'our own signature stands there',
]

test('every family that only the verifier refuses exists', () => {
  expect(Object.keys(FAMILIES)).toEqual(expect.arrayContaining(BEYOND_THE_SIGNER))
})

test.each(Object.keys(FAMILIES).filter((name) => !BEYOND_THE_SIGNER.includes(name)))(
  'the signer alone refuses this family, with the tightest bound: %s',
  (name) => {
    for (let seed = 0; seed < EACH; seed++) {
      const draft = spoiled(name, seed)
      const order = honest(draft.name, seed)
      const request = requestOf(draft, leastBoundOf(order, order.drawn.user))
      expect(refusalOf(request, rulesOf(order.drawn.user)), `seed ${seed}`).toBeDefined()
    }
  },
)

test('every honest shape with the guards of the executor is signed as guarded', () => {
  const fitted = Object.keys(SHAPES).filter((shape) => {
    const { asked, policy, facts, drawn, ...draft } = honest(shape, 1)
    const { bytes, accounts } = compile({ asked, policy, facts, ...draft })
    const decoded = decodeTransaction(bytes)
    if (!decoded.ok) throw new Error(decoded.reason)
    const { user, mint, tokens: amount } = drawn
    const account = parts.ata(user, mint).toBase58()
    const tokens = { account, mint: mint.toBase58(), program: parts.TOKEN.toBase58(), amount, decimals: 6 }
    const { transaction } = decoded
    const guarded = withGuards(transaction, accounts, { floorLamports: 1_000_000n, tokens })
    if (!guarded.ok) return false // it has other signers, or is too large
    const { bound } = verifyTransaction(guarded.transaction, guarded.accounts, asked, policy, facts)
    expect(bound, shape).not.toBeNull()
    const names = { orderId: '', attemptId: '', policyHash: 'the policy' }
    const request = {
      ...names,
      guarded: true,
      message: guarded.transaction.messageBytes,
      boundLamports: bound as bigint,
    }
    expect(refusalOf(request, rulesOf(user)), shape).toBeUndefined()
    return true
  })
  expect(fitted.length).toBeGreaterThanOrEqual(8)
})
