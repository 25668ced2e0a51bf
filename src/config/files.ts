import { homedir } from 'node:os'
import { resolve } from 'node:path/posix'
import { fileURLToPath } from 'node:url'

// Paths of this package, as sources (`src/`, `strategies/`) or as built (`dist/`, `dist/strategies/`).

const built = !import.meta.url.endsWith('.ts')

/** Extension of this package's files. */
export const SOURCE_ENDING = built ? '.js' : '.ts'

/** Target of `import ... from 'sluice'`. */
export const PUBLIC_ENTRY = new URL(`../index${SOURCE_ENDING}`, import.meta.url).href

/** Folder that contains the rows. */
export const SOURCES = fileURLToPath(new URL('../', import.meta.url))

/** Rows that decide. The code hash of a segment covers their files and the strategies. */
export const DECIDING_ROWS = ['base', 'solana', 'market', 'engine']

/** The strategies that come with the package. */
export const OWN_STRATEGIES = fileURLToPath(new URL(built ? '../strategies/' : '../../strategies/', import.meta.url))

export const MANIFEST = fileURLToPath(new URL('../../package.json', import.meta.url))

/** `~` is the home directory; relative paths start at the working directory. */
export function expandPath(path: string, cwd: string): string {
  const expanded = path === '~' || path.startsWith('~/') ? homedir() + path.slice(1) : path
  return resolve(cwd, expanded)
}
