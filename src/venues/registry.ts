import { tokenService } from './token-service/token-service.ts'
import type { Venue } from './venue.ts'

/** Venues, by `service.kind` of the configuration. A new venue adds its own folder, and one line here. */
const VENUES = {
  remote: tokenService('the token service'),
  sandbox: tokenService('the sandbox'),
} as const satisfies Record<string, Venue>

export function venueOf({ kind }: { readonly kind: keyof typeof VENUES }): Venue {
  return VENUES[kind]
}

/** Venue of commands that read files of a venue without a configuration, such as captures and built transactions. */
export const DEFAULT_VENUE: Venue = VENUES.remote
