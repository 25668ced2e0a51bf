import { createHash } from 'node:crypto'
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'

/** The files from which the signer runs. */
export interface SignerProgram {
  /** Path of the module that the process starts with. */
  readonly entry: string
  /** Paths that the process may read; a path that ends with `*` permits every file whose path begins like it. */
  readonly readable: readonly string[]
}

/** A module of the signer without its types, and the source that it was made from. */
export interface StrippedModule {
  /** Path of the source, relative to `src/`. The module has the same path in its own folder, but ends with `.js`. */
  readonly path: string
  /** SHA-256 of the source, and of the module. */
  readonly sourceHash: string
  readonly hash: string
}

/** Path of the entry, relative to `src/`. */
export const SIGNER_ENTRY = 'chain/signer/process.ts'
/** Name of the file that lists the modules. */
export const STRIPPED_LIST = 'modules.json'
/** Folder of a clone in which `scripts/strip-signer.ts` writes the modules. It is inside node_modules, so that npm
 *  removes it together with the libraries. */
export const STRIPPED = fileURLToPath(new URL('../../../node_modules/.sluice-signer/', import.meta.url))

const SOURCES = fileURLToPath(new URL('../../', import.meta.url))
const isBuilt = !import.meta.url.endsWith('.ts')

/** Returns the files from which the signer runs. In a clone, these are the modules without types, if neither they nor
 *  the sources have changed since the modules were written; otherwise the sources. From its sources, the signer would
 *  also load Node's compiler of TypeScript, which takes 25 MB. */
export function signerProgram(stripped = STRIPPED): SignerProgram {
  if (!isBuilt && isCurrent(stripped)) {
    // Node checks its permissions with the paths of files, without symbolic links.
    const folder = realpathSync(stripped)
    return { entry: join(folder, compiledName(SIGNER_ENTRY)), readable: [join(folder, '*')] }
  }
  const entry = fileURLToPath(new URL('./process.ts', import.meta.url))
  const addresses = fileURLToPath(new URL('../addresses.ts', import.meta.url))
  const own = ['..', '../../verifier', '../../../base', '../../../solana'].map((folder) => join(entry, folder, '*'))
  return { entry, readable: [...own, addresses] }
}

/** Returns the name of a module without types, by the name of its source. */
export function compiledName(source: string): string {
  return source.replace(/\.ts$/, '.js')
}

export function hashOf(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex')
}

function isCurrent(folder: string): boolean {
  try {
    const modules = JSON.parse(readFileSync(join(folder, STRIPPED_LIST), 'utf8')) as readonly StrippedModule[]
    return (
      modules.some(({ path }) => path === SIGNER_ENTRY) &&
      modules.every(
        ({ path, sourceHash, hash }) =>
          hashOf(readFileSync(join(SOURCES, path))) === sourceHash &&
          hashOf(readFileSync(join(folder, compiledName(path)))) === hash,
      )
    )
  } catch {
    // The script did not run, or a file is missing or damaged.
    return false
  }
}
