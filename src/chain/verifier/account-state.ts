import { encodeBase58 } from '../../core/base58.ts'
import type { Rpc } from '../../core/ports.ts'
import { PROGRAMS } from '../../core/programs.ts'
import { call, record, Unread, whole } from '../read.ts'

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

const MOST_ASKED = 100
const TOKEN_ACCOUNT_BYTES = 165

/** As asked, null where there is nothing at an address. Unread where nobody can say. */
export async function readAccounts(
  rpc: Rpc,
  addresses: readonly string[],
): Promise<{ slot: number; accounts: (AccountState | null)[] }> {
  const accounts: (AccountState | null)[] = []
  let slot = 0
  for (let from = 0; from < addresses.length; from += MOST_ASKED) {
    const asked = addresses.slice(from, from + MOST_ASKED)
    const how = { commitment: 'confirmed', encoding: 'base64' }
    const { context, value } = record(await call(rpc, 'getMultipleAccounts', [asked, how]))
    if (!Array.isArray(value) || value.length !== asked.length)
      throw new Unread('not as many accounts as were asked for')
    accounts.push(...value.map(accountOf))
    slot = whole(record(context).slot)
  }
  return { slot, accounts }
}

/** One account of an answer in base64. */
export function accountOf(value: unknown): AccountState | null {
  if (value === null) return null
  const { lamports, owner, executable, data } = record(value)
  if (!Array.isArray(data) || typeof data[0] !== 'string' || data[1] !== 'base64' || typeof owner !== 'string')
    throw new Unread('an account that is none')
  return {
    lamports: BigInt(whole(lamports)),
    owner,
    executable: executable === true,
    data: Buffer.from(data[0], 'base64'),
  }
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
