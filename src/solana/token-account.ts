import { decodeBase58, encodeBase58 } from './base58.ts'
import { TOKEN_DECIMALS, TOKEN_SUPPLY } from './constants.ts'
import { PROGRAMS } from './programs.ts'

/** Bytes of the SPL token program's accounts (spl-token state.rs): token accounts of 165 bytes, mints of 82. */
export const TOKEN_ACCOUNT_BYTES = 165
export const MINT_BYTES = 82
/** Behind the bytes that both programs share, Token-2022 says what kind of account it is. */
const TOKEN_2022_ACCOUNT = 2
/** The kind, and that the owner cannot change: what an associated account of Token-2022 has on top. */
const TOKEN_2022_MORE_BYTES = 5

/** How long an associated token account is. */
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

/** Undefined when the bytes are not a token account; one of Token-2022 is longer, and says so. */
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

/** A mint as launches leave it: whole supply made, nobody can mint more or freeze. */
export function encodeMint(): Uint8Array {
  const data = Buffer.alloc(MINT_BYTES)
  data.writeBigUInt64LE(TOKEN_SUPPLY, 36)
  data[44] = TOKEN_DECIMALS
  data[45] = 1
  return data
}

/** A token account's content; `amount` in base units. */
export interface TokenState {
  mint: string
  owner: string
  amount: bigint
}

/** An account of the chain, as a node tells it. */
export interface AccountState {
  readonly lamports: bigint
  /** The program that it belongs to. */
  readonly owner: string
  /** It is a program itself. */
  readonly executable: boolean
  readonly data: Uint8Array
}

/** What a token account holds, and who may do what with it (spl-token state.rs: 165 bytes, the same in Token-2022). */
export interface TokenAccount {
  readonly mint: string
  readonly owner: string
  readonly tokens: bigint
  /** Who else may move or close it, and whether it is frozen: as bytes, to be compared. */
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
    // The delegate, the state, what is delegated, and who may close; whether it wraps SOL, in between, is no right.
    rights: Buffer.concat([
      ...[rightsAt(data, 72), data.subarray(108, 109), data.subarray(121, 129), rightsAt(data, 129)],
    ]).toString('hex'),
  }
}

/** `rights` of an account that only its owner may touch. */
export const OWNER_ONLY = `0001${'00'.repeat(8)}00`

/** A COption<Pubkey>: what stands in an empty one means nothing. */
function rightsAt(data: Uint8Array, at: number): Uint8Array {
  return data[at] === 0 ? Uint8Array.of(0) : data.subarray(at, at + 36)
}
