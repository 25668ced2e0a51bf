import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** A source file with the data that the rules need. Paths are relative to the repository, with slashes. */
export interface Source {
  path: string
  text: string
  imports: { specifier: string; line: number }[]
  tree: ts.SourceFile
}

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * The layers (rows) of folders, from the top. A folder of `src/` imports only from layers below its own, never from its
 * own layer.
 */
export const ROWS: readonly (readonly string[])[] = [
  ['main.ts', 'index.ts', 'testing.ts'],
  ['commands'],
  ['desk', 'fleet', 'testing'],
  ['live', 'backtest'],
  ['runtime'],
  ['venues', 'chain', 'journal', 'simulation', 'config', 'sandbox'],
  ['orders'],
  ['engine'],
  ['market', 'solana'],
  ['base'],
]

/** The pure layers (synchronous, deterministic, no clock, no I/O), with the npm packages that each may use. */
const PURE: Readonly<Record<string, readonly string[]>> = {
  base: [],
  solana: [],
  market: [],
  engine: ['zod'],
  orders: [],
}
const PACKAGES_OF_STRATEGIES = ['sluice', 'trading-signals']

/** Files that declare disk, network and processes as types only. They may name `Promise`, although the pure layers that
 *  import these types may not use promises. */
const PORTS = ['src/base/machine.ts']

/** Maximum lines of a function. */
const LONGEST_FUNCTION = 70

/** Names that the determinism bans forbid, with the replacement. */
const fromTheRunner = 'time comes from the runner: take `now`, or the time of the row or input, as an argument'
const seeded = 'use the seeded generator (base/random, `bot.random()` in a strategy)'
const synchronous = 'pure layers and strategies are synchronous: return an output or an effect, and let an adapter wait'
const timers = 'ask for a timer as an output (`bot.every`, `bot.after` in a strategy); it comes back as an input'
const noWorld = 'a pure layer does not use the machine: take the value as an argument, or call a function of a port'
const noLocale = 'locales differ between machines: compare with < and >, format in commands/'
const bannedNames: Record<string, string> = {
  Date: fromTheRunner,
  performance: fromTheRunner,
  crypto: seeded,
  setTimeout: timers,
  setInterval: timers,
  setImmediate: timers,
  queueMicrotask: synchronous,
  Promise: synchronous,
  process: noWorld,
  fetch: noWorld,
  globalThis: noWorld,
  Intl: noLocale,
}
const bannedMembers: Record<string, string> = {
  localeCompare: noLocale,
  toLocaleString: noLocale,
  toLocaleLowerCase: noLocale,
  toLocaleUpperCase: noLocale,
}

export function readSources(...folders: string[]): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(new URL(`../../${folder}/`, import.meta.url), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.ts'))
      .sort()
      .map((path) => source(path, readFileSync(posix.join(root, path), 'utf8'))),
  )
}

export function source(path: string, text: string): Source {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true)
  const imports: Source['imports'] = []
  visit(tree, (node) => {
    const specifier = specifierOf(node)
    if (specifier) imports.push({ specifier: specifier.text, line: lineOf(tree, specifier) })
  })
  return { path, text, imports, tree }
}

/** Checks that a folder imports only from the layers below it. */
export function rowRule(sources: Source[]): string[] {
  return sources.flatMap(({ path, imports }) =>
    imports.flatMap(({ specifier, line }) => {
      const complaint = specifier.startsWith('.')
        ? relativeImport(path, resolve(path, specifier))
        : packageImport(path, specifier)
      return complaint ? [`${path}:${line} imports '${specifier}': ${complaint}`] : []
    }),
  )
}

