import { type PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import type { ErrorCode } from '../../../src/base/errors.ts'
import type { Draft } from './draft.ts'
import type { Drawn } from './honest.ts'
import * as parts from './parts.ts'

// Helpers for changes that a hostile builder makes to an honest draft.

export type Hostile = Draft & { drawn: Drawn }

/** A kind of attack that steals, misleads or delays. It is applied to honest transactions. */
export interface Family {
  readonly code: ErrorCode
  /**
   * Names of the transactions to which the attack applies. The default ones have no co-signers and no lookup tables and
   * are small, so that nothing hides the attack.
   */
  readonly shapes?: readonly string[]
  readonly spoil: (draft: Hostile, thief: PublicKey) => void
}

const BUYS = ['pump buy', 'tip', 'guards', 'pump buy_v2, Token-2022', 'pump buy_exact_quote_in_v2 with a memo']
export const SELLS = ['pump sale of the whole balance', 'pump sale of a share of the balance']
export const PLAIN = [...BUYS, ...SELLS]
export const OLD_BUYS = ['pump buy', 'tip', 'guards']

/** Inserts the instructions at a random position, because the verifier must find them everywhere. */
export function insert(draft: Hostile, ...added: TransactionInstruction[]): void {
  draft.instructions.splice(draft.drawn.random.integer(draft.instructions.length + 1), 0, ...added)
}

export const inserted =
  (make: (draft: Hostile, thief: PublicKey) => TransactionInstruction | TransactionInstruction[]): Family['spoil'] =>
  (draft, thief) =>
    insert(draft, ...[make(draft, thief)].flat())

export function tradeOf({ instructions }: Draft): TransactionInstruction {
  const found = instructions.find(({ programId }) => programId.equals(parts.PUMP) || programId.equals(parts.PUMP_SWAP))
  if (!found) throw new Error('no trade in the draft')
  return found
}

/** Sets an amount of the trade at byte offset 8 or 16. */
export function amount(draft: Draft, at: 8 | 16, value: bigint): void {
  tradeOf(draft).data.writeBigUInt64LE(value < 2n ** 64n ? value : 2n ** 64n - 1n, at)
}

/** Replaces an account of the trade. */
export function account(draft: Draft, at: number, pubkey: PublicKey): void {
  const { keys } = tradeOf(draft)
  keys[at] = {
    isSigner: false,
    isWritable: true,
    ...keys[at],
    ...(keys[at]?.isSigner ? { isSigner: false } : {}),
    pubkey,
  }
}

export function replaceTrade(draft: Hostile, trade: TransactionInstruction): void {
  draft.instructions[draft.instructions.indexOf(tradeOf(draft))] = trade
}

export const system = (kind: number, rest: Uint8Array, keys: Parameters<typeof parts.instruction>[2]) =>
  parts.instruction(SystemProgram.programId, [kind, 0, 0, 0, ...rest], keys)

export const token = (data: readonly number[], keys: Parameters<typeof parts.instruction>[2]) =>
  parts.instruction(parts.TOKEN, data, keys)

export const ownTokens = ({ drawn: { user, mint } }: Hostile) => parts.ata(user, mint)
export const much = ({ drawn: { random } }: Hostile) => 1 + random.integer(2_000_000_000)
export const finish = (change: (bytes: Uint8Array, draft: Hostile) => Uint8Array): Family['spoil'] => {
  return (draft) => {
    draft.finish = (bytes) => change(bytes, draft)
  }
}
