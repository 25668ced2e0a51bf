import { PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { expect, test } from 'vitest'
import type { SignRequest } from '../../../src/chain/signer/port.ts'
import { type Rules, refusalOf } from '../../../src/chain/signer/rules.ts'
import { address, compile, type Draft, keypair, tableOf } from '../verifier/draft.ts'
import { CO_SIGNER, honest, RENT, seededAccount } from '../verifier/honest.ts'
import * as parts from '../verifier/parts.ts'
import { system } from '../verifier/spoil.ts'
import { boundOf, leastBoundOf, requestOf, rulesOf } from './drafts.ts'

const draft = honest('pump buy', 1)
const { user } = draft.drawn
const rules = rulesOf(user)
const bound = boundOf(draft)

test('the cost limit of a request must cover every lamport of the transaction: buy, transfers, priority fee, base fee', () => {
  const least = leastBoundOf(draft, user)
  expect(refusalOf(requestOf(draft, least), rules)).toBeUndefined()
  expect(refusalOf(requestOf(draft, least - 1n), rules)).toMatch(`the request allows at most ${least - 1n} lamports`)
  expect(least).toBeLessThanOrEqual(bound)
  const dearer = { ...draft, instructions: [...draft.instructions, parts.transfer(user, new PublicKey(9), 7)] }
  expect(leastBoundOf(dearer, user)).toBe(least + 7n)
})

test.each<[string, Partial<SignRequest>, Partial<Rules>, RegExp]>([
  ['a transaction of another wallet', {}, { wallet: PublicKey.default.toBase58() }, /the fee payer is/],
  ['a request under another policy', { policyHash: 'another' }, {}, /a policy other than/],
  ['a program that the signer was not started with', {}, { programs: new Set() }, /not among the programs/],
  ['a request that claims guards which the message lacks', { guarded: true }, {}, /ends with guards/],
  ['an empty message', { message: new Uint8Array() }, {}, /not a transaction/],
  ['a whole transaction in place of a message', { message: compile(draft).bytes }, {}, /not a transaction|version|fee/],
])('the signer refuses %s', (_name, request, changed, because) => {
  expect(refusalOf({ ...requestOf(draft, bound), ...request }, { ...rules, ...changed })).toMatch(because)
})

test('a signer that was started without programs and without a policy accepts any program and any policy hash', () => {
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
  ['a message that ends with the guard of the balance floor', [floor], true],
  ['a message that ends with the balance floor and the token guard', [floor, tokens], true],
  ['a message that ends with the token guard and the balance floor', [tokens, floor], true],
  [
    'a message with the two guards, followed by instructions that revoke rights',
    [floor, tokens, revoke, nobodyCloses],
    true,
  ],
  [
    'a message that ends with both guards and then instructions that revoke rights',
    [floor, tokens, revoke, nobodyCloses],
    true,
  ],
  [
    'a message that ends with both guards and then an instruction that grants a right',
    [floor, tokens, parts.instruction(parts.TOKEN, [6, 3, 1, ...user.toBytes()], [own, parts.signer(user)])],
    false,
  ],
  ['a message with only the token guard', [tokens], false],
  [
    'a message with another instruction after the balance floor',
    [floor, parts.syncNative(parts.ata(user, parts.WSOL))],
    false,
  ],
])('the signer accepts or refuses the guards of %s', (_name, guards, isGuarded) => {
  const guarded = { ...draft, instructions: [...draft.instructions, ...guards] }
  const refusal = refusalOf({ ...requestOf(guarded, bound), guarded: true }, rules)
  expect(refusal === undefined).toBe(isGuarded)
})

test('the signer finds a payment and the closing of an account even if the receiver is in a lookup table', () => {
  const thief = new PublicKey(8)
  const paid = { ...draft, version: 0 as const, tables: [tableOf('x', [thief])] }
  const hidden = { ...paid, instructions: [...draft.instructions, parts.transfer(user, thief, 10n ** 12n)] }
  expect(refusalOf(requestOf(hidden, bound), rules)).toMatch('would leave')
  // The signer cannot read lookup tables. An account of wrapped SOL in a lookup table therefore counts as a foreign
  // account.
  const wrapping = { ...paid, tables: [tableOf('y', [parts.ata(user, parts.WSOL)])] }
  const wrapped = {
    ...wrapping,
    instructions: [...draft.instructions, parts.transfer(user, parts.ata(user, parts.WSOL), bound)],
  }
  expect(refusalOf(requestOf(wrapped, bound), rules)).toMatch('would leave')
  // The rent goes to an account in a lookup table, which cannot be a signer.
  const closing = parts.closeAccount(parts.ata(user, draft.drawn.mint), thief, user)
  expect(refusalOf(requestOf({ ...paid, instructions: [...draft.instructions, closing] }, bound), rules)).toMatch(
    'closed',
  )
})

test('an order contains exactly one trade', () => {
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
  ['a message that closes one account is signed', [closing()], undefined],
  [
    'a message that closes an account of each token program is signed',
    [closing(), parts.closeAccount(own, user, user, parts.TOKEN_2022)],
    undefined,
  ],
  [
    'a message that closes an account and sets a compute budget is signed',
    [...parts.budget(20_000, 0), closing()],
    undefined,
  ],
  [
    'a message that closes an account and pays the rent to a stranger is refused',
    [closing(stranger)],
    /closed by the wallet/,
  ],
  [
    'a message that closes two accounts and pays one rent to a stranger is refused',
    [closing(), closing(stranger)],
    /closed by the wallet/,
  ],
  [
    'a message that closes an account and transfers SOL is refused',
    [closing(), parts.transfer(user, user, 1)],
    /0 trades/,
  ],
  ['a message that closes an account and has another token instruction is refused', [closing(), revoke], /0 trades/],
  [
    'a message whose closing instruction has too many bytes is refused',
    [parts.instruction(parts.TOKEN, [9, 0], [own, user, parts.signer(user)])],
    /0 trades/,
  ],
  ['a message that only sets a compute budget is refused', parts.budget(20_000, 0), /0 trades/],
  [
    'a message that closes an account for a fee above the cost limit is refused',
    [...parts.budget(200_000, 1_000_000), closing()],
    /would leave the wallet/,
  ],
])('%s', (_name, instructions, because) => {
  const refusal = refusalOf(requestOf({ ...draft, instructions }, 5_000n), rules)
  if (because === undefined) expect(refusal).toBeUndefined()
  else expect(refusal).toMatch(because)
})

// Each case concerns one rule. The request allows any cost.
const plenty = 10n ** 12n
const thief = new PublicKey(7)
const co = CO_SIGNER.publicKey
const wsol = parts.ata(user, parts.WSOL)
const other = (index: number) => keypair(`signer ${index}`).publicKey
const takes = (account: PublicKey) => parts.instruction(parts.TOKEN, [18, ...user.toBytes()], [account, parts.WSOL])

/** Returns instructions that open an account by a seed and initialize it for the wallet. */
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
  [
    'a seeded account with another base key',
    seeded({ basePubkey: co, newAccountPubkey: seededAccount(co, 'x') }),
    /not for wrapped SOL/,
  ],
  ['a seeded account whose rent another key pays', seeded({ fromPubkey: co }), /not for wrapped SOL/],
  [
    'a seeded account of another program',
    seeded({ programId: parts.TOKEN_2022, newAccountPubkey: seededAccount(user, 'x', parts.TOKEN_2022) }),
    /not for wrapped SOL/,
  ],
  ['a seeded account of another size', seeded({ space: 200 }), /not for wrapped SOL/],
  ['a seeded account at another address', seeded({ newAccountPubkey: thief }), /not for wrapped SOL/],
  ['two seeded accounts', [...seeded(), ...seeded({}, 'y')], /not for wrapped SOL/],
  ['a seeded account that is initialized twice', [...seeded(), takes(seededAccount(user, 'x'))], /not new/],
  ['four signers', [1, 2, 3].map((index) => parts.transfer(other(index), user, 1)), undefined],
  ['five signers', [1, 2, 3, 4].map((index) => parts.transfer(other(index), user, 1)), /5 signers, but at most 4/],
  [
    'a transfer of SOL with bytes after its amount',
    [system(2, Uint8Array.of(...parts.u64(5), 0), [parts.signer(user), thief])],
    /unexpected accounts or data/,
  ],
  [
    'a transfer of SOL with a third account',
    [system(2, parts.u64(5), [parts.signer(user), thief, co])],
    /unexpected accounts or data/,
  ],
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
    'a RecoverNested instruction of the wallet',
    [parts.instruction(parts.ASSOCIATED, [2], [parts.signer(user), own, user, thief, thief, parts.TOKEN])],
    /does not open an account of the wallet/,
  ],
  ['a CloseAccount instruction with another authority', [parts.closeAccount(own, user, co)], /closed by the wallet/],
  ['a CloseAccount instruction of the wallet', [parts.closeAccount(wsol, user, user)], undefined],
  [
    'a token transfer from an account to itself that its authority does not sign',
    [parts.instruction(parts.TOKEN, [3, ...parts.u64(1)], [own, own, thief])],
    /leave/,
  ],
  ['instructions that revoke rights', [revoke, nobodyCloses], undefined],
  ['a right that another key revokes', [parts.instruction(parts.TOKEN, [5], [own, parts.signer(co)])], /number 5/],
  [
    'an instruction that removes the owner of an account',
    [parts.instruction(parts.TOKEN, [6, 2, 0], [own, parts.signer(user)])],
    /number 6/,
  ],
  [
    'an instruction that makes a thief the close authority',
    [parts.instruction(parts.TOKEN, [6, 3, 1, ...thief.toBytes()], [own, parts.signer(user)])],
    /number 6/,
  ],
])('the signer accepts or refuses %s', (_name, added, because) => {
  const message = { ...draft, instructions: [...draft.instructions, ...added] }
  const refusal = refusalOf(requestOf(message, plenty), rules)
  if (because === undefined) expect(refusal).toBeUndefined()
  else expect(refusal).toMatch(because)
})

