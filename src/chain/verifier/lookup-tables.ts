import type { Refusal } from '../../base/errors.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import { encodeBase58 } from '../../solana/base58.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { AccountState } from '../../solana/token-account.ts'
import type { Lookup, Message } from '../../solana/transaction.ts'
import { readAccounts } from '../rpc/accounts.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { TableData } from '../web3.ts'

// Layout of a lookup table's account (solana-address-lookup-table-interface, state.rs): u32 kind, u64 deactivation
// slot, u64 slot of the last extension, u8 number of addresses before that extension, the authority; then the
// addresses.
const HEADER_BYTES = 56
const KIND_TABLE = 1
const NOT_DEACTIVATED = 0xffff_ffff_ffff_ffffn

export type Resolved =
  | { readonly ok: true; readonly accounts: readonly string[]; readonly tables: readonly TableData[] }
  | { readonly ok: false; readonly refusals: readonly Refusal[] }

/** Finds the addresses of all accounts of a message: its own, then the writable and then the readonly ones from lookup
 *  tables. Throws Unread if no node answers. */
export async function resolveAccounts(
  message: Message,
  policy: BuilderPolicy,
  rpc: Rpc | undefined,
): Promise<Resolved> {
  const { lookups, keys } = message
  if (lookups.length === 0) return { ok: true, accounts: keys, tables: [] }
  const { lookupTables } = policy
  const unlisted = lookups.filter(({ table }) => lookupTables !== 'any' && !lookupTables.includes(table))
  if (unlisted.length > 0) return refuse(unlisted.map(({ table }) => `${table} is not in lookupTables of the policy`))
  if (rpc === undefined) return refuse(['the lookup tables of the transaction were not read: add the option --rpc'])
  const addresses = lookups.map(({ table }) => table)
  const { slot, accounts } = await readAccounts(rpc, addresses)
  const entries = lookups.map((lookup, index) => entriesOf(lookup, accounts[index] ?? null, slot))
  const problems = entries.filter((one) => typeof one === 'string')
  if (problems.length > 0) return refuse(problems)
  const found = entries.filter((one) => typeof one !== 'string')
  const all = [...keys, ...found.flatMap(({ writable }) => writable), ...found.flatMap(({ readonly }) => readonly)]
  if (new Set(all).size !== all.length) return refuse(['the lookup tables contain an account that is already listed'])
  const tables = addresses.map((table, index) => ({ table, data: (accounts[index] as AccountState).data }))
  return { ok: true, accounts: all, tables }
}

function refuse(reasons: readonly string[]): Resolved {
  return { ok: false, refusals: reasons.map((reason) => ({ code: 'LOOKUP_TABLE', reason })) }
}

function entriesOf(
  { table, writable, readonly }: Lookup,
  account: AccountState | null,
  slot: number,
): { writable: string[]; readonly: string[] } | string {
  if (account?.owner !== PROGRAMS.lookupTable || account.data.length < HEADER_BYTES)
    return `${table} is not a lookup table`
  const { data } = account
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  if (view.getUint32(0, true) !== KIND_TABLE) return `${table} is not a lookup table`
  if (view.getBigUint64(4, true) !== NOT_DEACTIVATED) return `lookup table ${table} is deactivated`
  // Entries of a lookup table are only ever added. Those that were added in the current slot cannot be used yet.
  const isExtendedNow = view.getBigUint64(12, true) >= BigInt(slot)
  const usable = isExtendedNow ? (data[20] as number) : Math.floor((data.length - HEADER_BYTES) / 32)
  const highest = Math.max(...writable, ...readonly)
  if (highest >= usable)
    return `lookup table ${table} has ${usable} usable entries, but the transaction uses number ${highest + 1}`
  const entry = (place: number) =>
    encodeBase58(data.subarray(HEADER_BYTES + 32 * place, HEADER_BYTES + 32 * place + 32))
  return { writable: writable.map(entry), readonly: readonly.map(entry) }
}
