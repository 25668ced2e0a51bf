import { tokenServiceTerms } from './token-service/terms.ts'
import type { VenueTerms } from './venue.ts'

/** Terms of the venues, by `service.kind` of the configuration. They are not in `registry.ts`, so that a backtest does
 *  not load the code of feeds and executors. */
export const TERMS = {
  remote: tokenServiceTerms('the token service'),
  sandbox: tokenServiceTerms('the sandbox'),
} as const satisfies Record<string, VenueTerms>

export function termsOf({ kind }: { readonly kind: keyof typeof TERMS }): VenueTerms {
  return TERMS[kind]
}
