import type { Plan } from '../core/settings.ts'
import { solToLamports } from '../core/units.ts'

/** What the document says of each tier; Enterprise is `custom`, so its numbers come from the configuration. */
export const STANDARD: Plan = {
  name: 'Standard',
  requestsPerMinute: 100,
  connections: 5,
  messagesPerSecond: 50,
  maxBuyLamports: solToLamports(100),
}

export const PREMIUM: Plan = {
  name: 'Premium',
  requestsPerMinute: 1_000,
  connections: 20,
  messagesPerSecond: 200,
  maxBuyLamports: solToLamports(100),
}

/** The plan to begin with: `auto` is Standard until the service has said which it is. */
export function firstPlan(configured: string | Plan): Plan {
  return typeof configured === 'object' ? configured : planOf(configured).plan
}

/** Of a number a minute or second, what a process may take that has so much of the plan: 1 at least. */
export function shareOf(perInterval: number, share: number): number {
  return Math.max(1, Math.floor(perInterval * share))
}

export interface KnownPlan {
  readonly plan: Plan
  /** '' where there is nothing to say. */
  readonly notice: string
}

/** The plan behind the service's name for it, compared without case. Unknown, or Enterprise without numbers, runs on Standard: too slow is
 *  safe, too fast is not. `enterprise`: the configured numbers. */
export function planOf(name: string, enterprise?: Omit<Plan, 'name'>): KnownPlan {
  const tier = name.trim().toLowerCase()
  if (tier === 'standard') return { plan: STANDARD, notice: '' }
  if (tier === 'premium') return { plan: PREMIUM, notice: '' }
  if (tier !== 'enterprise')
    return { plan: STANDARD, notice: `the plan '${name.slice(0, 40)}' is not known: running on Standard's limits` }
  if (enterprise !== undefined) return { plan: { ...enterprise, name: 'Enterprise' }, notice: '' }
  return {
    plan: STANDARD,
    notice: "the plan is Enterprise, but service.plan has no numbers for it: running on Standard's limits",
  }
}
