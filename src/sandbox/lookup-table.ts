import { encodeBase58 } from '../core/base58.ts'
import { PROGRAMS } from '../core/programs.ts'
import { keyBytes, type Message } from '../core/transaction-bytes.ts'
import { type Account, rentExemption, type TransactionError } from './ledger.ts'
import type { Table } from './message.ts'

/** Kind, when it was closed (never), when and from where it last grew, who may add to it (nobody), two bytes unused. */
const HEADER_BYTES = 56
const NEVER = 0xffff_ffff_ffff_ffffn

/** A table that has been there for long and will not change (address-lookup-table state.rs). */
export function tableAccount({ entries }: Table): Account {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32LE(1, 0)
  header.writeBigUInt64LE(NEVER, 4)
  const data = Buffer.concat([header, ...entries.map(keyBytes)])
  return { lamports: rentExemption(data.length), owner: PROGRAMS.lookupTable, executable: false, data }
}

/** All addresses that a message names: its own, then what its lookups bring, writable ones first; or why they bring nothing. */
export function namedAddresses(
  { keys, lookups }: Message,
  read: (address: string) => Account | undefined,
): string[] | Extract<TransactionError, string> {
  const found: { writable: string[]; readonly: string[] }[] = []
  for (const { table, writable, readonly } of lookups) {
    const account = read(table)
    if (!account) return 'AddressLookupTableNotFound'
    if (account.owner !== PROGRAMS.lookupTable) return 'InvalidAddressLookupTableOwner'
    const { data } = account
    const entries = Math.floor((data.length - HEADER_BYTES) / 32)
    if ([...writable, ...readonly].some((place) => place >= entries)) return 'InvalidAddressLookupTableIndex'
    const entry = (place: number): string =>
      encodeBase58(data.subarray(HEADER_BYTES + 32 * place, HEADER_BYTES + 32 * place + 32))
    found.push({ writable: writable.map(entry), readonly: readonly.map(entry) })
  }
  return [...keys, ...found.flatMap((one) => one.writable), ...found.flatMap((one) => one.readonly)]
}
