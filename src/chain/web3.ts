// The only file that loads @solana/web3.js. It runs in a process that does not hold the key. It compiles messages. It
// also reads each transaction a second time before it is signed, independently of our own reader. Most runs sign
// nothing, so the rest of src/ loads this file with `import()`, or from a module that is loaded in this way.
import {
  AddressLookupTableAccount,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedMessage,
} from '@solana/web3.js'
import type { Refusal } from '../base/errors.ts'
import { PACKET_BYTES } from '../solana/constants.ts'
import {
  decodeMessage,
  isSameBytes,
  isSigner,
  isWritable,
  type Message,
  type TransactionBytes,
} from '../solana/transaction.ts'

/** Address of a lookup table, and the data of its account on the chain. */
export interface TableData {
  readonly table: string
  readonly data: Uint8Array
}

interface AccountMeta {
  readonly address: string
  readonly isSigner: boolean
  readonly isWritable: boolean
}

/** An instruction for the compiler, with addresses in place of indexes. */
export interface NewInstruction {
  readonly program: string
  readonly accounts: readonly AccountMeta[]
  readonly data: Uint8Array
}

/** Compares our reading of a transaction with that of web3.js. Returns a refusal if they differ. `accounts`: the
 *  accounts of the message, including those from lookup tables; undefined if the tables were not read, in which case
 *  only the message itself is compared. */
export function disagreement(
  { signatures, message, messageBytes }: TransactionBytes,
  accounts: readonly string[] | undefined,
  tables: readonly TableData[],
): Refusal | undefined {
  const difference = unlessThrown(() => {
    const theirs = VersionedMessage.deserialize(messageBytes)
    if (theirs.header.numRequiredSignatures !== signatures.length) return 'the number of signatures'
    return firstDifference(message, theirs) ?? accountDifference(message, theirs, accounts, tables)
  })
  if (difference === undefined) return undefined
  return { code: 'READERS_DISAGREE', reason: `our reader and @solana/web3.js disagree on ${difference}` }
}

function unlessThrown(read: () => string | undefined): string | undefined {
  try {
    return read()
  } catch (error) {
    return `whether it can be read: web3.js fails with "${String((error as Error).message).slice(0, 120)}"`
  }
}

function firstDifference(ours: Message, theirs: VersionedMessage): string | undefined {
  const { header, compiledInstructions: instructions, addressTableLookups: lookups } = theirs
  if (ours.version !== theirs.version) return 'the version'
  const counts = [header.numRequiredSignatures, header.numReadonlySignedAccounts, header.numReadonlyUnsignedAccounts]
  if (!isSameList([ours.signers, ours.readonlySigners, ours.readonlyOthers], counts)) return 'the header'
  const keys = theirs.staticAccountKeys.map(String)
  if (ours.keys[0] !== keys[0]) return 'the fee payer'
  if (!isSameList(ours.keys, keys)) return 'the accounts of the message'
  if (ours.blockhash !== theirs.recentBlockhash) return 'the blockhash'
  if (ours.instructions.length !== instructions.length) return 'the number of instructions'
  for (const [index, { program, accounts, data }] of ours.instructions.entries()) {
    const instruction = instructions[index] as (typeof instructions)[number]
    if (program !== instruction.programIdIndex) return `the program of instruction ${index + 1}`
    if (!isSameList(accounts, instruction.accountKeyIndexes)) return `the accounts of instruction ${index + 1}`
    if (!isSameBytes(data, instruction.data)) return `the data of instruction ${index + 1}`
  }
  if (ours.lookups.length !== lookups.length) return 'the number of lookup tables'
  for (const [index, { table, writable, readonly }] of ours.lookups.entries()) {
    const { accountKey, writableIndexes, readonlyIndexes } = lookups[index] as (typeof lookups)[number]
    const isSame = isSameList(writable, writableIndexes) && isSameList(readonly, readonlyIndexes)
    if (table !== accountKey.toBase58() || !isSame) return `lookup table ${index + 1}`
  }
  return undefined
}

