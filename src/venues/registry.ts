import { TERMS } from './terms.ts'
import { tokenService } from './token-service/token-service.ts'
import type { Venue } from './venue.ts'

/** Venues, by `service.kind` of the configuration. A new venue adds its own folder, one line here, and its terms to
 *  `terms.ts`. */
const VENUES = {
  remote: tokenService(TERMS.remote),
  sandbox: tokenService(TERMS.sandbox),
} as const satisfies Record<string, Venue>

export function venueOf({ kind }: { readonly kind: keyof typeof VENUES }): Venue {
  return VENUES[kind]
}

/** Venue for commands without a configuration, which read files of a venue, such as recorded feeds and built
 *  transactions. */
export const DEFAULT_VENUE: Venue = VENUES.remote
