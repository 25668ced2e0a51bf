import { PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { type Rules, refusalOf } from '../../../src/chain/signer/rules.ts'
import type { SignRequest } from '../../../src/chain/signer/signer.ts'
import { address, compile, type Draft, keypair, tableOf } from '../verifier/draft.ts'
import { CO_SIGNER, honest, RENT, seededAccount } from '../verifier/honest.ts'
import * as parts from '../verifier/parts.ts'
import { system } from '../verifier/spoil.ts'
import { boundOf, leastBoundOf, requestOf, rulesOf } from './drafts.ts'

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

const closing = (to = user, authority = user): TransactionInstruction =>
  parts.closeAccount(parts.ata(user, draft.drawn.mint), to, authority)
const stranger = new PublicKey(6)

test.each<[string, Draft['instructions'], RegExp | undefined]>([
  ['one account', [closing()], undefined],
  ['two, of both token programs', [closing(), parts.closeAccount(own, user, user, parts.TOKEN_2022)], undefined],
  ['with a compute budget', [...parts.budget(20_000, 0), closing()], undefined],
  ['to somebody else', [closing(stranger)], /not to the wallet/],
  ['one to the wallet, one to somebody else', [closing(), closing(stranger)], /not to the wallet/],
  ['and a transfer', [closing(), parts.transfer(user, user, 1)], /0 trades/],
  ['and another token instruction', [closing(), revoke], /0 trades/],
  ['with bytes behind it', [parts.instruction(parts.TOKEN, [9, 0], [own, user, parts.signer(user)])], /0 trades/],
  ['nothing but a compute budget', parts.budget(20_000, 0), /0 trades/],
  ['a fee beyond the bound', [...parts.budget(200_000, 1_000_000), closing()], /would leave the wallet/],
])('rent given back, %s', (_name, instructions, because) => {
  const refusal = refusalOf(requestOf({ ...draft, instructions }, 5_000n), rules)
  if (because === undefined) expect(refusal).toBeUndefined()
  else expect(refusal).toMatch(because)
})

// One rule at a time, at a bound that would let everything pass.
const plenty = 10n ** 12n
const thief = new PublicKey(7)
const co = CO_SIGNER.publicKey
const wsol = parts.ata(user, parts.WSOL)
const other = (index: number) => keypair(`signer ${index}`).publicKey
const takes = (account: PublicKey) => parts.instruction(parts.TOKEN, [18, ...user.toBytes()], [account, parts.WSOL])

/** An account opened by a seed, and made the wallet's. */
function seeded(changed: Partial<Parameters<typeof SystemProgram.createAccountWithSeed>[0]> = {}, seed = 'x') {
  const how = {
    ...{ fromPubkey: user, basePubkey: user, seed, space: 165, programId: parts.TOKEN, lamports: Number(RENT) },
    newAccountPubkey: seededAccount(user, seed),
    ...changed,
  }
  return [SystemProgram.createAccountWithSeed(how), takes(how.newAccountPubkey)]
}

test.each<[string, TransactionInstruction[], RegExp | undefined]>([
  ['a seeded account of the wallet', seeded(), undefined],
  ['one of another base', seeded({ basePubkey: co, newAccountPubkey: seededAccount(co, 'x') }), /none for wrapped SOL/],
  ['one that another pays', seeded({ fromPubkey: co }), /none for wrapped SOL/],
  [
    'one of another program',
    seeded({ programId: parts.TOKEN_2022, newAccountPubkey: seededAccount(user, 'x', parts.TOKEN_2022) }),
    /none for wrapped SOL/,
  ],
  ['one of another size', seeded({ space: 200 }), /none for wrapped SOL/],
  ['one at another address', seeded({ newAccountPubkey: thief }), /none for wrapped SOL/],
  ['two of them', [...seeded(), ...seeded({}, 'y')], /none for wrapped SOL/],
  ["one that is made the wallet's twice", [...seeded(), takes(seededAccount(user, 'x'))], /not new/],
  ['four signers', [1, 2, 3].map((index) => parts.transfer(other(index), user, 1)), undefined],
  ['five signers', [1, 2, 3, 4].map((index) => parts.transfer(other(index), user, 1)), /5 sign it, and at most 4/],
  [
    'a transfer with bytes behind it',
    [system(2, Uint8Array.of(...parts.u64(5), 0), [parts.signer(user), thief])],
    /another shape/,
  ],
  ['a transfer with a third account', [system(2, parts.u64(5), [parts.signer(user), thief, co])], /another shape/],
  [
    'three token accounts',
    [1, 2, 3].map((index) => parts.openAta(user, user, address(`${index}`))).slice(1),
    undefined,
  ],
  [
    'four token accounts',
    [1, 2, 3].map((index) => parts.openAta(user, user, address(`${index}`))),
    /than a trade needs/,
  ],
  [
    'RecoverNested of the wallet',
    [parts.instruction(parts.ASSOCIATED, [2], [parts.signer(user), own, user, thief, thief, parts.TOKEN])],
    /opens no account of the wallet/,
  ],
  ['a closing that another decides', [parts.closeAccount(own, user, co)], /and not to the wallet/],
  ['a closing by the wallet', [parts.closeAccount(wsol, user, user)], undefined],
  [
    'a transfer to itself that nobody signs',
    [parts.instruction(parts.TOKEN, [3, ...parts.u64(1)], [own, own, thief])],
    /leave/,
  ],
  ['a right taken back', [revoke, nobodyCloses], undefined],
  ['a right that another takes back', [parts.instruction(parts.TOKEN, [5], [own, parts.signer(co)])], /number 5/],
  ['an owner who is nobody', [parts.instruction(parts.TOKEN, [6, 2, 0], [own, parts.signer(user)])], /number 6/],
  [
    'a thief who may close',
    [parts.instruction(parts.TOKEN, [6, 3, 1, ...thief.toBytes()], [own, parts.signer(user)])],
    /number 6/,
  ],
])('by one rule alone: %s', (_name, added, because) => {
  const message = { ...draft, instructions: [...draft.instructions, ...added] }
  const refusal = refusalOf(requestOf(message, plenty), rules)
  if (because === undefined) expect(refusal).toBeUndefined()
  else expect(refusal).toMatch(because)
})

test.each<[string, TransactionInstruction[], bigint]>([
  ['SOL to a stranger', [parts.transfer(user, thief, 7)], 7n],
  ['SOL from the wallet to itself', [parts.transfer(user, user, plenty)], 0n],
  ['SOL that is wrapped and not traded', [parts.transfer(user, wsol, 7)], 7n],
  ['SOL of a co-signer, and his base fee', [parts.transfer(co, thief, 7)], 5_000n],
  ['a seeded account with its rent', seeded(), 0n],
  ['a seeded account with more', seeded({ lamports: Number(RENT) + 7 }), 7n],
  ['SOL put into it later', [...seeded(), parts.transfer(user, seededAccount(user, 'x'), 7)], 7n],
])('what counts as leaving: %s', (_name, added, more) => {
  // A price of its own would count each instruction.
  const plain = { ...draft, instructions: draft.instructions.slice(2) }
  const message = { ...plain, instructions: [...plain.instructions, ...added] }
  expect(leastBoundOf(message, user) - leastBoundOf(plain, user)).toBe(more)
})

test('wrapped SOL that a trade takes is counted once, whether it is wrapped now or was before', () => {
  const { mint } = draft.drawn
  const swap = parts.pumpSwap('buy', { user, mint, one: 1n, two: 1_000_000n })
  const least = (...wrapping: TransactionInstruction[]) =>
    leastBoundOf({ ...draft, instructions: [...wrapping, swap] }, user)
  expect(least()).toBe(1_005_000n)
  expect(least(parts.transfer(user, wsol, 1_000_000))).toBe(1_005_000n)
  expect(least(parts.transfer(user, wsol, 1_000_007))).toBe(1_005_007n)
})
