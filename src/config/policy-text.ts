import { stringify } from 'yaml'
import type { PolicyInput } from './policy-schema.ts'

/** A `builder-policy.yaml`, a line a key where that is short. */
export function policyText(policy: PolicyInput): string {
  return stringify(policy, { collectionStyle: 'any', flowCollectionPadding: true, lineWidth: 0 })
}
