import { solToLamports } from '../../base/units.ts'
import type { Plan } from '../../engine/settings.ts'
import type { NamedPlan } from '../venue.ts'

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

/** The plan behind the service's name for it, compared without case. A name without known numbers (an unknown tier, or
 *  Enterprise) leaves the `present` plan as it is. At the first connection that is Standard, because too slow is safe.
 *  Later it is the plan that was in force: a new name is no evidence of a smaller limit, and taking it for one would
 *  make stop-losses wait. If the limit is smaller, the service answers 429. */
export function planOf(name: string, present: Plan = STANDARD): NamedPlan {
  const tier = name.trim().toLowerCase()
  if (tier === 'standard') return { plan: STANDARD, notice: '' }
  if (tier === 'premium') return { plan: PREMIUM, notice: '' }
  const why =
    tier === 'enterprise'
      ? 'the plan is Enterprise, but service.plan has no numbers for it'
      : `the plan '${name.slice(0, 40)}' is not known`
  const numbers = `${present.requestsPerMinute} requests a minute`
  return {
    plan: present,
    notice: `${why}: running on ${present.name}'s limits (${numbers}); set service.plan to the numbers of the plan`,
  }
}
