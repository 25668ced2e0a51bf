import { PublicKey } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { startStatesOf } from '../../../src/chain/verifier/simulate.ts'
import { type AccountState, tokenAccountOf } from '../../../src/solana/token-account.ts'
import { plainAccount, tokenAccount } from './scripted-node.ts'

const [wallet, own, other] = ['wallet', 'own', 'other'] as const
const key = new PublicKey(3)
const read = new Map<string, AccountState | null>([
  [wallet, { ...plainAccount(10n), executable: false }],
  [own, { ...tokenAccount({ mint: key, owner: key, tokens: 5n }), executable: false }],
  [other, null],
])
const amount = (accountIndex: number, value: string) => ({ accountIndex, uiTokenAmount: { amount: value } })

test('balances before the transaction that the simulation reports replace the balances that were read earlier', () => {
  const value = { preBalances: [7, 3, 0, 1], preTokenBalances: [amount(1, '9')] }
  const began = startStatesOf(value, [wallet, own, other, 'program'], read)
  expect(began.get(wallet)).toEqual({ ...plainAccount(7n), executable: false })
  expect(tokenAccountOf(began.get(own) ?? null)).toMatchObject({ tokens: 9n, mint: key.toBase58() })
  expect(began.get(own)?.lamports).toBe(3n)
  expect(began.get(other)).toBe(null)
  expect(startStatesOf({ preBalances: [7, 0, 0, 1] }, [wallet, own, other, 'program'], read).get(own)).toBe(null)
})

test.each([
  ['a simulation that reports no balances before the transaction', {}],
  ['a simulation that reports fewer balances than accounts', { preBalances: [7, 3, 0] }],
  ['a simulation that reports invalid balances', { preBalances: [7, '3', -1, 1] }],
])('after %s, the accounts that were read earlier are used', (_what, value) => {
  expect(startStatesOf(value, [wallet, own, other, 'program'], read)).toBe(read)
})

test('an impossible number of tokens is ignored, and the account that was read earlier is used', () => {
  const value = { preBalances: [7, 3, 0, 1], preTokenBalances: [amount(1, '9'.repeat(20))] }
  const began = startStatesOf(value, [wallet, own, other, 'program'], read)
  expect(tokenAccountOf(began.get(own) ?? null)).toMatchObject({ tokens: 5n })
})
