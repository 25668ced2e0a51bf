import { decodeBase58, encodeBase58 } from './base58.ts'
import { TOKEN_DECIMALS, TOKEN_SUPPLY } from './constants.ts'
import { PROGRAMS } from './programs.ts'

/** Lengths, in bytes, of a token account and of a mint (spl-token state.rs). */
export const TOKEN_ACCOUNT_BYTES = 165
export const MINT_BYTES = 82
/** Value of the kind byte of a Token-2022 token account. The byte follows the bytes that both token programs share. */
const TOKEN_2022_ACCOUNT = 2
/** An associated token account of Token-2022 is longer by this many bytes: the kind byte and the ImmutableOwner
 *  extension. */
const TOKEN_2022_MORE_BYTES = 5

/** Returns the length of an associated token account in bytes. `program`: the token program of the account. */
export function tokenAccountBytes(program: string): number {
  return TOKEN_ACCOUNT_BYTES + (program === PROGRAMS.token2022 ? TOKEN_2022_MORE_BYTES : 0)
}

export function encodeTokenAccount({ mint, owner, amount }: TokenState): Uint8Array {
  const data = Buffer.alloc(TOKEN_ACCOUNT_BYTES)
  data.set(decodeBase58(mint, 32)!, 0)
  data.set(decodeBase58(owner, 32)!, 32)
  data.writeBigUInt64LE(amount, 64)
  data[108] = 1 // initialized; no delegate, not native, no close authority
  return data
}

/** Reads a token account from its bytes; returns undefined if they are not a token account. */
export function decodeTokenAccount(data: Uint8Array): TokenState | undefined {
  const isToken = data.length === TOKEN_ACCOUNT_BYTES || data[TOKEN_ACCOUNT_BYTES] === TOKEN_2022_ACCOUNT
  if (!isToken) return undefined
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  return {
    mint: encodeBase58(data.subarray(0, 32)),
    owner: encodeBase58(data.subarray(32, 64)),
    amount: view.getBigUint64(64, true),
  }
}

/** Encodes the account of a mint as pump.fun creates it: the whole supply is minted, and there is neither a mint
 *  authority nor a freeze authority. */
export function encodeMint(): Uint8Array {
  const data = Buffer.alloc(MINT_BYTES)
  data.writeBigUInt64LE(TOKEN_SUPPLY, 36)
  data[44] = TOKEN_DECIMALS
  data[45] = 1
  return data
}

/** Content of a token account. `amount` is in base units. */
export interface TokenState {
  mint: string
  owner: string
  amount: bigint
}

/** State of an account, as a node reports it. */
export interface AccountState {
  readonly lamports: bigint
  /** Address of the program that owns the account. */
  readonly owner: string
  /** Whether the account is a program. */
  readonly executable: boolean
  readonly data: Uint8Array
}

/** Balance and rights of a token account. Its first 165 bytes are the same in Token and Token-2022 (spl-token
 *  state.rs). */
export interface TokenAccount {
  readonly mint: string
  readonly owner: string
  readonly tokens: bigint
  /** Delegate, state, delegated amount and close authority in hex, for comparison. */
  readonly rights: string
}

export function tokenAccountOf(account: AccountState | null): TokenAccount | undefined {
  const isToken = account?.owner === PROGRAMS.token || account?.owner === PROGRAMS.token2022
  if (!account || !isToken || account.data.length < TOKEN_ACCOUNT_BYTES) return undefined
  const { data } = account
  return {
    mint: encodeBase58(data.subarray(0, 32)),
    owner: encodeBase58(data.subarray(32, 64)),
    tokens: Buffer.from(data).readBigUInt64LE(64),
    // `rights` leaves out the flag `is_native`, which lies between these fields, because the flag grants no right.
    rights: Buffer.concat([
      ...[rightsAt(data, 72), data.subarray(108, 109), data.subarray(121, 129), rightsAt(data, 129)],
    ]).toString('hex'),
  }
}

/** Value of `rights` for an account that only its owner may move or close. */
export const OWNER_ONLY = `0001${'00'.repeat(8)}00`

/** Returns the bytes of a COption<Pubkey>. If the option is empty, its key bytes are undefined, so they are left
 *  out. */
function rightsAt(data: Uint8Array, at: number): Uint8Array {
  return data[at] === 0 ? Uint8Array.of(0) : data.subarray(at, at + 36)
}
