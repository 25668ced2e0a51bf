import { PublicKey, SystemProgram } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { type Rules, refusalOf } from '../../../src/chain/signer/rules.ts'
import { PRESETS } from '../../../src/core/builder-policy.ts'
import type { SignRequest } from '../../../src/core/ports.ts'
import { compile, type Draft, tableOf, verifyDraft } from '../verifier/draft.ts'
import { honest, SHAPES } from '../verifier/honest.ts'
import { FAMILIES, spoiled } from '../verifier/hostile.ts'
import * as parts from '../verifier/parts.ts'

const EACH = Number(process.env.SLUICE_MUTANTS ?? 4)

/** What of a transaction is signed. */
const messageOf = (bytes: Uint8Array) => bytes.subarray(1 + 64 * (bytes[0] as number))

const rulesOf = (wallet: PublicKey): Rules => ({
  wallet: wallet.toBase58(),
  programs: new Set([PRESETS.pump.id, PRESETS['pump-swap'].id]),
  policyHash: 'the policy',
})

function requestOf(draft: Draft, boundLamports: bigint): SignRequest {
  const names = { orderId: 'order 1', attemptId: 'attempt 1', policyHash: 'the policy' }
  return { ...names, guarded: false, boundLamports, message: messageOf(compile(draft).bytes) }
}

const boundOf = (draft: Draft) => verifyDraft(draft).verdict?.bound as bigint

test.each(Object.keys(SHAPES))('what the verifier lets pass at its bound is signed: %s', (shape) => {
  for (let seed = 0; seed < 2 * EACH; seed++) {
    const draft = honest(shape, seed)
    expect(refusalOf(requestOf(draft, boundOf(draft)), rulesOf(draft.drawn.user)), `seed ${seed}`).toBeUndefined()
  }
})

/** The least bound that it is signed at. */
function leastBoundOf(draft: Draft, user: PublicKey): bigint {
  const said = /^(\d+) lamports would leave/.exec(refusalOf(requestOf(draft, 0n), rulesOf(user)) ?? '')
  return BigInt(said?.[1] as string)
}

/** What an order is for, and what the policy says, is known to the verifier only. */
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

test('what is beyond the signer is named by families that there are', () => {
  expect(Object.keys(FAMILIES)).toEqual(expect.arrayContaining(BEYOND_THE_SIGNER))
})

test.each(Object.keys(FAMILIES).filter((name) => !BEYOND_THE_SIGNER.includes(name)))(
  'refused by the signer alone, where the bound leaves no lamport to spare: %s',
  (name) => {
    for (let seed = 0; seed < EACH; seed++) {
      const draft = spoiled(name, seed)
      const order = honest(draft.name, seed)
      const request = requestOf(draft, leastBoundOf(order, order.drawn.user))
      expect(refusalOf(request, rulesOf(order.drawn.user)), `seed ${seed}`).toBeDefined()
    }
  },
)

const draft = honest('pump buy', 1)
const { user } = draft.drawn
const rules = rulesOf(user)
const bound = boundOf(draft)

test('the bound counts every lamport that can be read: buy, transfers, priority fee, base fee', () => {
  const least = leastBoundOf(draft, user)
  expect(refusalOf(requestOf(draft, least), rules)).toBeUndefined()
  expect(refusalOf(requestOf(draft, least - 1n), rules)).toMatch(`bound to ${least - 1n}`)
  expect(least).toBeLessThanOrEqual(bound)
  const dearer = { ...draft, instructions: [...draft.instructions, parts.transfer(user, new PublicKey(9), 7)] }
  expect(leastBoundOf(dearer, user)).toBe(least + 7n)
})

