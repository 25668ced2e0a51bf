import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { MintFacts } from '../../src/solana/mint.ts'
import { mintFactsOf } from '../../src/solana/mint.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { type MintShape, mintBytes } from '../chain/mint-bytes.ts'

const { token, token2022 } = PROGRAMS
const factsOf = (data: Uint8Array, owner: string): MintFacts =>
  mintFactsOf({ lamports: 1n, owner, executable: false, data })
const key = Buffer.alloc(32, 9)
const none = Buffer.alloc(32)
/** Fee config: two authorities, what is withheld, the fee until and since an epoch. */
const feeConfig = (authority: Buffer, older: number, newer: number): Buffer => {
  const value = Buffer.concat([authority, none, Buffer.alloc(44)])
  value.writeUInt16LE(older, 88)
  value.writeUInt16LE(newer, 106)
  return value
}

test.each<[string, MintShape, string, MintFacts]>([
  ['as launches leave it', {}, token, { program: 'token', traits: [] }],
  ['more can be made', { mintAuthority: true }, token, { program: 'token', traits: ['mintAuthority'] }],
  [
    'accounts can be frozen, more can be made',
    { freezeAuthority: true, mintAuthority: true },
    token,
    { program: 'token', traits: ['freezeAuthority', 'mintAuthority'] },
  ],
  ['of Token-2022, without extensions', {}, token2022, { program: 'token-2022', traits: [] }],
  [
    'of Token-2022, frozen at will',
    { freezeAuthority: true },
    token2022,
    { program: 'token-2022', traits: ['freezeAuthority'] },
  ],
])('%s', (_what, shape, owner, facts) => {
  expect(factsOf(mintBytes(shape), owner)).toEqual(facts)
})

describe('extensions', () => {
  test.each<[string, [number, Buffer][], MintFacts['traits']]>([
    [
      'metadata and a pointer to it, as pump.fun makes them',
      [
        [18, Buffer.alloc(64, 1)],
        [19, Buffer.alloc(200, 1)],
      ],
      [],
    ],
    [
      'a close authority, interest, groups',
      [
        [3, key],
        [10, Buffer.alloc(52, 1)],
        [20, Buffer.alloc(64, 1)],
      ],
      [],
    ],
    ['a permanent delegate', [[12, key]], ['permanentDelegate']],
    ['a permanent delegate that is nobody', [[12, none]], []],
    ['a hook', [[14, Buffer.concat([none, key])]], ['transferHook']],
    ['a hook that somebody may set later', [[14, Buffer.concat([key, none])]], ['transferHook']],
    ['a hook that is none for ever', [[14, Buffer.concat([none, none])]], []],
    ['a fee', [[1, feeConfig(none, 0, 250)]], ['transferFee']],
    ['a fee that has just ended', [[1, feeConfig(none, 250, 0)]], ['transferFee']],
    ['a fee that somebody may set later', [[1, feeConfig(key, 0, 0)]], ['transferFee']],
    ['a fee of nothing for ever', [[1, feeConfig(none, 0, 0)]], []],
    ['not transferable', [[9, Buffer.alloc(0)]], ['nonTransferable']],
    ['pausable', [[26, Buffer.concat([key, Buffer.of(0)])]], ['pausable']],
    ['paused for ever', [[26, Buffer.concat([none, Buffer.of(1)])]], ['pausable']],
    ['new accounts are frozen', [[6, Buffer.of(2)]], ['defaultAccountState']],
    ['new accounts are not', [[6, Buffer.of(1)]], []],
    ['one of later years', [[77, Buffer.alloc(5)]], ['unknownExtension']],
    [
      'several',
      [
        [12, key],
        [18, Buffer.alloc(64)],
        [9, Buffer.alloc(0)],
      ],
      ['permanentDelegate', 'nonTransferable'],
    ],
    [
      'one behind another',
      [
        [19, Buffer.alloc(300, 5)],
        [12, key],
      ],
      ['permanentDelegate'],
    ],
  ])('%s', (_what, extensions, traits) => {
    expect(factsOf(mintBytes({ extensions }), token2022)).toEqual({ program: 'token-2022', traits })
  })

  test('one that ends beyond the account is not known', () => {
    const data = mintBytes({ extensions: [[12, key]] }).subarray(0, -1)
    expect(factsOf(data, token2022).traits).toEqual(['unknownExtension'])
  })
})

test.each<[string, Uint8Array, string]>([
  ['of another program', mintBytes(), PROGRAMS.system],
  ['a token account', Buffer.alloc(165, 1), token],
  ['a token account with extensions', Buffer.concat([Buffer.alloc(165, 1), Buffer.of(2, 0, 0)]), token2022],
  ['not made yet', Buffer.alloc(82), token],
  ['a multisig', Buffer.alloc(355, 1), token],
  ['with extensions, of the program that has none', mintBytes({ extensions: [] }), token],
  ['nothing', Buffer.alloc(0), token2022],
])('%s: no mint', (_what, data, owner) => {
  expect(factsOf(data, owner)).toEqual({ program: 'none', traits: [] })
})

test('whatever an account holds, nothing throws', () => {
  const behind = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.concat([mintBytes({ extensions: [] }), bytes]))
  fc.assert(
    fc.property(
      fc.oneof(fc.uint8Array({ maxLength: 400 }), behind),
      fc.constantFrom(token, token2022),
      (data, owner) => {
        expect(['token', 'token-2022', 'none']).toContain(factsOf(data, owner).program)
      },
    ),
  )
})