test.each<[string, TransactionInstruction[], bigint]>([
  ['SOL that goes to a stranger', [parts.transfer(user, thief, 7)], 7n],
  ['SOL that goes from the wallet to itself', [parts.transfer(user, user, plenty)], 0n],
  ['SOL that is wrapped and not traded', [parts.transfer(user, wsol, 7)], 7n],
  ['a transfer of SOL by a co-signer (by the base fee of its signature)', [parts.transfer(co, thief, 7)], 5_000n],
  ['a seeded account with its rent (by 0, because the request includes the rent)', seeded(), 0n],
  ['a seeded account with more lamports than its rent', seeded({ lamports: Number(RENT) + 7 }), 7n],
  ['SOL that is put into a seeded account later', [...seeded(), parts.transfer(user, seededAccount(user, 'x'), 7)], 7n],
])('the lowest possible cost limit of a request grows as expected with %s', (_name, added, more) => {
  // The compute price is removed, because with it each added instruction would raise the priority fee.
  const plain = { ...draft, instructions: draft.instructions.slice(2) }
  const message = { ...plain, instructions: [...plain.instructions, ...added] }
  expect(leastBoundOf(message, user) - leastBoundOf(plain, user)).toBe(more)
})

test('wrapped SOL that a trade takes is counted once, whether this message or an earlier one wrapped it', () => {
  const { mint } = draft.drawn
  const swap = parts.pumpSwap('buy', { user, mint, one: 1n, two: 1_000_000n })
  const least = (...wrapping: TransactionInstruction[]) =>
    leastBoundOf({ ...draft, instructions: [...wrapping, swap] }, user)
  expect(least()).toBe(1_005_000n)
  expect(least(parts.transfer(user, wsol, 1_000_000))).toBe(1_005_000n)
  expect(least(parts.transfer(user, wsol, 1_000_007))).toBe(1_005_007n)
})
