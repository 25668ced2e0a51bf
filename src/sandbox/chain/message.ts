import { sign, verify } from 'node:crypto'
import { decodeBase58, encodeBase58 } from '../../solana/base58.ts'
import { rentExemption } from '../../solana/constants.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import {
  encodeMessage,
  encodeTransaction,
  keyBytes,
  type Lookup,
  type Message,
  type TransactionBytes,
} from '../../solana/transaction.ts'
import { type Secret, tokenAccountAddress, verifyingKey } from '../keys.ts'
import type { Account, TransactionError } from './ledger.ts'

export interface CallAccount {
  address: string
  signer?: boolean
  writable?: boolean
}

/** An instruction before it is compiled into a message. */
export interface Call {
  program: string
  accounts: readonly CallAccount[]
  data: Uint8Array
}

/** A lookup table and its entries. */
export interface Table {
  address: string
  entries: readonly string[]
}

export interface Draft {
  payer: string
  blockhash: string
  calls: readonly Call[]
  /** Version of the message; default 0. */
  version?: 'legacy' | 0
  tables?: readonly Table[]
}

/** Compiles a message with its accounts in Solana's order: the payer, other signers, other accounts, each group with
 *  the writable ones first. Addresses in a lookup table are not among the message's keys, unless the protocol requires
 *  them there. */
export function compileMessage({ payer, blockhash, calls, version = 0, tables = [] }: Draft): Message {
  const used = new Map<string, { signer: boolean; writable: boolean; isProgram: boolean }>()
  const use = (address: string, signer: boolean, writable: boolean, isProgram = false): void => {
    const before = used.get(address) ?? { signer: false, writable: false, isProgram: false }
    used.set(address, {
      signer: before.signer || signer,
      writable: before.writable || writable,
      isProgram: before.isProgram || isProgram,
    })
  }
  use(payer, true, true)
  for (const { program, accounts } of calls) {
    for (const { address, signer = false, writable = false } of accounts) use(address, signer, writable)
    use(program, false, false, true)
  }
  const all = [...used].map(([address, as]) => ({ address, ...as }))
  const tableOf = (address: string): Table | undefined => tables.find(({ entries }) => entries.includes(address))
  const looked = all.filter(({ address, signer, isProgram }) => !signer && !isProgram && tableOf(address))
  const statics = all.filter((one) => !looked.includes(one))
  const pick = (signer: boolean, writable: boolean): string[] =>
    statics.filter((one) => one.signer === signer && one.writable === writable).map(({ address }) => address)
  const [signing, reading] = [pick(true, true), pick(true, false)]
  const readonlyOthers = pick(false, false)
  const keys = [...signing, ...reading, ...pick(false, true), ...readonlyOthers]
  const lookups = tables.flatMap(({ address: table, entries }): Lookup[] => {
    const places = (writable: boolean): number[] =>
      looked
        .filter((one) => one.writable === writable && tableOf(one.address)?.address === table)
        .map(({ address }) => entries.indexOf(address))
    const lookup = { table, writable: places(true), readonly: places(false) }
    return lookup.writable.length + lookup.readonly.length > 0 ? [lookup] : []
  })
  const order = [...keys, ...lookedUp(lookups, tables)]
  const place = new Map(order.map((address, index) => [address, index]))
  const instructions = calls.map(({ program, accounts, data }) => {
    return { program: place.get(program)!, accounts: accounts.map(({ address }) => place.get(address)!), data }
  })
  const counts = { signers: signing.length + reading.length, readonlySigners: reading.length }
  return { version, ...counts, readonlyOthers: readonlyOthers.length, keys, blockhash, instructions, lookups }
}

/** Addresses that a message takes from lookup tables: the writable ones, then the read-only ones. */
function lookedUp(lookups: readonly Lookup[], tables: readonly Table[]): string[] {
  const entry = (table: string, place: number): string =>
    tables.find(({ address }) => address === table)!.entries[place]!
  return [
    ...lookups.flatMap(({ table, writable }) => writable.map((place) => entry(table, place))),
    ...lookups.flatMap(({ table, readonly }) => readonly.map((place) => entry(table, place))),
  ]
}