function relativeImport(path: string, target: string): string | undefined {
  const from = folderOf(path)
  const to = folderOf(target)
  if (from === to) return undefined
  if (from === 'strategies') return "a strategy imports 'sluice', as a user's own strategy would"
  const [above, below] = [rowOf(from), rowOf(to)]
  if (above === undefined) return `${from} belongs to no layer: put the file into a folder of the table ROWS`
  if (below === undefined) return `${to} belongs to no layer: put the file into a folder of the table ROWS`
  if (above < below) return undefined
  const why = above === below ? `${to} belongs to the same layer` : `${to} belongs to a layer above ${from}`
  return `${why}: move what both need into a layer below, or let the caller pass it in as a value or a function`
}

/** Returns the index of the layer, from the top; undefined for a folder without a layer. */
function rowOf(folder: string): number | undefined {
  const row = ROWS.findIndex((folders) => folders.includes(folder))
  return row < 0 ? undefined : row
}

function packageImport(path: string, specifier: string): string | undefined {
  const from = folderOf(path)
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
  if (from === 'strategies') {
    const allowed = PACKAGES_OF_STRATEGIES
    return allowed.includes(name) ? undefined : `strategies use only ${allowed.join(', ')}`
  }
  if (name === 'sluice') return 'src/ does not import itself by name: import the file'
  const allowed = PURE[from]
  if (allowed === undefined || allowed.includes(name)) return undefined
  return `${from}/ uses ${allowed.length === 0 ? 'no package' : `only ${allowed.join(', ')}`}: ${noWorld}`
}

/** The page of the desk runs in a browser. The desk serves the modules that the page imports, and these libraries. */
const PAGE = 'src/desk/page/'
const PACKAGES_OF_PAGE = ['preact', 'preact/hooks', 'uplot', 'lightweight-charts']
/** Modules outside of src/desk/page whose code the page of the desk may load. They are pure: the same input gives the
 *  same output. */
const MODULES_OF_PAGE = [
  'src/base/text.ts',
  'src/market/bar-width.ts',
  'src/runtime/time-text.ts',
  'src/runtime/view/apply-change.ts',
  'src/runtime/view/wallet-sums.ts',
]
const TYPES_OF_PAGE = ['src/base/units.ts', 'src/desk/api/types.ts', 'src/runtime/view/view.ts']

/** Checks that the page loads no module of the process, and that the process loads no module of the page. */
export function pageRule(sources: Source[]): string[] {
  return sources.flatMap(({ path, imports, tree }) => {
    const typesOnly = new Set(
      tree.statements
        .filter((one) => ts.isImportDeclaration(one) && one.importClause?.isTypeOnly === true)
        .map((one) => lineOf(tree, (one as ts.ImportDeclaration).moduleSpecifier)),
    )
    return imports.flatMap(({ specifier, line }) => {
      const target = specifier.startsWith('.') ? resolve(path, specifier) : specifier
      const complaint = path.startsWith(PAGE) ? fromPage(target, typesOnly.has(line)) : intoPage(target)
      return complaint === undefined ? [] : [`${path}:${line} imports '${specifier}': ${complaint}`]
    })
  })
}

function fromPage(target: string, isType: boolean): string | undefined {
  if (target.startsWith(PAGE) || MODULES_OF_PAGE.includes(target) || PACKAGES_OF_PAGE.includes(target)) return undefined
  if (!TYPES_OF_PAGE.includes(target)) return `the page of the desk imports only ${TYPES_OF_PAGE.join(', ')} as types`
  return isType ? undefined : 'the page of the desk imports only types from there: write `import type`'
}

function intoPage(target: string): string | undefined {
  return target.startsWith(PAGE) ? 'the page of the desk runs in a browser: move what both need below it' : undefined
}

/** Returns every cycle of imports once, as a path that ends where it began. Imports of types count as well. */
export function cycles(sources: Source[]): string[] {
  const byPath = new Map(sources.map((one) => [one.path, one]))
  const done = new Set<string>()
  const found: string[] = []
  const walk = (path: string, trail: string[]) => {
    const seenAt = trail.indexOf(path)
    if (seenAt >= 0) found.push([...trail.slice(seenAt), path].join(' -> '))
    if (seenAt >= 0 || done.has(path)) return
    for (const { specifier } of byPath.get(path)?.imports ?? []) {
      const target = resolve(path, specifier)
      if (byPath.has(target)) walk(target, [...trail, path])
    }
    done.add(path)
  }
  for (const { path } of sources) walk(path, [])
  return found.map((cycle) => `${cycle}: move what both need into the file that needs less, or into one of its own`)
}