/** Compares the addresses from lookup tables, and which accounts sign and are writable. Returns the first
 *  difference. */
function accountDifference(
  ours: Message,
  theirs: VersionedMessage,
  accounts: readonly string[] | undefined,
  tables: readonly TableData[],
): string | undefined {
  if (accounts !== undefined) {
    const keys = theirs.getAccountKeys({ addressLookupTableAccounts: tables.map(tableAccount) })
    const resolved = keys.keySegments().flat().map(String)
    if (!isSameList(accounts, resolved)) return 'the accounts that its lookup tables give'
  }
  const { length } = accounts ?? ours.keys
  for (let index = 0; index < length; index++) {
    if (isSigner(ours, index) !== theirs.isAccountSigner(index)) return `whether account ${index} signs`
    if (isWritable(ours, index) !== theirs.isAccountWritable(index)) return `whether account ${index} is writable`
  }
  return undefined
}

function tableAccount({ table, data }: TableData): AddressLookupTableAccount {
  return new AddressLookupTableAccount({
    key: new PublicKey(table),
    state: AddressLookupTableAccount.deserialize(data),
  })
}

/** A compiled message, as our own reader reads it. */
export interface CompiledMessage {
  readonly ok: true
  readonly message: Message
  readonly messageBytes: Uint8Array
  /** Addresses of the message's accounts, including those from lookup tables. */
  readonly accounts: readonly string[]
}

/** `reason` is undefined if the message does not fit into a packet. */
export type NotCompiled = { readonly ok: false; readonly reason: string | undefined }

/** Placeholder for the entries of a lookup table that a message does not use. No account has this address. */
const UNUSED_ENTRY = new PublicKey(new Uint8Array(32).fill(255))

/** Compiles the message again, with more instructions at its end. Each account remains where it was, in the message or
 *  in its lookup table. An account that no instruction lists is dropped. `accounts`: the accounts of the old message,
 *  including those from lookup tables. */
export function withInstructions(
  { message, messageBytes }: Pick<TransactionBytes, 'message' | 'messageBytes'>,
  accounts: readonly string[],
  added: readonly NewInstruction[],
): CompiledMessage | NotCompiled {
  const tables = usedTables(message, accounts)
  const theirTables = tables.map(({ table, entries }) => entriesAccount(table, entries))
  const addressOf = (table: string, place: number) => tables.find((one) => one.table === table)?.entries.get(place)
  const expected = [...linesOf(message, accounts), ...added.map((one) => newLine(one, message, accounts))]
  return compiled(expected, addressOf, () => {
    const how = { addressLookupTableAccounts: theirTables }
    const draft = TransactionMessage.decompile(VersionedMessage.deserialize(messageBytes), how)
    draft.instructions.push(...added.map(theirInstruction))
    return message.version === 0 ? draft.compileToV0Message(theirTables) : draft.compileToLegacyMessage()
  })
}

/** Compiles a legacy message that only the wallet signs. */
export function newMessage(
  wallet: string,
  blockhash: string,
  instructions: readonly NewInstruction[],
): CompiledMessage | NotCompiled {
  const expected = instructions.map(({ program, accounts, data }) => lineOf(program, accounts, data))
  return compiled(
    expected,
    () => undefined,
    () => {
      const payerKey = new PublicKey(wallet)
      const theirs = instructions.map(theirInstruction)
      return new TransactionMessage({
        payerKey,
        recentBlockhash: blockhash,
        instructions: theirs,
      }).compileToLegacyMessage()
    },
  )
}

/** Runs the compiler of web3.js, reads the result with our own reader, and compares it with the expected
 *  instructions. */
