import type { AccountState } from '../../solana/token-account.ts'
import { call, record, Unread, whole } from './read.ts'
import type { Rpc } from './rpc.ts'

const MOST_ASKED = 100

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
