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
/** Returns the fee extension: two authorities, the withheld amount, the older and the newer fee. */
const feeConfig = (authority: Buffer, older: number, newer: number): Buffer => {
  const value = Buffer.concat([authority, none, Buffer.alloc(44)])
  value.writeUInt16LE(older, 88)
  value.writeUInt16LE(newer, 106)
  return value
}

test.each<[string, MintShape, string, MintFacts]>([
  ['a mint without authorities', {}, token, { program: 'token', traits: [] }],
  ['a mint with a mint authority', { mintAuthority: true }, token, { program: 'token', traits: ['mintAuthority'] }],
  [
    'a mint with a freeze and a mint authority',
    { freezeAuthority: true, mintAuthority: true },
    token,
    { program: 'token', traits: ['freezeAuthority', 'mintAuthority'] },
  ],
  ['a Token-2022 mint without extensions', {}, token2022, { program: 'token-2022', traits: [] }],
  [
    'a Token-2022 mint with a freeze authority',
    { freezeAuthority: true },
    token2022,
    { program: 'token-2022', traits: ['freezeAuthority'] },
  ],
])('%s is read with its traits', (_what, shape, owner, facts) => {
  expect(factsOf(mintBytes(shape), owner)).toEqual(facts)
})

describe('extensions', () => {
  test.each<[string, [number, Buffer][], MintFacts['traits']]>([
    [
      'metadata and a pointer to it, as pump.fun writes them, are no trait of a mint',
      [
        [18, Buffer.alloc(64, 1)],
        [19, Buffer.alloc(200, 1)],
      ],
      [],
    ],
    [
      'a close authority, interest and groups are no traits of a mint',
      [
        [3, key],
        [10, Buffer.alloc(52, 1)],
        [20, Buffer.alloc(64, 1)],
      ],
      [],
    ],
    ['a permanent delegate is a trait of a mint', [[12, key]], ['permanentDelegate']],
    ['a permanent delegate that is not set is not among the traits (risks) of a mint', [[12, none]], []],
    ['a transfer hook is a trait of a mint', [[14, Buffer.concat([none, key])]], ['transferHook']],
    [
      'a transfer hook that its authority may set later is a trait of a mint',
      [[14, Buffer.concat([key, none])]],
      ['transferHook'],
    ],
    [
      'a transfer hook that can never be set is not among the traits (risks) of a mint',
      [[14, Buffer.concat([none, none])]],
      [],
    ],
    ['a transfer fee is a trait of a mint', [[1, feeConfig(none, 0, 250)]], ['transferFee']],
    ['a transfer fee that has just ended is still a trait of a mint', [[1, feeConfig(none, 250, 0)]], ['transferFee']],
    [
      'a transfer fee that its authority may set later is a trait of a mint',
      [[1, feeConfig(key, 0, 0)]],
      ['transferFee'],
    ],
    [
      'a transfer fee of zero that cannot change is not among the traits (risks) of a mint',
      [[1, feeConfig(none, 0, 0)]],
      [],
    ],
    ['the non-transferable extension is a trait of a mint', [[9, Buffer.alloc(0)]], ['nonTransferable']],
    ['a pause authority is a trait of a mint', [[26, Buffer.concat([key, Buffer.of(0)])]], ['pausable']],
    ['a permanent pause is a trait of a mint', [[26, Buffer.concat([none, Buffer.of(1)])]], ['pausable']],
    ['the default state "frozen" of new accounts is a trait of a mint', [[6, Buffer.of(2)]], ['defaultAccountState']],
    [
      'the default state "initialized" of new accounts is not among the traits (risks) of a mint',
      [[6, Buffer.of(1)]],
      [],
    ],
    ['an unknown extension is a trait of a mint', [[77, Buffer.alloc(5)]], ['unknownExtension']],
    [
      'several extensions can be several traits of a mint',
      [
        [12, key],
        [18, Buffer.alloc(64)],
        [9, Buffer.alloc(0)],
      ],
      ['permanentDelegate', 'nonTransferable'],
    ],
    [
      'an extension that follows a harmless one is read as well',
      [
        [19, Buffer.alloc(300, 5)],
        [12, key],
      ],
      ['permanentDelegate'],
    ],
  ])('%s', (_what, extensions, traits) => {
    expect(factsOf(mintBytes({ extensions }), token2022)).toEqual({ program: 'token-2022', traits })
  })

  test('an extension that ends beyond the account is unknown', () => {
    const data = mintBytes({ extensions: [[12, key]] }).subarray(0, -1)
    expect(factsOf(data, token2022).traits).toEqual(['unknownExtension'])
  })
})

test.each<[string, Uint8Array, string]>([
  ['an account of another program', mintBytes(), PROGRAMS.system],
  ['a token account', Buffer.alloc(165, 1), token],
  ['a token account with extensions', Buffer.concat([Buffer.alloc(165, 1), Buffer.of(2, 0, 0)]), token2022],
  ['an uninitialized mint', Buffer.alloc(82), token],
  ['a multisig', Buffer.alloc(355, 1), token],
  ['a mint with extensions that the Token program owns', mintBytes({ extensions: [] }), token],
  ['an empty account', Buffer.alloc(0), token2022],
])('%s is not a mint', (_what, data, owner) => {
  expect(factsOf(data, owner)).toEqual({ program: 'none', traits: [] })
})

test('the reader of mints never throws, with any content of the account', () => {
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
