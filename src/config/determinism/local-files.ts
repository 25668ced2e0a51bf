import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path/posix'
import { OWN_STRATEGIES, SOURCES } from '../package-paths.ts'

/** Returns the paths of the local code that a module imports. Packages, and Sluice itself, are not examined. */
export function localFiles(file: string, specifiers: readonly string[]): string[] {
  return specifiers.flatMap((specifier) => {
    const path = resolve(dirname(file), specifier)
    if (path.includes('/node_modules/') || (path.startsWith(SOURCES) && !path.startsWith(OWN_STRATEGIES))) return []
    return /^\.{0,2}\/.*\.m?[jt]s$/.test(specifier) && existsSync(path) ? [path] : []
  })
}
