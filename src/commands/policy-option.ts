import { formatErrors } from '../config/errors.ts'
import { loadPolicy } from '../config/policy.ts'
import type { BuilderPolicy } from '../core/builder-policy.ts'

/** What stands in the file of --policy; undefined where it is wrong, and all that is wrong has been said. */
export function policyOf(file: string): BuilderPolicy | undefined {
  const result = loadPolicy(file)
  if (result.ok) return result.policy
  console.error(formatErrors(result.errors))
  return undefined
}
