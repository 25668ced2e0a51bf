import { PROGRAMS } from './programs.ts'
import type { AccountState } from './token-account.ts'

// spl-token state.rs: a mint has 82 bytes. In Token-2022 one with extensions is filled up to the length of a token
// account, then says what it is, then lists them: type, length (both u16), value (spl-token-2022 extension/mod.rs).
const MINT_BYTES = 82
const DECIMALS_AT = 44
const INITIALIZED_AT = 45
const MINT_AUTHORITY_AT = 0
const FREEZE_AUTHORITY_AT = 46
const KIND_AT = 165
const KIND_MINT = 1
const KEY_BYTES = 32

/** Extensions of mints that take nothing from a holder: close authority (of an empty mint), confidential transfers,
 *  interest and scale of what is shown, pointers and metadata, groups. */
const HARMLESS = new Set([3, 4, 10, 16, 18, 19, 20, 21, 22, 23, 24, 25])

/** What the value of an extension means; undefined where it is there and empties itself: nobody may use it, now or
 *  later. */
const READERS: Readonly<Record<number, (value: Uint8Array) => MintTrait | undefined>> = {
  // Who may change the fee; later 18 bytes each for the fee until and since an epoch, percent in hundredths last.
  1: (value) => (isSet(value, 0) || isAny(value, 88, 2) || isAny(value, 106, 2) ? 'transferFee' : undefined),
  6: ([state]) => (state === 2 ? 'defaultAccountState' : undefined),
  9: () => 'nonTransferable',
  12: (value) => (isSet(value, 0) ? 'permanentDelegate' : undefined),
  14: (value) => (isSet(value, 0) || isSet(value, KEY_BYTES) ? 'transferHook' : undefined),
  26: (value) => (isSet(value, 0) || value[KEY_BYTES] === 1 ? 'pausable' : undefined),
}

const NO_MINT: MintFacts = { program: 'none', traits: [] }

/** Reads an account as a mint; whatever cannot be read as one is none. */
export function mintFactsOf(account: AccountState): MintFacts {
  if (!isMint(account)) return NO_MINT
  const { owner, data } = account
  const isOld = owner === PROGRAMS.token
  const authorities: MintTrait[] = [
    ...(data[FREEZE_AUTHORITY_AT] !== 0 ? (['freezeAuthority'] as const) : []),
    ...(data[MINT_AUTHORITY_AT] !== 0 ? (['mintAuthority'] as const) : []),
  ]
  const traits = new Set([...authorities, ...(isLong(data) ? extensionTraits(data) : [])])
  return { program: isOld ? 'token' : 'token-2022', traits: [...traits] }
}

/** How many decimals a mint has; undefined where it is none. */
export function mintDecimalsOf(account: AccountState): number | undefined {
  return isMint(account) ? account.data[DECIMALS_AT] : undefined
}

function isMint({ owner, data }: AccountState): boolean {
  const isOld = owner === PROGRAMS.token
  if (!isOld && owner !== PROGRAMS.token2022) return false
  if (data.length !== MINT_BYTES && (isOld || !isLong(data))) return false
  return data[INITIALIZED_AT] === 1
}

/** It says what it is. */
function isLong(data: Uint8Array): boolean {
  return data.length > KIND_AT && data[KIND_AT] === KIND_MINT
}

function extensionTraits(data: Uint8Array): MintTrait[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const traits: MintTrait[] = []
  for (let at = KIND_AT + 1; at + 4 <= data.length; ) {
    const type = view.getUint16(at, true)
    const length = view.getUint16(at + 2, true)
    if (type === 0) break
    if (at + 4 + length > data.length) return [...traits, 'unknownExtension']
    const read = READERS[type]
    const trait = read === undefined ? unknown(type) : read(data.subarray(at + 4, at + 4 + length))
    if (trait !== undefined) traits.push(trait)
    at += 4 + length
  }
  return traits
}

function unknown(type: number): MintTrait | undefined {
  return HARMLESS.has(type) ? undefined : 'unknownExtension'
}

/** There is a key, and not the one of all zeros that stands for none. */
function isSet(value: Uint8Array, at: number): boolean {
  return isAny(value, at, KEY_BYTES)
}

function isAny(value: Uint8Array, at: number, length: number): boolean {
  return value.subarray(at, at + length).some((byte) => byte !== 0)
}

/** What whoever made a token can still do to those who hold it; each a switch of `tokenChecks`. */
export const MINT_TRAITS = [
  'freezeAuthority',
  'mintAuthority',
  'permanentDelegate',
  'transferHook',
  'transferFee',
  'nonTransferable',
  'pausable',
  'defaultAccountState',
  'unknownExtension',
] as const

export type MintTrait = (typeof MINT_TRAITS)[number]

/** A mint as the chain has it. */
export interface MintFacts {
  /** The token program that it belongs to; `none`: it is no mint of either. */
  readonly program: 'token' | 'token-2022' | 'none'
  readonly traits: readonly MintTrait[]
}
