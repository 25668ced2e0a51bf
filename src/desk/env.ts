import type { Admitted } from './access/gate.ts'
import type { Session } from './access/logins.ts'
import { Refusal } from './refusal.ts'

/** Data about the client that a handler of hono receives as `context.env`. */
export type DeskEnv = { Bindings: Admitted }

/** Returns the session of the client. Throws a Refusal (401) if there is none. */
export function sessionOf({ session }: Admitted): Session {
  if (session === undefined) throw new Refusal(401, 'LOGIN_REQUIRED', 'log in first: run `sluice desk link`')
  return session
}

/** Throws a Refusal (415) if the header `content-type` of a body is not `wanted`. */
export function requireType(given: string | undefined, wanted: string): void {
  if (given?.split(';')[0]?.trim().toLowerCase() !== wanted)
    throw new Refusal(415, 'REQUEST_INVALID', `expected a body of type ${wanted}`)
}
