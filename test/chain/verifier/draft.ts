import { createHash } from 'node:crypto'
import {
  AddressLookupTableAccount,
  Keypair,
  PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import type { Refusal } from '../../../src/base/errors.ts'
import type { ChainFacts } from '../../../src/chain/verifier/chain-facts.ts'
import { type Verdict, verifyTransaction } from '../../../src/chain/verifier/verify-transaction.ts'
import type { BuilderPolicy } from '../../../src/orders/builder-policy.ts'
import type { AskedTrade } from '../../../src/orders/trade-request.ts'
import { decodeTransaction } from '../../../src/solana/transaction.ts'

/**
 * A transaction before its compilation, with the order, the policy and the state of the chain. Tests change any part of
 * it.
 */
export interface Draft {
  name: string
  payer: PublicKey
  instructions: TransactionInstruction[]
  tables: AddressLookupTableAccount[]
  coSigners: Keypair[]
  version: 'legacy' | 0
  blockhash: string
  asked: AskedTrade
  policy: BuilderPolicy
  facts: ChainFacts
  /** Changes the compiled bytes. */
  finish?: (bytes: Uint8Array) => Uint8Array
}

export function keypair(name: string): Keypair {
  return Keypair.fromSeed(createHash('sha256').update(name).digest())
}

export function address(name: string): PublicKey {
  return new PublicKey(createHash('sha256').update(`address ${name}`).digest())
}

export function tableOf(name: string, addresses: PublicKey[]): AddressLookupTableAccount {
  return new AddressLookupTableAccount({
    key: address(`table ${name}`),
    state: { deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 1, lastExtendedSlotStartIndex: 0, addresses },
  })
}

/** Returns the bytes that a builder sends: our signature is empty, and those of the co-signers are filled in. */
export function compile(draft: Draft): { bytes: Uint8Array; accounts: string[] } {
  const { payer, blockhash, instructions, tables, version, coSigners, finish } = draft
  const message = new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions })
  const compiled = version === 0 ? message.compileToV0Message(tables) : message.compileToLegacyMessage()
  const transaction = new VersionedTransaction(compiled)
  if (coSigners.length > 0) transaction.sign(coSigners)
  const keys = compiled.getAccountKeys(version === 0 ? { addressLookupTableAccounts: tables } : undefined)
  const bytes = transaction.serialize()
  return {
    bytes: finish?.(bytes) ?? bytes,
    accounts: keys
      .keySegments()
      .flat()
      .map((key) => key.toBase58()),
  }
}

/** Verifies a draft in the same way as `verify-tx` without an RPC, but knows the lookup tables. */
export function verifyDraft(draft: Draft): { refusals: readonly Refusal[]; verdict?: Verdict } {
  const { bytes, accounts } = compile(draft)
  const decoded = decodeTransaction(bytes)
  if (!decoded.ok) return { refusals: [decoded] }
  const verdict = verifyTransaction(decoded.transaction, accounts, draft.asked, draft.policy, draft.facts)
  return { refusals: verdict.refusals, verdict }
}
