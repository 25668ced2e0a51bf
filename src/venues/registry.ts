import { tokenService } from './token-service/token-service.ts'
import type { Venue } from './venue.ts'

/** Venues by `service.kind` of the configuration. A new venue adds its folder and its line here. */
const VENUES = {
  remote: tokenService('the token service'),
  sandbox: tokenService('the sandbox'),
} as const satisfies Record<string, Venue>

export function venueOf({ kind }: { readonly kind: keyof typeof VENUES }): Venue {
  return VENUES[kind]
}

/** For commands that read files of a venue without a configuration: captures, built transactions. */
export const DEFAULT_VENUE: Venue = VENUES.remote
