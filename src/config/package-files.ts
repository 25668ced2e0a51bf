import { fileURLToPath } from 'node:url'

// This very package, as sources or as built: `src/` and `strategies/` beside it, or `dist/` with `dist/strategies/` in it.

const built = !import.meta.url.endsWith('.ts')

/** How our own files end. */
export const SOURCE_ENDING = built ? '.js' : '.ts'

/** What `import ... from 'sluice'` means. */
export const PUBLIC_ENTRY = new URL(`../index${SOURCE_ENDING}`, import.meta.url).href

export const CORE_FOLDER = fileURLToPath(new URL('../core/', import.meta.url))

/** The strategies that come with the package. */
export const OWN_STRATEGIES = fileURLToPath(new URL(built ? '../strategies/' : '../../strategies/', import.meta.url))

export const MANIFEST = fileURLToPath(new URL('../../package.json', import.meta.url))
