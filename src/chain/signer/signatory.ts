import { sign } from 'node:crypto'
import type { SignRequest } from '../../core/ports.ts'
import type { RefusalCode } from './frames.ts'
import type { WalletKey } from './key-file.ts'
import { type Rules, refusalOf } from './rules.ts'
import type { Spending } from './spending.ts'

export type Decision =
  | { readonly kind: 'signed'; readonly signature: Uint8Array }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly reason: string }

/** Decides on one request: reads it, counts it, and only then signs it. */
export function decide(request: SignRequest, key: WalletKey, rules: Rules, spending: Pick<Spending, 'take'>): Decision {
  const objection = refusalOf(request, rules)
  if (objection !== undefined) return { kind: 'refused', code: 'SIGNER_REFUSED', reason: objection }
  const over = spending.take(request.boundLamports)
  if (over !== undefined) return { kind: 'refused', code: 'SIGNER_CAP', reason: over }
  return { kind: 'signed', signature: sign(null, request.message, key.privateKey) }
}
