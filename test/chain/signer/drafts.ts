import type { PublicKey } from '@solana/web3.js'
import type { SignRequest } from '../../../src/chain/signer/port.ts'
import { type Rules, refusalOf } from '../../../src/chain/signer/rules.ts'
import { PRESETS } from '../../../src/orders/builder-policy.ts'
import { compile, type Draft, verifyDraft } from '../verifier/draft.ts'

// Transactions of the verifier's tests as requests to a signer.

/** The signed message of a transaction. */
const messageOf = (bytes: Uint8Array) => bytes.subarray(1 + 64 * (bytes[0] as number))

export const rulesOf = (wallet: PublicKey): Rules => ({
  wallet: wallet.toBase58(),
  programs: new Set([PRESETS.pump.id, PRESETS['pump-swap'].id]),
  policyHash: 'the policy',
})

export function requestOf(draft: Draft, boundLamports: bigint): SignRequest {
  const names = { orderId: 'order 1', attemptId: 'attempt 1', policyHash: 'the policy' }
  return { ...names, guarded: false, boundLamports, message: messageOf(compile(draft).bytes) }
}

export const boundOf = (draft: Draft) => verifyDraft(draft).verdict?.bound as bigint

/** Returns the lowest cost limit, lamports, with which the signer signs the transaction. */
export function leastBoundOf(draft: Draft, user: PublicKey): bigint {
  const said = /^(\d+) lamports would leave/.exec(refusalOf(requestOf(draft, 0n), rulesOf(user)) ?? '')
  return BigInt(said?.[1] as string)
}