function compiled(
  expected: readonly string[],
  addressOf: (table: string, place: number) => string | undefined,
  compile: () => VersionedMessage,
): CompiledMessage | NotCompiled {
  let messageBytes: Uint8Array
  try {
    messageBytes = Uint8Array.from(compile().serialize())
  } catch (error) {
    // For version 0, @solana/web3.js uses buffers of the size of a packet, so this error means that the message is too
    // long.
    if (error instanceof RangeError) return { ok: false, reason: undefined }
    return { ok: false, reason: `@solana/web3.js cannot compile the message: ${(error as Error).message}` }
  }
  if (messageBytes.length > PACKET_BYTES) return { ok: false, reason: undefined }
  const decoded = decodeMessage(messageBytes)
  if (!decoded.ok) return { ok: false, reason: `@solana/web3.js compiled a message that is refused: ${decoded.reason}` }
  const { message } = decoded
  const { keys, lookups } = message
  const looked = [
    ...lookups.flatMap(({ table, writable }) => writable.map((place) => addressOf(table, place))),
    ...lookups.flatMap(({ table, readonly }) => readonly.map((place) => addressOf(table, place))),
  ]
  const accounts = [...keys, ...looked.filter((address) => address !== undefined)]
  const isExpected = accounts.length === keys.length + looked.length && isSameList(expected, linesOf(message, accounts))
  if (!isExpected) return { ok: false, reason: '@solana/web3.js compiled instructions that differ from the given ones' }
  return { ok: true, message, messageBytes, accounts }
}

/** Returns the instructions of a message as texts for a comparison. Each text has the program, the accounts with their
 *  rights, and the data. */
function linesOf(message: Message, accounts: readonly string[]): string[] {
  return message.instructions.map(({ program, accounts: places, data }) => {
    const metas = places.map((place) => metaOf(message, accounts, place))
    return lineOf(accounts[program] as string, metas, data)
  })
}

/** Returns a new instruction as text, for a comparison with the result of `linesOf`. Each account is shown with the
 *  rights that the message gives it. */
function newLine({ program, accounts: added, data }: NewInstruction, message: Message, all: readonly string[]): string {
  const metas = added.map((one) => {
    const place = all.indexOf(one.address)
    return place < 0 ? one : metaOf(message, all, place)
  })
  return lineOf(program, metas, data)
}

function metaOf(message: Message, accounts: readonly string[], place: number): AccountMeta {
  return {
    address: accounts[place] as string,
    isSigner: isSigner(message, place),
    isWritable: isWritable(message, place),
  }
}

function lineOf(program: string, accounts: readonly AccountMeta[], data: Uint8Array): string {
  const metas = accounts.map(({ address, isSigner: signs, isWritable: isWritten }) => [address, signs, isWritten])
  return JSON.stringify([program, metas, Buffer.from(data).toString('hex')])
}

interface UsedTable {
  readonly table: string
  /** Addresses, by their index in the table. */
  readonly entries: Map<number, string>
}

/** Returns the lookup tables of a message, with the entries that the message uses. */
function usedTables({ keys, lookups }: Message, accounts: readonly string[]): UsedTable[] {
  const tables = new Map<string, UsedTable>()
  let at = keys.length
  for (const kind of ['writable', 'readonly'] as const)
    for (const lookup of lookups) {
      const { table } = lookup
      const used = tables.get(table) ?? { table, entries: new Map<number, string>() }
      tables.set(table, used)
      for (const place of lookup[kind]) used.entries.set(place, accounts[at++] as string)
    }
  return [...tables.values()]
}

/** Makes a lookup table that contains only these entries, each at its original index. The compiler therefore cannot
 *  move any other account into the table. */
function entriesAccount(table: string, entries: ReadonlyMap<number, string>): AddressLookupTableAccount {
  const addresses = Array.from({ length: Math.max(...entries.keys()) + 1 }, (_none, place) => {
    const address = entries.get(place)
    return address === undefined ? UNUSED_ENTRY : new PublicKey(address)
  })
  const state = { deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0, addresses }
  return new AddressLookupTableAccount({ key: new PublicKey(table), state })
}

function theirInstruction({ program, accounts, data }: NewInstruction): TransactionInstruction {
  return new TransactionInstruction({
    programId: new PublicKey(program),
    keys: accounts.map(({ address, isSigner: signs, isWritable: isWritten }) => {
      return { pubkey: new PublicKey(address), isSigner: signs, isWritable: isWritten }
    }),
    data: Buffer.from(data),
  })
}

function isSameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index])
}
