import { decodeBase58, encodeBase58 } from '../core/base58.ts'
import { PROGRAMS } from '../core/programs.ts'
import type { TokenState } from './bank.ts'
import { TOKEN_DECIMALS, TOKEN_SUPPLY } from './curve.ts'

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
