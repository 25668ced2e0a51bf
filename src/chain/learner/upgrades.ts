import { encodeBase58 } from '../../solana/base58.ts'
import type { AccountState } from '../../solana/token-account.ts'
import { readAccounts } from '../rpc/accounts.ts'
import { Unread } from '../rpc/read.ts'
import type { Rpc } from '../rpc/rpc.ts'

/** Upgradeable loader (solana-loader-v3-interface): the program account names a data account with the code, and the
 *  data account names the upgrade authority. */
const LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111'
const KIND_PROGRAM = 2
const KIND_DATA = 3

/** Upgrade authority of a program; '' if the program is immutable, undefined if the authority is not known. */
export type Upgrader = string | undefined

/** Reads upgrade authorities by program. Returns an empty map if the node does not answer, because the report is useful
 *  even without the authorities. */
export async function readUpgraders(rpc: Rpc, programs: readonly string[]): Promise<Map<string, Upgrader>> {
  try {
    const { accounts } = await readAccounts(rpc, programs)
    const holders = accounts.map(holderOf)
    const asked = holders.flatMap((holder) => (holder ? [holder] : []))
    const { accounts: held } = await readAccounts(rpc, asked)
    const upgraders = new Map(asked.map((holder, index) => [holder, upgraderIn(held[index] ?? null)]))
    return new Map(programs.map((id, index) => [id, holders[index] && upgraders.get(holders[index])]))
  } catch (error) {
    if (!(error instanceof Unread)) throw error
    return new Map()
  }
}

/** Returns the address of a program's data account; '' if the program can never change, undefined if the address cannot
 *  be read. */
function holderOf(account: AccountState | null): string | undefined {
  if (account === null) return undefined
  if (account.owner !== LOADER) return ''
  return kindOf(account) === KIND_PROGRAM && account.data.length >= 36
    ? encodeBase58(account.data.subarray(4, 36))
    : undefined
}

/** Reads the upgrade authority from a data account, where it follows the slot of the last change. */
function upgraderIn(account: AccountState | null): Upgrader {
  if (account === null || kindOf(account) !== KIND_DATA || account.data.length < 13) return undefined
  if (account.data[12] === 0) return ''
  return account.data.length < 45 ? undefined : encodeBase58(account.data.subarray(13, 45))
}

function kindOf({ data }: AccountState): number | undefined {
  return data.length < 4 ? undefined : Buffer.from(data).readUInt32LE(0)
}
