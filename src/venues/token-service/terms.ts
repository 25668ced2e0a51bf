import type { VenueTerms } from '../venue.ts'
import { firstPlan, PREMIUM, planOf, STANDARD } from './plans.ts'

/** Returns the terms of the documented token service. `name`: name of the service in messages. */
export function tokenServiceTerms(name: string): VenueTerms {
  return {
    name,
    amountCurrency: 'SOL',
    plans: { published: [STANDARD, PREMIUM], first: firstPlan, named: planOf },
  }
}