test.each<[string, Partial<SignRequest>, Partial<Rules>, RegExp]>([
  ['another wallet', {}, { wallet: PublicKey.default.toBase58() }, /the fee is paid by/],
  ['another policy', { policyHash: 'another' }, {}, /another policy/],
  ['a program that it was not started for', {}, { programs: new Set() }, /not started for/],
  ['guards that are not there', { guarded: true }, {}, /no guard/],
  ['nothing', { message: new Uint8Array() }, {}, /no transaction/],
  ['a whole transaction in place of a message', { message: compile(draft).bytes }, {}, /no transaction|version|fee/],
])('refused: %s', (_name, request, changed, because) => {
  expect(refusalOf({ ...requestOf(draft, bound), ...request }, { ...rules, ...changed })).toMatch(because)
})

test('without a list of programs any may be called, and without a policy any may be named', () => {
  const anything = { ...rules, programs: null, policyHash: null }
  expect(refusalOf({ ...requestOf(draft, bound), policyHash: '' }, anything)).toBeUndefined()
})

const floor = parts.transfer(user, user, 1_000)
const tokens = parts.instruction(
  parts.TOKEN,
  [12, ...parts.u64(5), 6],
  [...[parts.ata(user, draft.drawn.mint), draft.drawn.mint, parts.ata(user, draft.drawn.mint), parts.signer(user)]],
)

const own = parts.ata(user, draft.drawn.mint)
const revoke = parts.instruction(parts.TOKEN, [5], [own, parts.signer(user)])
const nobodyCloses = parts.instruction(parts.TOKEN, [6, 3, 0], [own, parts.signer(user)])

test.each<[string, Draft['instructions'], boolean]>([
  ['the floor at the end', [floor], true],
  ['the floor, then the tokens', [floor, tokens], true],
  ['the tokens, then the floor', [tokens, floor], true],
  ['the floor, the tokens, and rights taken back', [floor, tokens, revoke, nobodyCloses], true],
  [
    'a right that is given',
    [floor, tokens, parts.instruction(parts.TOKEN, [6, 3, 1, ...user.toBytes()], [own, parts.signer(user)])],
    false,
  ],
  ['only the tokens', [tokens], false],
  ['the floor, and something behind it', [floor, parts.syncNative(parts.ata(user, parts.WSOL))], false],
])('guards: %s', (_name, guards, isGuarded) => {
  const guarded = { ...draft, instructions: [...draft.instructions, ...guards] }
  const refusal = refusalOf({ ...requestOf(guarded, bound), guarded: true }, rules)
  expect(refusal === undefined).toBe(isGuarded)
})

test('nothing hides in a lookup table', () => {
  const thief = new PublicKey(8)
  const paid = { ...draft, version: 0 as const, tables: [tableOf('x', [thief])] }
  const hidden = { ...paid, instructions: [...draft.instructions, parts.transfer(user, thief, 10n ** 12n)] }
  expect(refusalOf(requestOf(hidden, bound), rules)).toMatch('would leave')
  // From the table, the wallet's own account of wrapped SOL is a stranger's.
  const wrapping = { ...paid, tables: [tableOf('y', [parts.ata(user, parts.WSOL)])] }
  const wrapped = {
    ...wrapping,
    instructions: [...draft.instructions, parts.transfer(user, parts.ata(user, parts.WSOL), bound)],
  }
  expect(refusalOf(requestOf(wrapped, bound), rules)).toMatch('would leave')
  // Whoever is paid the rent from there is nobody who signs.
  const closing = parts.closeAccount(parts.ata(user, draft.drawn.mint), thief, user)
  expect(refusalOf(requestOf({ ...paid, instructions: [...draft.instructions, closing] }, bound), rules)).toMatch(
    'closed',
  )
})

test('an order is one trade', () => {
  const nothing = {
    ...draft,
    instructions: [SystemProgram.transfer({ fromPubkey: user, toPubkey: user, lamports: 1 })],
  }
  expect(refusalOf(requestOf(nothing, bound), rules)).toMatch('0 trades')
  const twice = {
    ...draft,
    instructions: [...draft.instructions, draft.instructions[3] as (typeof draft.instructions)[0]],
  }
  expect(refusalOf(requestOf(twice, 3n * bound), rules)).toMatch('2 trades')
})
