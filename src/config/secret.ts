import { readFileSync, statSync } from 'node:fs'
import { inspect } from 'node:util'
import { ExitCode, SluiceError } from '../core/errors.ts'
import { expandPath } from './expand-path.ts'

/** Something that must never be seen. It is not kept here: `read` fetches it anew, when a command needs it and again when a key was
 *  rotated; what is printed, logged or written as JSON is where it comes from. */
export interface Secret {
  describe(): string
  read(): string
}

/** `env:NAME` or `file:PATH`, and nothing else. */
export const SECRET_REFERENCE = /^(env:[A-Za-z_][A-Za-z0-9_]*|file:\S.*)$/

const MOST_BYTES = 65_536

/** Where a reference leads; `check` answers what is wrong with a value that was read, without repeating it. */
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

/** Something that is read where it is needed and shown as where it comes from. */
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
    throw new SluiceError(`file:${path}: not a file that holds a secret`, ExitCode.usage)
  }
  if (process.platform !== 'win32' && (status.mode & 0o077) !== 0) {
    const mode = (status.mode & 0o777).toString(8).padStart(4, '0')
    throw new SluiceError(`file:${path}: others can read it (mode ${mode}); run: chmod 600 '${path}'`, ExitCode.unsafe)
  }
  const value = readFileSync(path, 'utf8').trim()
  if (!value) throw new SluiceError(`file:${path}: the file is empty`, ExitCode.usage)
  return value
}
