import type { AccountState } from '../../solana/token-account.ts'
import { call, record, Unread, whole } from './read.ts'
import type { Rpc } from './rpc.ts'

const MOST_ASKED = 100

/** Reads accounts in the order of the addresses; null if an account does not exist. Throws Unread if no node
 *  answers. */
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
      throw new Unread('the answer does not have as many accounts as the request')
    accounts.push(...value.map(accountOf))
    slot = whole(record(context).slot)
  }
  return { slot, accounts }
}

/** Reads one account of an answer with encoding base64; null if the account does not exist. */
export function accountOf(value: unknown): AccountState | null {
  if (value === null) return null
  const { lamports, owner, executable, data } = record(value)
  if (!Array.isArray(data) || typeof data[0] !== 'string' || data[1] !== 'base64' || typeof owner !== 'string')
    throw new Unread('invalid account in the answer')
  return {
    lamports: BigInt(whole(lamports)),
    owner,
    executable: executable === true,
    data: Buffer.from(data[0], 'base64'),
  }
}
