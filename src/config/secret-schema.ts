import { z } from 'zod'
import { isOpenLoopback } from './address.ts'
import { SECRET_REFERENCE } from './secret.ts'

// A secret is written as the place where it lies. Whatever else stands there may be the secret itself, so no message repeats it.

export function secretReference(what: string) {
  return reference(
    (text) => SECRET_REFERENCE.test(text),
    `expected env:NAME or file:PATH, never ${what} itself: put it into an environment variable or into a file that only you can read (mode 0600)`,
  )
}

export function keypairReference() {
  return reference(
    (text) => SECRET_REFERENCE.test(text) && text.startsWith('file:'),
    'expected file:PATH, as in file:~/.config/solana/id.json (mode 0600): a keypair comes from a file only',
  )
}

/** Providers put the key into the address, so it is a secret; on loopback there is none, and it may stand here. */
export function rpcReference() {
  return reference(
    (text) => SECRET_REFERENCE.test(text) || isOpenLoopback(text),
    'expected env:NAME or file:PATH, never the address itself (providers put the key into it): put it into an environment variable or into a file that only you can read (mode 0600)',
  )
}

function reference(fits: (text: string) => boolean, message: string) {
  const error = ({ input }: { input?: unknown }) =>
    `${input === undefined ? 'missing; ' : ''}${message}${braces(input)}`
  return z.string({ error }).refine(fits, { error })
}

/** A shell's `$NAME` or `${NAME}` names a secret without being one, so it may be repeated. */
function braces(input: unknown): string {
  const name = typeof input === 'string' ? /^\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?$/.exec(input)?.[1] : undefined
  return name ? `; write env:${name}` : ''
}
