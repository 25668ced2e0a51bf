import { decodeBase58, encodeBase58 } from '../core/base58.ts'
import type { TokenState } from './bank.ts'
import { TOKEN_DECIMALS, TOKEN_SUPPLY } from './curve.ts'

/** Bytes of the SPL token program's accounts (spl-token state.rs): token accounts of 165 bytes, mints of 82. */
const TOKEN_ACCOUNT_BYTES = 165
export const MINT_BYTES = 82

export function encodeTokenAccount({ mint, owner, amount }: TokenState): Uint8Array {
  const data = Buffer.alloc(TOKEN_ACCOUNT_BYTES)
  data.set(decodeBase58(mint, 32)!, 0)
  data.set(decodeBase58(owner, 32)!, 32)
  data.writeBigUInt64LE(amount, 64)
  data[108] = 1 // initialized; no delegate, not native, no close authority
  return data
}

/** Undefined when the bytes are not a token account. */
export function decodeTokenAccount(data: Uint8Array): TokenState | undefined {
  if (data.length !== TOKEN_ACCOUNT_BYTES) return undefined
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