/**
 * Checks that pure layers and strategies use no clock, random numbers, files, network or promises, so that equal inputs
 * give equal outputs.
 */
export function determinismBans(sources: Source[]): string[] {
  return sources.filter(({ path }) => folderOf(path) === 'strategies' || isPure(path)).flatMap(bansIn)
}

function isPure(path: string): boolean {
  return Object.hasOwn(PURE, folderOf(path))
}

function bansIn({ path, tree }: Source): string[] {
  const found: string[] = []
  visit(tree, (node) => {
    const ban = banOf(node, path)
    if (ban) found.push(`${path}:${lineOf(tree, node)} uses ${ban.what}: ${ban.instead}`)
  })
  return found
}

function banOf(node: ts.Node, path: string): { what: string; instead: string } | undefined {
  if (ts.isAwaitExpression(node)) return { what: 'await', instead: synchronous }
  if (node.kind === ts.SyntaxKind.AsyncKeyword) return { what: 'async', instead: synchronous }
  if (!ts.isIdentifier(node)) return undefined
  const name = node.text
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) {
    const member = `${parent.expression.getText()}.${name}`
    if (member === 'Math.random') return { what: member, instead: seeded }
    return Object.hasOwn(bannedMembers, name) ? { what: name, instead: bannedMembers[name] ?? '' } : undefined
  }
  const isOnlyALabel =
    (ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent) || ts.isPropertyDeclaration(parent)) &&
    parent.name === node
  const isPort = PORTS.includes(path) && name === 'Promise' && ts.isTypeReferenceNode(parent)
  if (isOnlyALabel || isPort || !Object.hasOwn(bannedNames, name)) return undefined
  return { what: name, instead: bannedNames[name] ?? '' }
}

/** Returns the functions that are too long. */
export function tooLong(sources: Source[]): string[] {
  return sources.flatMap(({ path, tree }) => {
    const found: string[] = []
    visit(tree, (node) => {
      if (!ts.isFunctionLike(node) || !('body' in node) || !node.body) return
      const lines = tree.getLineAndCharacterOfPosition(node.getEnd()).line + 2 - lineOf(tree, node)
      if (lines <= LONGEST_FUNCTION) return
      const name = node.name?.getText() ?? 'a function'
      found.push(`${path}:${lineOf(tree, node)}: ${name} has ${lines} lines, ${LONGEST_FUNCTION} at most: split it`)
    })
    return found
  })
}

export function leftForLater(sources: Source[]): string[] {
  return sources.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, i) => {
      const word = /\b(TO[D]O|FIX[M]E)\b/.exec(line)?.[0]
      return word ? [`${path}:${i + 1} says ${word}: do it, or open an issue and say why it can wait`] : []
    }),
  )
}

/** Returns the folder of `src/` that contains a file; for a file in `src/` itself, the name of the file. */
function folderOf(path: string): string {
  const [top = '', folder = ''] = path.split('/')
  return top === 'src' ? folder : top
}

function resolve(path: string, specifier: string): string {
  return posix.normalize(posix.join(posix.dirname(path), specifier))
}

function specifierOf(node: ts.Node): ts.StringLiteral | undefined {
  const candidate =
    ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
      ? node.moduleSpecifier
      : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
        ? node.arguments[0]
        : ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)
          ? node.argument.literal
          : undefined
  return candidate && ts.isStringLiteral(candidate) ? candidate : undefined
}

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node)
  ts.forEachChild(node, (child) => visit(child, see))
}

function lineOf(tree: ts.SourceFile, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart()).line + 1
}
