import type { Refusal } from '../../base/errors.ts'

/** Port to the signer, the process that holds the wallet's key. The signer reads the message itself. It signs only if
 *  the message follows the signer's rules and spends at most the lamports that the request declares. The promises of
 *  this port never reject. */
export interface Signer {
  /** Signs a message. The code SIGNER_DOWN means that no signature exists and none will be made. */
  sign(request: SignRequest): Promise<SignResult>
}

export interface SignRequest {
  orderId: string
  attemptId: string
  /** The exact bytes to sign, version prefix included. */
  message: Uint8Array
  /** Maximum number of lamports that may leave the wallet, as the verifier computed it. The signer's caps count this
   *  number. */
  boundLamports: bigint
  /** Hash of the policy that the verifier applied. */
  policyHash: string
  /** Whether the message ends with guards, instructions that only check balances. If so, `boundLamports`
   *  also holds for opaque programs, whose instructions Sluice cannot decode. */
  guarded: boolean
}

/** `signature`: 64 bytes, verified with the wallet's public key. */
export type SignResult = { ok: true; signature: Uint8Array } | ({ ok: false } & Refusal)
