import type { Refusal } from '../../base/errors.ts'

/** Port to the holder of the wallet's key. It reads the message itself, and signs only within its rules and the
 *  declared bound. Its promises never reject. */
export interface Signer {
  /** SIGNER_DOWN: no signature exists, and none will be made. */
  sign(request: SignRequest): Promise<SignResult>
}

export interface SignRequest {
  orderId: string
  attemptId: string
  /** The exact bytes to sign, version prefix included. */
  message: Uint8Array
  /** Upper bound of the lamports that may leave the wallet, from the verifier; counts against the caps. */
  boundLamports: bigint
  /** Hash of the policy that the verifier applied. */
  policyHash: string
  /** The message ends with guards, so the bound holds for opaque programs too. */
  guarded: boolean
}

/** `signature`: 64 bytes, verified with the wallet's public key. */
export type SignResult = { ok: true; signature: Uint8Array } | ({ ok: false } & Refusal)
