import { isBuiltin, registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { PUBLIC_ENTRY } from './package-paths.ts'

/** Packages that every strategy can import, even if its own folder does not contain them. */
const OFFERED = ['zod', 'trading-signals']
/** Modules of Node that only compute: they read no file, process or network. */
const PURE_BUILTINS =
  'assert assert/strict buffer constants crypto events path path/posix path/win32 punycode querystring string_decoder url util util/types zlib'.split(
    ' ',
  )
const CODE = /\.[cm]?[jt]s$/

const strategyFiles = new Set<string>()
/** The imports of each module of a strategy. Key: URL of the module. Value: URL of each imported module, with the
 *  specifier in the import. */
const imports = new Map<string, Map<string, string>>()
/** URLs of the modules that were loaded while a strategy was imported. `imports` contains the imports of these modules.
 *  The imports of a module that was loaded earlier are unknown. */
const loaded = new Set<string>()
let installed = false

/** Prepares the import of a strategy. The file at `url` and its relative imports are then loaded as ES modules,
 *  regardless of any package.json. In these files, an import of `sluice` loads this package, regardless of any
 *  node_modules. A relative import inherits the query of the file that imports it, so that a new instance of a strategy
 *  has new instances of its own modules. */
export function admitStrategy(url: string): void {
  strategyFiles.add(url)
  imports.set(url, new Map())
  if (installed) return
  installed = true
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier === 'sluice') return nextResolve(PUBLIC_ENTRY, context)
      const { parentURL } = context
      const isOwn = parentURL !== undefined && strategyFiles.has(parentURL) && specifier.startsWith('.')
      const found = resolveOffered(
        specifier,
        () => nextResolve(specifier, context),
        () => nextResolve(specifier, { ...context, parentURL: import.meta.url }),
      )
      const resolved = isOwn ? { ...found, url: withQueryOf(found.url, parentURL) } : found
      if (isOwn) strategyFiles.add(resolved.url)
      note(parentURL, resolved.url, specifier)
      const format = strategyFiles.has(resolved.url) ? moduleFormat(resolved.url) : undefined
      return format ? { ...resolved, format } : resolved
    },
    load(url, context, nextLoad) {
      if (imports.has(url)) loaded.add(url)
      return nextLoad(url, context)
    },
  })
}

function note(parent: string | undefined, url: string, specifier: string): void {
  if (parent === undefined) return
  const known = imports.get(parent)
  if (known === undefined) return
  known.set(url, specifier)
  if (!imports.has(url)) imports.set(url, new Map())
}

function withQueryOf(url: string, parent: string): string {
  const query = parent.indexOf('?')
  return query < 0 || url.includes('?') ? url : url + parent.slice(query)
}

/** Resolves a package that Sluice offers: the copy in a node_modules of the importing file if there is one, else the
 *  copy of Sluice. */
function resolveOffered<T>(specifier: string, own: () => T, ours: () => T): T {
  if (!isOffered(specifier)) return own()
  try {
    return own()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    return ours()
  }
}

function isOffered(specifier: string): boolean {
  return OFFERED.some((name) => specifier === name || specifier.startsWith(`${name}/`))
}

function moduleFormat(url: string): string | undefined {
  const path = url.replace(/[?#].*/, '')
  if (/\.m?ts$/.test(path)) return 'module-typescript'
  return /\.m?js$/.test(path) ? 'module' : undefined
}

export function isPureBuiltin(name: string): boolean {
  return PURE_BUILTINS.includes(name.replace(/^node:/, ''))
}

/** Returns, as texts `FILE imports MODULE`, the imports through which a strategy or one of its modules can read data
 *  other than the tape: modules of Node for files, processes or the network; data files; and packages whose own imports
 *  are unknown, because the packages were loaded before the strategy. */
export function outsideImports(file: string): string[] {
  const own = pathToFileURL(file).href
  const found = new Set<string>()
  const seen = new Set<string>()
  const visit = (url: string): void => {
    if (seen.has(url)) return
    seen.add(url)
    for (const [child, specifier] of imports.get(url) ?? []) {
      if (isOffered(specifier) || child === PUBLIC_ENTRY) continue
      if (!isOutside(child)) visit(child)
      else found.add(`${pathOf(url)} imports ${specifier}`)
    }
  }
  for (const url of imports.keys()) if (url.replace(/[?#].*/, '') === own) visit(url)
  return [...found]
}

function isOutside(url: string): boolean {
  if (isBuiltin(url)) return !isPureBuiltin(url)
  return !CODE.test(url.replace(/[?#].*/, '')) || !loaded.has(url)
}

function pathOf(url: string): string {
  return url.startsWith('file:') ? fileURLToPath(url.replace(/[?#].*/, '')) : url.slice(0, 100)
}