/** Bytes of a transaction with the signatures of the given keys; other signatures stay empty. */
export function signMessage(message: Message, secrets: ReadonlyMap<string, Secret>): Uint8Array {
  const bytes = encodeMessage(message)
  const signatures = message.keys.slice(0, message.signers).map((key) => {
    const secret = secrets.get(key)
    return secret ? new Uint8Array(sign(null, bytes, secret.key)) : new Uint8Array(64)
  })
  return encodeTransaction({ signatures, message })
}

/** Whether all required signatures are present and valid for the message. */
export function isSigned({ signatures, message, messageBytes }: TransactionBytes): boolean {
  return signatures.every((signature, index) => {
    const key = decodeBase58(message.keys[index]!, 32)!
    return verify(null, messageBytes, verifyingKey(key), signature)
  })
}

/** ComputeBudget instructions for a compute unit limit and a priority fee, in the form that builders use. */
export function budgetCalls(unitLimit: number, priorityFeeLamports: number): Call[] {
  const budget = computeBudget(unitLimit, priorityFeeLamports)
  return budget.map((data) => ({ program: PROGRAMS.computeBudget, accounts: [], data }))
}

export function transferCall(from: string, to: string, lamports: bigint): Call {
  const data = Buffer.alloc(12)
  data.writeUInt32LE(2, 0)
  data.writeBigUInt64LE(lamports, 4)
  const accounts = [
    { address: from, signer: true, writable: true },
    { address: to, writable: true },
  ]
  return { program: PROGRAMS.system, accounts, data }
}

/** Instruction that creates the owner's associated token account if it does not exist; the payer pays its rent. */
export function openCall(payer: string, owner: string, mint: string, tokenProgram: string): Call {
  const accounts = [
    { address: payer, signer: true, writable: true },
    { address: tokenAccountAddress(owner, mint, tokenProgram), writable: true },
    ...[owner, mint, PROGRAMS.system, tokenProgram].map((address) => ({ address })),
  ]
  return { program: PROGRAMS.associatedToken, accounts, data: Uint8Array.of(1) }
}

/** Instruction that closes the owner's associated token account and returns its rent to the owner. */
export function closeCall(owner: string, mint: string, tokenProgram: string): Call {
  const accounts = [
    { address: tokenAccountAddress(owner, mint, tokenProgram), writable: true },
    { address: owner, writable: true },
    { address: owner, signer: true },
  ]
  return { program: tokenProgram, accounts, data: Uint8Array.of(9) }
}

/** Data of the two ComputeBudget instructions that together give exactly the given priority fee in lamports.
 *  `unitLimit` must be below one million. */
export function computeBudget(unitLimit: number, priorityFeeLamports: number): [limit: Uint8Array, price: Uint8Array] {
  const limit = Buffer.from([2, 0, 0, 0, 0])
  limit.writeUInt32LE(unitLimit, 1)
  const price = Buffer.alloc(9, 3)
  price.writeBigUInt64LE((BigInt(priorityFeeLamports) * 1000000n) / BigInt(unitLimit), 1)
  return [limit, price]
}

/** Length of a lookup table's header: type, deactivation slot (none), last extended slot and start index, authority
 *  (none), two bytes of padding. */
const HEADER_BYTES = 56
const NEVER = 0xffffffffffffffffn

/** Account of a lookup table that has no authority and was extended long ago (address-lookup-table state.rs). */
export function tableAccount({ entries }: Table): Account {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32LE(1, 0)
  header.writeBigUInt64LE(NEVER, 4)
  const data = Buffer.concat([header, ...entries.map(keyBytes)])
  return { lamports: rentExemption(data.length), owner: PROGRAMS.lookupTable, executable: false, data }
}

/** All addresses of a message: its own keys, then those from lookup tables, the writable ones first. Returns an error
 *  if a lookup table or one of its entries does not exist. */
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
