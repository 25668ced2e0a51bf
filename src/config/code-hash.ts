import { createHash, type Hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { CORE_FOLDER, MANIFEST, SOURCE_ENDING } from './package-files.ts'

/** Hash of all code that decides: the version and core/ of Sluice, and every strategy file with what it imports by relative paths.
 *  The same files give the same hash wherever they lie. */
export function codeHash(strategies: readonly { readonly name: string; readonly file: string }[]): string {
  core ??= hashOfCore()
  const hash = core.copy()
  const byName = new Map(strategies.map((one) => [one.name, one.file]))
  for (const [name, file] of [...byName].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const parts = withImports(file).map((part) => relative(dirname(file), part).replaceAll('\\', '/'))
    for (const part of parts.sort()) add(hash, `${name}/${part}`, readFileSync(join(dirname(file), part)))
  }
  return hash.digest('hex')
}

/** Read once: a process runs the code that it was started with, whatever becomes of the files. */
let core: Hash | undefined

function hashOfCore(): Hash {
  const hash = createHash('sha256')
  add(hash, 'version', (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version)
  for (const name of sourcesIn(CORE_FOLDER)) add(hash, `core/${name}`, readFileSync(join(CORE_FOLDER, name)))
  return hash
}

function add(hash: Hash, name: string, bytes: Uint8Array | string): void {
  hash.update(`${name}\0${bytes.length}\0`).update(bytes)
}

/** Hash of all of Sluice: of what fills and counts a backtest as well. */
export function sluiceHash(): string {
  const hash = createHash('sha256')
  const folder = join(CORE_FOLDER, '..')
  for (const name of sourcesIn(folder)) add(hash, name, readFileSync(join(folder, name)))
  return hash.digest('hex')
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(SOURCE_ENDING) && !name.endsWith('.d.ts'))
    .map((name) => name.replaceAll('\\', '/'))
    .sort()
}

/** Read, not run: a specifier in a comment may add a file, which harms nothing. */
function withImports(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file) || !existsSync(file)) return []
  seen.add(file)
  for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(
    /(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g,
  )) {
    withImports(resolve(dirname(file), specifier), seen)
  }
  return [...seen]
}
