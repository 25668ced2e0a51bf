import { registerHooks } from 'node:module'
import { PUBLIC_ENTRY } from './package-files.ts'

/** Packages that a strategy may count on, installed beside it or not. */
const OFFERED = ['zod', 'trading-signals']

const strategyFiles = new Set<string>()
let installed = false

/** From now on the file at `url`, and what it imports by relative paths, is read as an ES module whatever package.json stands above it,
 *  and finds this very package as `sluice`: wherever it lies, with or without a node_modules of its own. */
export function admitStrategy(url: string): void {
  strategyFiles.add(url)
  if (installed) return
  installed = true
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier === 'sluice') return nextResolve(PUBLIC_ENTRY, context)
      const fromStrategy = context.parentURL !== undefined && strategyFiles.has(context.parentURL)
      const resolved = resolveOffered(
        specifier,
        () => nextResolve(specifier, context),
        () => nextResolve(specifier, { ...context, parentURL: import.meta.url }),
      )
      if (fromStrategy && specifier.startsWith('.')) strategyFiles.add(resolved.url)
      const format = strategyFiles.has(resolved.url) ? moduleFormat(resolved.url) : undefined
      return format ? { ...resolved, format } : resolved
    },
  })
}

/** The file's own copy first, else ours. */
function resolveOffered<T>(specifier: string, own: () => T, ours: () => T): T {
  if (!OFFERED.some((name) => specifier === name || specifier.startsWith(`${name}/`))) return own()
  try {
    return own()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    return ours()
  }
}

function moduleFormat(url: string): string | undefined {
  const path = url.replace(/[?#].*/, '')
  if (/\.m?ts$/.test(path)) return 'module-typescript'
  return /\.m?js$/.test(path) ? 'module' : undefined
}
