import { existsSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { LIBRARIES } from './package-paths.ts'

/** Libraries that most commands load, and that consist of many modules. */
export const JOINED = ['commander', 'yaml', 'zod'] as const
export type Joined = (typeof JOINED)[number]

/** Makes imports of these libraries load one joined file each, in place of 170 modules, which take 60 ms of processor
 *  time. `scripts/join-libraries.ts` makes the files. A library without a file for its installed version is loaded as
 *  usual. */
export function useJoinedLibraries(folder = LIBRARIES): void {
  const joined = joinedUrls(folder)
  if (joined.size === 0) return
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const found = nextResolve(specifier, context)
      const url = context.conditions?.includes('import') ? joined.get(found.url) : undefined
      return url === undefined ? found : { ...found, url, format: 'module' }
    },
  })
}

/** Finds the libraries whose modules were joined into one file. Returns the URL of this file, by the URL of the main
 *  module of the library. */
export function joinedUrls(folder: string): ReadonlyMap<string, string> {
  const found = JOINED.flatMap((name) => {
    const { url, version } = installed(name)
    const file = new URL(joinedName(name, version), folder)
    return existsSync(file) ? [[url, file.href] as const] : []
  })
  return new Map(found)
}

export function joinedName(name: Joined, version: string): string {
  return `${name}-${version}.js`
}

/** Returns the library that this package imports: the URL of its main module, its folder and its version. */
export function installed(name: Joined): { readonly url: string; readonly folder: string; readonly version: string } {
  const url = import.meta.resolve(name)
  const end = `/node_modules/${name}/`
  const folder = fileURLToPath(url.slice(0, url.lastIndexOf(end) + end.length))
  const { version } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8')) as { version: string }
  return { url, folder, version }
}
