import { expect, test } from 'vitest'
import { refusalOf } from '../../../src/chain/signer/rules.ts'
import { withGuards } from '../../../src/chain/verifier/guards.ts'
import { verifyTransaction } from '../../../src/chain/verifier/verify-transaction.ts'
import { decodeTransaction } from '../../../src/solana/transaction.ts'
import { compile } from '../verifier/draft.ts'
import { honest, SHAPES } from '../verifier/honest.ts'
import { FAMILIES, spoiled } from '../verifier/hostile.ts'
import * as parts from '../verifier/parts.ts'
import { boundOf, leastBoundOf, requestOf, rulesOf } from './drafts.ts'

const EACH = Number(process.env.SLUICE_MUTANTS ?? 3)

test.each(Object.keys(SHAPES))(
  'the signer signs this honest transaction if the request allows exactly its cost: %s',
  (shape) => {
    for (let seed = 0; seed < 2 * EACH; seed++) {
      const draft = honest(shape, seed)
      expect(refusalOf(requestOf(draft, boundOf(draft)), rulesOf(draft.drawn.user)), `seed ${seed}`).toBeUndefined()
    }
  },
)

/** Kinds of attacks that only the verifier can refuse, because the signer knows neither the order nor the policy. */
const BEYOND_THE_SIGNER = [
  'a SyncNative instruction for the account of a stranger',
  'seeded accounts that the trade does not need',
  'a CloseAccount instruction for the account of another token',
  'a new account for another token',
  'a sale of a share of a balance that is unknown',
  'a sale of a number of tokens in an unknown unit',
  'a trade with a minimum output of zero',
  'a buy that spends more SOL than was ordered',
  'a sale of more tokens than were ordered',
  'a sale of one base unit more than rounding can explain',
  'a buy of another token',
  'a trade with a quote currency other than SOL',
  'a sale in place of a buy',
  'a buy whose tokens go to a thief',
  'a sale whose SOL goes to a thief',
  'a trade for another wallet',
  'a trade with the wallet or its token account as an additional account',
  'a trade in a pool that belongs to the builder',
  'a call of another instruction of the trading program',
  'a trade with missing or additional bytes or accounts',
  'an order whose token is wrapped SOL itself',
  'a second signer that the policy does not list',
  'a co-signer with a missing or invalid signature',
  "a transaction that already contains the wallet's signature",
]

test('each name in the list of attacks that only the verifier can refuse is the name of an attack', () => {
  expect(Object.keys(FAMILIES)).toEqual(expect.arrayContaining(BEYOND_THE_SIGNER))
})

test.each(Object.keys(FAMILIES).filter((name) => !BEYOND_THE_SIGNER.includes(name)))(
  'the signer refuses this attack without the verifier if the request allows exactly the cost of the honest trade: %s',
  (name) => {
    for (let seed = 0; seed < EACH; seed++) {
      const draft = spoiled(name, seed)
      const order = honest(draft.name, seed)
      const request = requestOf(draft, leastBoundOf(order, order.drawn.user))
      expect(refusalOf(request, rulesOf(order.drawn.user)), `seed ${seed}`).toBeDefined()
    }
  },
)

test('the signer signs every kind of honest transaction with appended guards if the request says that it has guards', () => {
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
