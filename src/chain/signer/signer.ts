import type { Refusal } from '../../base/errors.ts'

/** What holds the wallet's key. It reads the message itself and signs only what keeps to its rules and to the declared
 *  bound. Below the executor, so it answers by a promise, which never rejects. */
export interface Signer {
  /** SIGNER_DOWN: nobody has a signature of it, and nobody gets one any more. */
  sign(request: SignRequest): Promise<SignResult>
}

export interface SignRequest {
  orderId: string
  attemptId: string
  /** The exact bytes to sign, prefix of the version included. */
  message: Uint8Array
  /** What may leave the wallet at most if it lands, as the verifier found; counts against the caps. */
  boundLamports: bigint
  /** Which policy of the builder it was held against. */
  policyHash: string
  /** The guards stand at its end, so the bound holds whatever the programs in it do. */
  guarded: boolean
}

/** `signature`: 64 bytes, checked against the wallet's public key. */
export type SignResult = { ok: true; signature: Uint8Array } | ({ ok: false } & Refusal)
