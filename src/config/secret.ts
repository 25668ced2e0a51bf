import { readFileSync, statSync } from 'node:fs'
import { inspect } from 'node:util'
import { z } from 'zod'
import { ExitCode, SluiceError } from '../base/errors.ts'
import { isOpenLoopback } from './address.ts'
import { expandPath } from './package-paths.ts'

/** A secret, stored as a reference to its source. `read` fetches the value each time, so that a replaced key takes
 *  effect. Printing, logging and JSON show the source, never the value. */
export interface Secret {
  describe(): string
  read(): string
}

/** Matches a reference to a secret: `env:NAME` or `file:PATH`. */
export const SECRET_REFERENCE = /^(env:[A-Za-z_][A-Za-z0-9_]*|file:\S.*)$/

const MOST_BYTES = 65_536

/** Returns the secret to which a reference points. `check` returns the problem of a value, without repeating the
 *  value. */
export function secretFrom(
  reference: string,
  cwd: string,
  check: (value: string) => string | undefined = () => undefined,
): Secret {
  const fromFile = reference.startsWith('file:')
  const path = fromFile ? expandPath(reference.slice(5), cwd) : ''
  const source = fromFile ? `file:${path}` : reference
  return shownAs(source, () => {
    const value = fromFile ? readSecretFile(path) : readVariable(reference.slice(4))
    const complaint = check(value)
    if (complaint) throw new SluiceError(`${source}: ${complaint}`, ExitCode.usage)
    return value
  })
}

/** Returns a secret whose value is read on demand, and which is shown as the text `source`. */
export function shownAs(source: string, read: () => string): Secret {
  const describe = () => source
  return { describe, read, ...{ toString: describe, toJSON: describe, [inspect.custom]: describe } }
}

function readVariable(name: string): string {
  const value = process.env[name]?.trim()
  if (value) return value
  const what = value === undefined ? 'is not set' : 'is empty'
  throw new SluiceError(`env:${name}: the environment variable ${what}`, ExitCode.usage)
}

function readSecretFile(path: string): string {
  const status = statSync(path, { throwIfNoEntry: false })
  if (!status) throw new SluiceError(`file:${path}: no such file`, ExitCode.usage)
  if (!status.isFile() || status.size > MOST_BYTES) {
    throw new SluiceError(`file:${path}: expected a regular file of at most 64 KiB`, ExitCode.usage)
  }
  if (process.platform !== 'win32' && (status.mode & 0o077) !== 0) {
    const mode = (status.mode & 0o777).toString(8).padStart(4, '0')
    throw new SluiceError(`file:${path}: others can read it (mode ${mode}); run: chmod 600 '${path}'`, ExitCode.unsafe)
  }
  const value = readFileSync(path, 'utf8').trim()
  if (!value) throw new SluiceError(`file:${path}: the file is empty`, ExitCode.usage)
  return value
}

// A configuration contains references to secrets. A value that is not a reference may itself be a secret, so no message
// repeats it.

export function secretReference(what: string) {
  return reference(
    (text) => SECRET_REFERENCE.test(text),
    `expected env:NAME or file:PATH, not ${what} itself: store it in an environment variable or in a file with mode 0600`,
  )
}

export function keypairReference() {
  return reference(
    (text) => SECRET_REFERENCE.test(text) && text.startsWith('file:'),
    'expected file:PATH, as in file:~/.config/solana/id.json: a keypair is read from a file with mode 0600 only',
  )
}

/** Returns the schema of an RPC's address. Providers put the key into the address, so it is a secret, except for an
 *  address of this machine. */
export function rpcReference() {
  return reference(
    (text) => SECRET_REFERENCE.test(text) || isOpenLoopback(text),
    'expected env:NAME or file:PATH, not the address itself, which may contain a key: store it in an environment variable or in a file with mode 0600',
  )
}

function reference(fits: (text: string) => boolean, message: string) {
  const error = ({ input }: { input?: unknown }) =>
    `${input === undefined ? 'missing; ' : ''}${message}${braces(input)}`
  return z.string({ error }).refine(fits, { error })
}

/** Returns a hint for a value in shell syntax, `$NAME` or `${NAME}`. The name is not a secret, so the hint may repeat
 *  it. */
function braces(input: unknown): string {
  const name = typeof input === 'string' ? /^\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?$/.exec(input)?.[1] : undefined
  return name ? `; write env:${name}` : ''
}
