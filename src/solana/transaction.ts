import type { Refusal } from '../base/errors.ts'
import { decodeBase58, encodeBase58 } from './base58.ts'
import { ByteReader, Malformed } from './byte-reader.ts'
import { MOST_ACCOUNTS, PACKET_BYTES } from './constants.ts'

/** A transaction in wire form: signatures, and the message that they sign. */
export interface TransactionBytes {
  /** One signature per signer; all zeros if that signer has not signed yet. */
  readonly signatures: readonly Uint8Array[]
  readonly message: Message
  /** The bytes of the message, which the signers sign. */
  readonly messageBytes: Uint8Array
}

export interface Message {
  readonly version: 'legacy' | 0
  /** Number of signers. The signers are the first accounts in `keys`. */
  readonly signers: number
  /** Number of readonly signers. They are the last of the signers in `keys`. */
  readonly readonlySigners: number
  /** Number of readonly accounts that do not sign. They are the last accounts in `keys`. */
  readonly readonlyOthers: number
  /** Addresses of the accounts that the message itself lists, base58. Accounts from lookup tables are not among
   *  them. */
  readonly keys: readonly string[]
  readonly blockhash: string
  readonly instructions: readonly Instruction[]
  readonly lookups: readonly Lookup[]
}

export interface Instruction {
  /** Index of the program in `keys`. */
  readonly program: number
  /** Indexes of the instruction's accounts. They refer to `keys`, followed by the accounts from lookup tables, writable
   *  ones first. */
  readonly accounts: readonly number[]
  readonly data: Uint8Array
}

/** Use of a lookup table: the address of the table, and the indexes of the entries that the message uses, writable and
 *  readonly. */
export interface Lookup {
  readonly table: string
  readonly writable: readonly number[]
  readonly readonly: readonly number[]
}

export type Decoded = { readonly ok: true; readonly transaction: TransactionBytes } | NotDecoded
export type DecodedMessage = { readonly ok: true; readonly message: Message } | NotDecoded
type NotDecoded = { readonly ok: false } & Refusal

/** Reads a legacy or version 0 transaction. Refuses what a validator would refuse, and every encoding that is not
 *  canonical, so that an accepted transaction encodes to the same bytes. */
export function decodeTransaction(bytes: Uint8Array): Decoded {
  return unlessMalformed<Decoded>(() => {
    const version = versionAhead(bytes)
    if (version !== undefined) return refuseVersion(version)
    if (bytes.length > PACKET_BYTES)
      throw new Malformed(`the data has ${bytes.length} bytes, but at most ${PACKET_BYTES} fit into a packet`)
    const reader = new ByteReader(bytes)
    const signatures = times(reader.compact(), () => reader.bytes(64))
    const messageBytes = bytes.subarray(reader.at)
    const decoded = decodeMessage(messageBytes)
    if (!decoded.ok) return decoded
    const { message } = decoded
    if (signatures.length !== message.signers)
      throw new Malformed(`the transaction has ${signatures.length} signatures for ${message.signers} signers`)
    return { ok: true, transaction: { signatures, message, messageBytes } }
  })
}

/** Reads the message of a transaction. Refuses by the same rules as `decodeTransaction`. */
export function decodeMessage(bytes: Uint8Array): DecodedMessage {
  return unlessMalformed<DecodedMessage>(() => {
    const reader = new ByteReader(bytes)
    const first = reader.peek()
    if (first > 128) return refuseVersion(first - 128)
    if (bytes.length > PACKET_BYTES)
      throw new Malformed(`the data has ${bytes.length} bytes, but at most ${PACKET_BYTES} fit into a packet`)
    const message = readMessage(reader)
    if (reader.left > 0) throw new Malformed(`${reader.left} bytes follow the end of the message`)
    if (!isSameBytes(encodeMessage(message), bytes)) throw new Malformed('the encoding of the message is not canonical')
    return { ok: true, message }
  })
}

function unlessMalformed<T>(decode: () => T): T | NotDecoded {
  try {
    return decode()
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    return { ok: false, code: 'TX_MALFORMED', reason: `not a transaction: ${error.message}` }
  }
}

/** Returns the version if the first byte gives one, as in transactions of version 1 or later. Returns undefined for
 *  older transactions, whose first byte is at most 128. */
function versionAhead([first = 0]: Uint8Array): number | undefined {
  return first > 128 ? first - 128 : undefined
}

function refuseVersion(version: number): NotDecoded {
  const reason = `transaction version ${version} is not supported: ask the builder for version 0 or legacy`
  return { ok: false, code: 'TX_VERSION', reason }
}

