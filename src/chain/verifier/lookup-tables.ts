import type { Refusal } from '../../base/errors.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import { encodeBase58 } from '../../solana/base58.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { AccountState } from '../../solana/token-account.ts'
import type { Lookup, Message } from '../../solana/transaction.ts'
import { readAccounts } from '../rpc/accounts.ts'
import type { Rpc } from '../rpc/rpc.ts'

/** Before the addresses stand the kind, when it was closed, when it last grew and from where, and who may add to it. */
const HEADER_BYTES = 56
const KIND_TABLE = 1
const NEVER = 0xffff_ffff_ffff_ffffn

export type Resolved =
  | { readonly ok: true; readonly accounts: readonly string[] }
  | { readonly ok: false; readonly refusals: readonly Refusal[] }

/** All accounts of a message: its own, then the writable and then the other ones that its lookups give. Entries of a
 *  table never change, they are only added; what was added in the present slot cannot be used yet. Unread where the
 *  chain cannot be asked. */
export async function resolveAccounts(
  message: Message,
  policy: BuilderPolicy,
  rpc: Rpc | undefined,
): Promise<Resolved> {
  const { lookups, keys } = message
  if (lookups.length === 0) return { ok: true, accounts: keys }
  const { lookupTables } = policy
  const strange = lookups.filter(({ table }) => lookupTables !== 'any' && !lookupTables.includes(table))
  if (strange.length > 0) return refuse(strange.map(({ table }) => `${table} is not in lookupTables`))
  if (rpc === undefined) return refuse(['what stands in its lookup tables is not known: give --rpc'])
  const { slot, accounts } = await readAccounts(
    rpc,
    lookups.map(({ table }) => table),
  )
  const tables = lookups.map((lookup, index) => entriesOf(lookup, accounts[index] ?? null, slot))
  const problems = tables.filter((table) => typeof table === 'string')
  if (problems.length > 0) return refuse(problems)
  const found = tables.filter((table) => typeof table !== 'string')
  const all = [...keys, ...found.flatMap(({ writable }) => writable), ...found.flatMap(({ readonly }) => readonly)]
  if (new Set(all).size !== all.length) return refuse(['an account stands in it twice'])
  return { ok: true, accounts: all }
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
    return `${table} is no lookup table`
  const { data } = account
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  if (view.getUint32(0, true) !== KIND_TABLE) return `${table} is no lookup table`
  if (view.getBigUint64(4, true) !== NEVER) return `${table} is being closed`
  const grewNow = view.getBigUint64(12, true) >= BigInt(slot)
  const usable = grewNow ? (data[20] as number) : Math.floor((data.length - HEADER_BYTES) / 32)
  if ([...writable, ...readonly].some((place) => place >= usable))
    return `${table} has ${usable} entries, more are asked for`
  const entry = (place: number) =>
    encodeBase58(data.subarray(HEADER_BYTES + 32 * place, HEADER_BYTES + 32 * place + 32))
  return { writable: writable.map(entry), readonly: readonly.map(entry) }
}
