import { encodeBase58 } from './base58.ts'
import { type ByteReader, Malformed } from './byte-reader.ts'

/** Instruction numbers of the System program (solana-system-interface), each a u32. */
export const SYSTEM = {
  ...{ createAccount: 0, assign: 1, transfer: 2, createWithSeed: 3, advanceNonce: 4, withdrawNonce: 5 },
  ...{ initializeNonce: 6, authorizeNonce: 7, allocate: 8, allocateWithSeed: 9, assignWithSeed: 10 },
  ...{ transferWithSeed: 11, upgradeNonce: 12 },
} as const

/** Instruction numbers of Token and Token-2022 (spl-token-interface), each a u8. Numbers that only Token-2022 has begin
 *  at 22. */
export const TOKEN = {
  ...{ initializeAccount: 1, transfer: 3, approve: 4, revoke: 5, setAuthority: 6, burn: 8, closeAccount: 9 },
  ...{ transferChecked: 12, approveChecked: 13, burnChecked: 15, initializeAccount2: 16, syncNative: 17 },
  ...{ initializeAccount3: 18 },
} as const

export const INITIALIZE_ACCOUNT: readonly number[] = [
  TOKEN.initializeAccount,
  TOKEN.initializeAccount2,
  TOKEN.initializeAccount3,
]

/** Data of a SetAuthority instruction that clears the close authority of an account. The instruction fails if another
 *  key is the close authority. */
export const CLEAR_CLOSE_AUTHORITY = Uint8Array.of(TOKEN.setAuthority, 3, 0)

const LONGEST_SEED = 32n

/** Arguments of CreateAccountWithSeed. */
export interface CreateWithSeed {
  readonly base: string
  readonly seed: Uint8Array
  readonly lamports: bigint
  /** Length of the new account's data in bytes. */
  readonly space: bigint
  readonly owner: string
}

/** Reads the arguments of CreateAccountWithSeed, which follow the instruction number. */
export function readCreateWithSeed(reader: ByteReader): CreateWithSeed {
  const base = encodeBase58(reader.bytes(32))
  const length = reader.uint64()
  if (length > LONGEST_SEED) throw new Malformed('the seed of the new account is longer than 32 bytes')
  const seed = reader.bytes(Number(length))
  const [lamports, space] = [reader.uint64(), reader.uint64()]
  const owner = encodeBase58(reader.bytes(32))
  if (reader.left > 0) throw new Malformed('bytes follow the arguments of CreateAccountWithSeed')
  return { base, seed, lamports, space, owner }
}
