import { PROGRAMS } from '../../core/programs.ts'
import {
  encodeTransaction,
  type Instruction,
  type Message,
  type TransactionBytes,
} from '../../core/transaction-bytes.ts'

/** What has to hold once everything else in a transaction has run, else the chain takes all of it back. */
export interface Guards {
  /** The wallet holds at least so many lamports, and still belongs to the System program. */
  readonly floorLamports: bigint
  /** A token account of the wallet holds at least so many base units, is still the wallet's, and nobody else may move or close it. */
  readonly tokens?: {
    readonly account: string
    readonly mint: string
    readonly program: string
    readonly amount: bigint
    readonly decimals: number
  }
}

/** What fits into a packet. */
const MOST_BYTES = 1_232
const MOST_ACCOUNTS = 256
const MOST_UINT64 = 2n ** 64n - 1n
const SYSTEM_TRANSFER = 2
const TOKEN_TRANSFER_CHECKED = 12
const TOKEN_REVOKE = Uint8Array.of(5)
/** SetAuthority of the right to close, to nobody: it fails where somebody else has taken that right. */
const TOKEN_NOBODY_CLOSES = Uint8Array.of(6, 3, 0)
/** The fee payer, which is the wallet. */
const WALLET = 0

/** The transaction with guards as its last instructions: a transfer of the floor, and a checked transfer of the tokens, each from an account
 *  to itself; then whatever right somebody may have got to those tokens is taken back. They move nothing, and fail where what has to be there
 *  is not, whatever an opaque program has done before them. undefined where others have signed the message as it is, or it would not fit into
 *  a packet. `accounts`: all of the message, looked-up ones included. */
export function withGuards(
  { signatures, message }: TransactionBytes,
  accounts: readonly string[],
  guards: Guards,
): TransactionBytes | undefined {
  if (message.signers !== 1) return undefined
  const { floorLamports, tokens } = guards
  const programs = [PROGRAMS.system, ...(tokens === undefined ? [] : [tokens.program])]
  const missing = [
    // A program has to stand in the message itself; everything else may come from a lookup table.
    ...programs.filter((program) => !message.keys.includes(program)),
    ...(tokens === undefined ? [] : [tokens.account, tokens.mint].filter((address) => !accounts.includes(address))),
  ]
  const room = withReadonlyKeys(message, missing)
  const all = [...room.keys, ...accounts.slice(message.keys.length)]
  const at = (address: string): number => all.indexOf(address)
  const added: Instruction[] = [
    { program: at(PROGRAMS.system), accounts: [WALLET, WALLET], data: systemTransfer(floorLamports) },
  ]
  if (tokens !== undefined) {
    const [program, account] = [at(tokens.program), at(tokens.account)]
    added.push(
      { program, accounts: [account, at(tokens.mint), account, WALLET], data: transferChecked(tokens) },
      { program, accounts: [account, WALLET], data: TOKEN_REVOKE },
      { program, accounts: [account, WALLET], data: TOKEN_NOBODY_CLOSES },
    )
  }
  const guarded: Message = { ...room, instructions: [...room.instructions, ...added] }
  if (all.length > MOST_ACCOUNTS) return undefined
  const bytes = encodeTransaction({ signatures, message: guarded })
  if (bytes.length > MOST_BYTES) return undefined
  return { signatures, message: guarded, messageBytes: bytes.subarray(1 + 64 * signatures.length) }
}

/** Accounts of lookups are counted after the keys of the message, so that they move up. */
function withReadonlyKeys(message: Message, added: readonly string[]): Message {
  const { keys, instructions, readonlyOthers } = message
  const up = (place: number): number => (place < keys.length ? place : place + added.length)
  return {
    ...message,
    keys: [...keys, ...added],
    readonlyOthers: readonlyOthers + added.length,
    instructions: instructions.map((one) => ({ ...one, accounts: one.accounts.map(up) })),
  }
}

/** More than there can be is asked for as the most that can be written, which is never there: the chain refuses it. */
function uint64(amount: bigint): bigint {
  return amount < MOST_UINT64 ? amount : MOST_UINT64
}

function systemTransfer(lamports: bigint): Uint8Array {
  const data = Buffer.alloc(12)
  data.writeUInt32LE(SYSTEM_TRANSFER)
  data.writeBigUInt64LE(uint64(lamports), 4)
  return data
}

function transferChecked({ amount, decimals }: { amount: bigint; decimals: number }): Uint8Array {
  const data = Buffer.alloc(10)
  data.writeUInt8(TOKEN_TRANSFER_CHECKED)
  data.writeBigUInt64LE(uint64(amount), 1)
  data.writeUInt8(decimals, 9)
  return data
}
