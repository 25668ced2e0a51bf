import type { BuilderPolicy } from './core/builder-policy.ts'
import type { Signer } from './core/ports.ts'

/** What local orders are signed with, and held against before. */
export interface Signing {
  readonly signer: Signer
  readonly policy: BuilderPolicy
  readonly policyHash: string
}
