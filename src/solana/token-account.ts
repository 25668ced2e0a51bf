import { decodeBase58, encodeBase58 } from './base58.ts'
import { TOKEN_DECIMALS, TOKEN_SUPPLY } from './constants.ts'
import { PROGRAMS } from './programs.ts'

/** Lengths of accounts of the token program (spl-token state.rs). */
export const TOKEN_ACCOUNT_BYTES = 165
export const MINT_BYTES = 82
/** Token-2022 stores the kind of an account behind the bytes that both programs share. */
const TOKEN_2022_ACCOUNT = 2
/** Kind, and the ImmutableOwner extension: the bytes that an associated Token-2022 account has in addition. */
const TOKEN_2022_MORE_BYTES = 5

/** Length of an associated token account, bytes. */
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

/** Reads the bytes of a token account; undefined if they are not one. */
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

/** A mint as launches leave it: the whole supply minted, no mint or freeze authority. */
export function encodeMint(): Uint8Array {
  const data = Buffer.alloc(MINT_BYTES)
  data.writeBigUInt64LE(TOKEN_SUPPLY, 36)
  data[44] = TOKEN_DECIMALS
  data[45] = 1
  return data
}

/** Content of a token account; `amount` in base units. */
export interface TokenState {
  mint: string
  owner: string
  amount: bigint
}

/** An account, as a node reports it. */
export interface AccountState {
  readonly lamports: bigint
  /** Owner program. */
  readonly owner: string
  /** Whether the account is a program. */
  readonly executable: boolean
  readonly data: Uint8Array
}

/** Balance and rights of a token account (spl-token state.rs: 165 bytes, the same in Token-2022). */
export interface TokenAccount {
  readonly mint: string
  readonly owner: string
  readonly tokens: bigint
  /** Delegate, state, delegated amount and close authority as hex, to be compared. */
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
    // The native flag in between is not a right.
    rights: Buffer.concat([
      ...[rightsAt(data, 72), data.subarray(108, 109), data.subarray(121, 129), rightsAt(data, 129)],
    ]).toString('hex'),
  }
}

/** `rights` of an account that only its owner may move or close. */
export const OWNER_ONLY = `0001${'00'.repeat(8)}00`

/** Bytes of a COption<Pubkey>; the bytes of an empty one are undefined, so they are left out. */
function rightsAt(data: Uint8Array, at: number): Uint8Array {
  return data[at] === 0 ? Uint8Array.of(0) : data.subarray(at, at + 36)
}
