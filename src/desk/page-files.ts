// The files of the desk's page. In a clone they are made of the sources: Node removes the types, so that a clone needs
// no build step. The package holds the same files, written by scripts/build.ts.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { extname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

export interface PageFile {
  readonly type: string
  readonly body: Buffer
  readonly gzip: Buffer
  readonly etag: string
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
}

/** Libraries by the name of their import: the file of the package, and code that makes it a module. An inline import
 *  map is not an option, because the page's policy refuses inline code. */
const LIBRARIES: Readonly<Record<string, { readonly file: string; readonly asModule?: string }>> = {
  preact: { file: 'dist/preact.mjs' },
  'preact/hooks': { file: 'hooks/dist/hooks.mjs' },
  uplot: { file: 'dist/uPlot.iife.min.js', asModule: '\nexport default uPlot\n' },
  'lightweight-charts': { file: 'dist/lightweight-charts.standalone.production.mjs' },
}
const IMPORT = /(\b(?:from|import)\s*\(?\s*)(['"])([^'"\n]+)\2/g
/** `import('./x.ts')`: loaded when it is needed. */
const isLazy = (before: string): boolean => before.includes('(')

const sources = fileURLToPath(new URL('..', import.meta.url))
const built = fileURLToPath(new URL('./page/', import.meta.url))
let files: ReadonlyMap<string, PageFile> | undefined

/** All files of the page by the path of their URL. They are read at the first call and kept. */
export function pageFiles(): ReadonlyMap<string, PageFile> {
  files ??= new Map([...textsOf()].map(([path, text]) => [path, pageFile(path, text)]))
  return files
}

function textsOf(): Map<string, string> {
  return existsSync(join(built, 'main.ts')) ? fromSources() : fromPackage()
}

function fromPackage(): Map<string, string> {
  const names = readdirSync(built, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = names.map(({ parentPath, name }) => join(parentPath, name))
  return new Map(
    paths.map((path) => [urlOf(path.slice(built.length).replaceAll('\\', '/')), readFileSync(path, 'utf8')]),
  )
}

/** Path of a file in the package, by the path of its URL. */
export function packedName(url: string): string {
  return url === '/' ? 'index.html' : url.slice(1)
}

function urlOf(packed: string): string {
  return packed === 'index.html' ? '/' : `/${packed}`
}

function fromSources(): Map<string, string> {
  const { texts, eager } = modules('desk/page/main.ts')
  const read = (name: string): string => readFileSync(join(built, name), 'utf8')
  const preload = eager.map((path) => `<link rel="modulepreload" href="${path}">`).join('\n')
  return new Map([
    ['/', read('index.html').replace('<!--modules-->', preload)],
    // One style sheet: the first paint waits for each.
    ['/app/desk/page/desk.css', read('desk.css') + readFileSync(inPackage('uplot', 'dist/uPlot.min.css'), 'utf8')],
    ['/vendor/licences.txt', licences()],
    ...texts,
  ])
}

/** The module at `entry` and all modules that it imports. `eager`: those that the first picture needs. */
function modules(entry: string): { texts: Map<string, string>; eager: string[] } {
  const texts = new Map<string, string>()
  const eager = new Set<string>()
  const walk = (path: string, isEager: boolean): void => {
    const url = `/app/${path.replace(/\.ts$/, '.js')}`
    if (isEager ? eager.has(url) : texts.has(url)) return
    if (isEager) eager.add(url)
    const code = stripTypeScriptTypes(readFileSync(join(sources, path), 'utf8'))
    const text = code.replaceAll(IMPORT, (_all, before: string, quote: string, name: string) => {
      const isNeeded = isEager && !isLazy(before)
      if (!name.startsWith('.')) return `${before}${quote}${library(name, isNeeded)}${quote}`
      walk(posix.join(posix.dirname(path), name), isNeeded)
      return `${before}${quote}${name.replace(/\.ts$/, '.js')}${quote}`
    })
    texts.set(url, text)
  }
  const library = (name: string, isNeeded: boolean): string => {
    const found = LIBRARIES[name]
    if (found === undefined) throw new Error(`The page imports '${name}', which desk/page-files.ts does not serve.`)
    const url = `/vendor/${name.replace('/', '-')}.js`
    if (isNeeded) eager.add(url)
    if (!texts.has(url)) texts.set(url, libraryText(name, found))
    return url
  }
  walk(entry, true)
  return { texts, eager: [...eager] }
}

function libraryText(name: string, { file, asModule = '' }: (typeof LIBRARIES)[string]): string {
  const text = readFileSync(inPackage(name.split('/')[0] as string, file), 'utf8')
  // A source map is not served; `hooks` imports preact by its name.
  const own = text.replace(/^\/\/# sourceMappingURL=.*$/m, '').replaceAll(/from\s*"preact"/g, 'from"/vendor/preact.js"')
  return own + asModule
}

function inPackage(name: string, file: string): string {
  return join(packageFolder(name), file)
}

/** A package that exports modules only cannot be resolved by `require`, so its folder is searched for. */
function packageFolder(name: string): string {
  const places = createRequire(import.meta.url).resolve.paths(name) ?? []
  const folder = places.map((place) => join(place, name)).find((place) => existsSync(place))
  if (folder === undefined) throw new Error(`The page needs the package ${name}: run \`npm ci\`.`)
  return folder
}

function licences(): string {
  const names = ['preact', 'uplot', 'lightweight-charts']
  return names.map((name) => `${name}\n\n${readFileSync(inPackage(name, 'LICENSE'), 'utf8')}`).join('\n\n')
}

function pageFile(path: string, text: string): PageFile {
  const body = Buffer.from(text)
  const type = TYPES[path === '/' ? '.html' : extname(path)] ?? 'application/octet-stream'
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  return { type, body, gzip: gzipSync(body, { level: 9 }), etag }
}
