import { solToLamports } from '../../base/units.ts'
import type { Plan } from '../../engine/settings.ts'
import type { NamedPlan } from '../venue.ts'

/** Plans with documented limits. The limits of Enterprise are documented only as "custom", so they come from the
 *  configuration. */
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

/** Returns the plan that applies at the start. `auto` means Standard until the service names the plan of the key. */
export function firstPlan(configured: string | Plan): Plan {
  return typeof configured === 'object' ? configured : planOf(configured).plan
}

/** Returns the plan that the service calls `name`, ignoring case. If the limits of that plan are not known (an unknown
 *  name, or Enterprise), the plan `present` stays in force. At the first connection, `present` is Standard, because a
 *  rate that is too low is safe. At later connections, it is the plan that was in force before: a new name does not
 *  prove a lower limit, and assuming a lower limit would delay stop-losses. If the limit is lower after all, the
 *  service answers 429. */
export function planOf(name: string, present: Plan = STANDARD): NamedPlan {
  const tier = name.trim().toLowerCase()
  if (tier === 'standard') return { plan: STANDARD, notice: '' }
  if (tier === 'premium') return { plan: PREMIUM, notice: '' }
  const why =
    tier === 'enterprise'
      ? 'the plan is Enterprise, but service.plan does not configure its limits'
      : `the plan '${name.slice(0, 40)}' is unknown`
  const numbers = `${present.requestsPerMinute} requests per minute`
  return {
    plan: present,
    notice: `${why}: running with the limits of ${present.name} (${numbers}); set service.plan to the limits of the plan`,
  }
}
