import { homedir } from 'node:os'
import { resolve } from 'node:path/posix'
import { fileURLToPath } from 'node:url'

// Paths of this package. The package runs from its sources (`src/`, `strategies/`) or built (`dist/`,
// `dist/strategies/`).

const built = !import.meta.url.endsWith('.ts')

/** Extension of this package's code files. */
export const SOURCE_ENDING = built ? '.js' : '.ts'

/** URL of the module that `import ... from 'sluice'` loads. */
export const PUBLIC_ENTRY = new URL(`../index${SOURCE_ENDING}`, import.meta.url).href

/** Folder that contains the code of the package, with a subfolder for each layer ("row") of the architecture. */
export const SOURCES = fileURLToPath(new URL('../', import.meta.url))

/** Folders with the code that decides about orders. At each start, the journal records a hash of the code in these
 *  folders and of the strategies. */
export const DECIDING_ROWS = ['base', 'solana', 'market', 'engine']

/** Folder of the strategies that come with the package. */
export const OWN_STRATEGIES = fileURLToPath(new URL(built ? '../strategies/' : '../../strategies/', import.meta.url))

/** URL of the folder with the joined libraries. In a clone it is inside node_modules, so that npm removes it together
 *  with the libraries. */
export const LIBRARIES = new URL(built ? '../libraries/' : '../../node_modules/.sluice/', import.meta.url).href

export const MANIFEST = fileURLToPath(new URL('../../package.json', import.meta.url))

/** Makes a path absolute: `~` is the home directory, and a relative path is resolved against `cwd`. */
export function expandPath(path: string, cwd: string): string {
  const expanded = path === '~' || path.startsWith('~/') ? homedir() + path.slice(1) : path
  return resolve(cwd, expanded)
}