function readMessage(reader: ByteReader): Message {
  const version = reader.peek() === 128 ? 0 : 'legacy'
  if (version === 0) reader.byte()
  const [signers, readonlySigners, readonlyOthers] = [reader.byte(), reader.byte(), reader.byte()]
  const keys = times(reader.compact(), () => encodeBase58(reader.bytes(32)))
  const blockhash = encodeBase58(reader.bytes(32))
  const instructions = times(reader.compact(), () => {
    const program = reader.byte()
    const accounts = [...reader.bytes(reader.compact())]
    return { program, accounts, data: reader.bytes(reader.compact()) }
  })
  const lookups = version === 0 ? times(reader.compact(), () => readLookup(reader)) : []
  const message: Message = { version, signers, readonlySigners, readonlyOthers, keys, blockhash, instructions, lookups }
  checkMessage(message)
  return message
}

function readLookup(reader: ByteReader): Lookup {
  const table = encodeBase58(reader.bytes(32))
  const writable = [...reader.bytes(reader.compact())]
  return { table, writable, readonly: [...reader.bytes(reader.compact())] }
}

/** Applies the checks of a validator's `sanitize`. */
function checkMessage({ signers, readonlySigners, readonlyOthers, keys, instructions, lookups }: Message): void {
  if (signers < 1 || readonlySigners >= signers) throw new Malformed('no writable signer can pay the fee')
  if (signers + readonlyOthers > keys.length)
    throw new Malformed('the header counts more accounts than the message lists')
  if (new Set(keys).size !== keys.length) throw new Malformed('an account is listed twice')
  const total =
    keys.length + lookups.reduce((sum, { writable, readonly }) => sum + writable.length + readonly.length, 0)
  if (total > MOST_ACCOUNTS)
    throw new Malformed(`the message uses ${total} accounts, and at most ${MOST_ACCOUNTS} can be addressed`)
  for (const { writable, readonly } of lookups)
    if (writable.length + readonly.length === 0) throw new Malformed('a lookup table is listed without entries')
  for (const { program, accounts } of instructions) {
    if (program === 0 || program >= keys.length)
      throw new Malformed('an instruction calls a program that the message does not list')
    if (accounts.some((account) => account >= total))
      throw new Malformed('an instruction uses an account index beyond the accounts')
  }
}

/** Whether the account at an index signs. Accounts from lookup tables never sign. */
export function isSigner({ signers }: Message, place: number): boolean {
  return place < signers
}

/** Whether the account at an index is writable. Accounts from lookup tables follow the keys, writable ones first. */
export function isWritable(message: Message, place: number): boolean {
  const { keys, signers, readonlySigners, readonlyOthers, lookups } = message
  if (place < signers) return place < signers - readonlySigners
  if (place < keys.length) return place < keys.length - readonlyOthers
  return place < keys.length + lookups.reduce((sum, { writable }) => sum + writable.length, 0)
}

/** Encodes a transaction in its wire form. */
export function encodeTransaction({
  signatures,
  message,
}: Pick<TransactionBytes, 'signatures' | 'message'>): Uint8Array {
  return joined([compact(signatures.length), ...signatures, encodeMessage(message)])
}

/** Encodes a message in its wire form. These are the bytes that a signer signs. */
export function encodeMessage(message: Message): Uint8Array {
  const { version, signers, readonlySigners, readonlyOthers, keys, blockhash, instructions, lookups } = message
  const parts = [
    Uint8Array.from([...(version === 0 ? [128] : []), signers, readonlySigners, readonlyOthers]),
    compact(keys.length),
    ...keys.map(keyBytes),
    keyBytes(blockhash),
    compact(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => [Uint8Array.of(program), list(accounts), list(data)]),
  ]
  if (version === 0) {
    parts.push(compact(lookups.length))
    for (const { table, writable, readonly } of lookups) parts.push(keyBytes(table), list(writable), list(readonly))
  }
  return joined(parts)
}

function list(bytes: ArrayLike<number>): Uint8Array {
  return joined([compact(bytes.length), Uint8Array.from(bytes)])
}

function compact(value: number): Uint8Array {
  const bytes: number[] = []
  for (let rest = value; ; rest >>= 7) {
    if (rest < 128) return Uint8Array.from([...bytes, rest])
    bytes.push((rest & 127) | 128)
  }
}

/** The 32 bytes of an address. Throws a RangeError if the text is not an address. */
export function keyBytes(address: string): Uint8Array {
  const bytes = decodeBase58(address, 32)
  if (bytes === undefined) throw new RangeError(`not an address: ${address}`)
  return bytes
}

export function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make)
}
