// The files of the page. In a clone of the repository, the modules and libraries are joined and their types are removed
// when the desk starts, so no build step is needed. The published package contains the same files, written by
// scripts/build.ts.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { contentPolicy, pagePolicy } from './content-policy.ts'

export interface PageFile {
  readonly type: string
  readonly body: Buffer
  readonly gzip: Buffer
  readonly etag: string
  /**
   * Whether the file's name contains a hash of its content. Such a file never changes, so a browser may keep it
   * forever.
   */
  readonly isFixed: boolean
  readonly contentPolicy: string
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
}
const FIXED = /-[\w-]{20}\.js$/
const MOST_BYTES = 10_000_000

const built = fileURLToPath(new URL('./page/', import.meta.url))
let files: Promise<ReadonlyMap<string, PageFile>> | undefined

/**
 * All files of the page by the path of their URL. The first call reads them, and later calls return the same files.
 * After a failure, the next call reads them again.
 */
export function pageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  files ??= readFiles().catch((error) => {
    files = undefined
    throw error
  })
  return files
}

async function readFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const texts = existsSync(join(built, 'main.ts')) ? await fromSources() : fromPackage()
  return new Map([...texts].map(([path, text]) => [path, pageFile(path, text)]))
}

function fromPackage(): Map<string, string> {
  const names = readdirSync(built, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = names.map(({ parentPath, name }) => join(parentPath, name))
  return new Map(
    paths.map((path) => [urlOf(path.slice(built.length).replaceAll('\\', '/')), readFileSync(path, 'utf8')]),
  )
}

/** Returns the path at which the published package contains the file of the page with the URL path `url`. */
export function packedName(url: string): string {
  return url === '/' ? 'index.html' : url.slice(1)
}

function urlOf(packed: string): string {
  return packed === 'index.html' ? '/' : `/${packed}`
}

async function fromSources(): Promise<Map<string, string>> {
  const read = (name: string): string => readFileSync(join(built, name), 'utf8')
  const code = Object.entries(await bundled()).map(([name, text]): [string, string] => [`/app/${name}`, text])
  const main = code.find(([path]) => path.startsWith('/app/desk-'))?.[0] ?? ''
  const style = read('desk.css') + readFileSync(inPackage('uplot', 'dist/uPlot.min.css'), 'utf8')
  // The styles are a part of the page, because the browser draws nothing before it has all styles.
  const page = read('index.html')
    .replace('main.js', main)
    .replace('/* desk.css */', () => style)
  return new Map([['/', page], ['/app/licences.txt', licences()], ...code])
}

/** Code of the page by file name. Rejects if a package is missing. */
async function bundled(): Promise<Record<string, string>> {
  const program = fileURLToPath(new URL('./page-bundle.ts', import.meta.url))
  const options = { env: {}, maxBuffer: MOST_BYTES, encoding: 'utf8' } as const
  const { stdout } = await promisify(execFile)(process.execPath, [program], options)
  return JSON.parse(stdout)
}

function inPackage(name: string, file: string): string {
  return join(packageFolder(name), file)
}

/**
 * The folder of the package is searched for, because `require` cannot resolve a package that exports only ES modules.
 */
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
  const policy = path === '/' ? pagePolicy(text) : contentPolicy()
  // A browser that has the file replaces only its policy, so a change of the policy must change the tag too.
  const etag = `"${hashOf(policy + text)}"`
  return { type, body, gzip: gzipSync(body, { level: 9 }), etag, isFixed: FIXED.test(path), contentPolicy: policy }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 20)
}
