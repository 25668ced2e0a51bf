import { sign, verify } from 'node:crypto'
import { decodeBase58 } from '../core/base58.ts'
import {
  encodeMessage,
  encodeTransaction,
  type Lookup,
  type Message,
  type TransactionBytes,
} from '../core/transaction-bytes.ts'
import { type Secret, verifyingKey } from './keys.ts'

export interface CallAccount {
  address: string
  signer?: boolean
  writable?: boolean
}

/** One instruction before it is compiled. */
export interface Call {
  program: string
  accounts: readonly CallAccount[]
  data: Uint8Array
}

/** A lookup table and what stands in it. */
export interface Table {
  address: string
  entries: readonly string[]
}

export interface Draft {
  payer: string
  blockhash: string
  calls: readonly Call[]
  /** Default 0. */
  version?: 'legacy' | 0
  tables?: readonly Table[]
}

/** Accounts in Solana's order: the payer, then signers, then others, those that are written to first; what a table has and need not stand in the message comes out of the table. */
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

/** What lookups bring: all writable ones, then the others. */
function lookedUp(lookups: readonly Lookup[], tables: readonly Table[]): string[] {
  const entry = (table: string, place: number): string =>
    tables.find(({ address }) => address === table)!.entries[place]!
  return [
    ...lookups.flatMap(({ table, writable }) => writable.map((place) => entry(table, place))),
    ...lookups.flatMap(({ table, readonly }) => readonly.map((place) => entry(table, place))),
  ]
}

/** The transaction with the signatures that these keys give; empty ones for the other signers. */
export function signMessage(message: Message, secrets: ReadonlyMap<string, Secret>): Uint8Array {
  const bytes = encodeMessage(message)
  const signatures = message.keys.slice(0, message.signers).map((key) => {
    const secret = secrets.get(key)
    return secret ? new Uint8Array(sign(null, bytes, secret.key)) : new Uint8Array(64)
  })
  return encodeTransaction({ signatures, message })
}

/** Whether everybody who has to has signed these very bytes. */
export function isSigned({ signatures, message, messageBytes }: TransactionBytes): boolean {
  return signatures.every((signature, index) => {
    const key = decodeBase58(message.keys[index]!, 32)!
    return verify(null, messageBytes, verifyingKey(key), signature)
  })
}
