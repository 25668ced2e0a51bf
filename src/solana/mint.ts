import { PROGRAMS } from './programs.ts'
import { type AccountState, MINT_BYTES, TOKEN_ACCOUNT_BYTES } from './token-account.ts'

// Layout of a mint account. A mint has 82 bytes (spl-token state.rs). A Token-2022 mint with extensions is padded to
// the length of a token account; one byte for the kind of account follows, and then the extensions, each with a u16
// type, a u16 length and a value (spl-token-2022 extension/mod.rs).
export const DECIMALS_AT = 44
const INITIALIZED_AT = 45
const MINT_AUTHORITY_AT = 0
const FREEZE_AUTHORITY_AT = 46
const KIND_AT = TOKEN_ACCOUNT_BYTES
const KIND_MINT = 1
const KEY_BYTES = 32

/** Types of the extensions that cannot harm a holder: the authority to close an empty mint, confidential transfers,
 *  interest and UI amounts, pointers, metadata, groups. */
const HARMLESS = new Set([3, 4, 10, 16, 18, 19, 20, 21, 22, 23, 24, 25])

/** Readers of extensions, by type. Each reader returns the trait that the extension gives to the mint. It returns
 *  undefined if the extension has no effect and no authority can change this. */
const READERS: Readonly<Record<number, (value: Uint8Array) => MintTrait | undefined>> = {
  // The value contains two authorities, the withheld amount, and then the older and the newer fee of 18 bytes each. The
  // basis points are at the end of each fee.
  1: (value) => (isSet(value, 0) || isAny(value, 88, 2) || isAny(value, 106, 2) ? 'transferFee' : undefined),
  6: ([state]) => (state === 2 ? 'defaultAccountState' : undefined),
  9: () => 'nonTransferable',
  12: (value) => (isSet(value, 0) ? 'permanentDelegate' : undefined),
  14: (value) => (isSet(value, 0) || isSet(value, KEY_BYTES) ? 'transferHook' : undefined),
  26: (value) => (isSet(value, 0) || value[KEY_BYTES] === 1 ? 'pausable' : undefined),
}

const NO_MINT: MintFacts = { program: 'none', traits: [] }

/** Reads the facts about a mint from its account; `program` is `none` if the account is not a mint. */
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

/** Decimals of a mint; undefined if the account is not a mint. */
export function mintDecimalsOf(account: AccountState): number | undefined {
  return isMint(account) ? account.data[DECIMALS_AT] : undefined
}

function isMint({ owner, data }: AccountState): boolean {
  const isOld = owner === PROGRAMS.token
  if (!isOld && owner !== PROGRAMS.token2022) return false
  if (data.length !== MINT_BYTES && (isOld || !isLong(data))) return false
  return data[INITIALIZED_AT] === 1
}

/** Whether the account is longer than a token account and its kind byte identifies a mint. */
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

/** Whether an authority is set. All zeros mean that there is none. */
function isSet(value: Uint8Array, at: number): boolean {
  return isAny(value, at, KEY_BYTES)
}

function isAny(value: Uint8Array, at: number, length: number): boolean {
  return value.subarray(at, at + length).some((byte) => byte !== 0)
}

/** Traits of a mint that can harm its holders. Each has a key in `tokenChecks`. */
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

/** Facts about a mint, read from its account. */
export interface MintFacts {
  /** Token program of the mint; `none` if the account is not a mint. */
  readonly program: 'token' | 'token-2022' | 'none'
  readonly traits: readonly MintTrait[]
}
