import { homedir } from 'node:os'
import { resolve } from 'node:path/posix'
import { fileURLToPath } from 'node:url'

// This very package, as sources or as built: `src/` and `strategies/` beside it, or `dist/` with `dist/strategies/` in
// it.

const built = !import.meta.url.endsWith('.ts')

/** How our own files end. */
export const SOURCE_ENDING = built ? '.js' : '.ts'

/** What `import ... from 'sluice'` means. */
export const PUBLIC_ENTRY = new URL(`../index${SOURCE_ENDING}`, import.meta.url).href

/** The folder of the rows. */
export const SOURCES = fileURLToPath(new URL('../', import.meta.url))

/** The rows that decide. Their files, with those of the strategies, make the code hash of a segment. */
export const DECIDING_ROWS = ['base', 'solana', 'market', 'engine']

/** The strategies that come with the package. */
export const OWN_STRATEGIES = fileURLToPath(new URL(built ? '../strategies/' : '../../strategies/', import.meta.url))

export const MANIFEST = fileURLToPath(new URL('../../package.json', import.meta.url))

/** `~` is the home directory; relative paths start at the working directory. */
export function expandPath(path: string, cwd: string): string {
  const expanded = path === '~' || path.startsWith('~/') ? homedir() + path.slice(1) : path
  return resolve(cwd, expanded)
}
