import type { Admitted } from './access/gate.ts'
import type { Session } from './access/logins.ts'
import { Refusal } from './refusal.ts'

/** What a handler of hono knows about the client, as `context.env`. */
export type DeskEnv = { Bindings: Admitted }

/** Returns the session of the client. Throws a Refusal (401) without one. */
export function sessionOf({ session }: Admitted): Session {
  if (session === undefined) throw new Refusal(401, 'LOGIN_REQUIRED', 'log in first: run `sluice desk link`')
  return session
}

/** Throws a Refusal (415) unless a body has the wanted type. */
export function requireType(given: string | undefined, wanted: string): void {
  if (given?.split(';')[0]?.trim().toLowerCase() !== wanted)
    throw new Refusal(415, 'REQUEST_INVALID', `expected a body of type ${wanted}`)
}
