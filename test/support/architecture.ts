import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** A source file, and what the rules need to know of it. Paths are relative to the repository, with slashes. */
export interface Source {
  path: string
  text: string
  imports: { specifier: string; line: number }[]
  tree: ts.SourceFile
}

const root = fileURLToPath(new URL('../../', import.meta.url))

/** npm packages by where they may be used; `src/` outside `core/` is held by package.json alone. */
const packagesOfCore = ['zod']
const packagesOfStrategies = ['sluice', 'trading-signals']

/** What stands in `src/` itself: the program and what a package is entered by. Like `src/wiring/`, they may see more than one folder. */
const doors = ['bot', 'index', 'main', 'testing'].map((name) => `src/${name}.ts`)

/** The rooms of the wiring, and which others each stands on. Live and backtest never meet but in what both share. */
const roomsBelow: Record<string, readonly string[]> = {
  access: [],
  backtest: [],
  live: ['access'],
  tape: [],
  testing: ['backtest', 'tape'],
}

/** Lines of a function: what fits on a screen. */
const LONGEST_FUNCTION = 70

/** What the determinism bans name, and what to do instead. */
const fromTheRunner = 'time comes from the runner: take `now`, or the time of the row or input, as an argument'
const seeded = 'use the seeded generator (core/random, `bot.random()` in a strategy)'
const synchronous = 'core and strategies are synchronous: return an output, and let the shell (runtime/, service/) wait'
const timers = 'ask for a timer as an output (`bot.every`, `bot.after` in a strategy); it comes back as an input'
const noWorld = 'core knows no machine: let the wiring hand over the value, or a function through a port'
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

/** core/ imports nothing of ours; every other folder core/ and itself; only the wiring and the commands see more. */
export function folderRule(sources: Source[]): string[] {
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
  if (from === 'strategies') return to === from ? undefined : "a strategy imports 'sluice', as a user's own would"
  if (from === 'wiring' && to === 'wiring') return roomImport(path, target)
  if (from === 'wiring' || from === 'commands' || from === to) return undefined
  if (from === 'core') return 'core/ imports nothing of ours: let the wiring hand it over through a port'
  if (from === 'unknown')
    return `only ${doors.join(', ')} stand in src/ itself: put this file into a folder, wiring/ where it joins others`
  if (to === 'core') return undefined
  return `${from}/ imports core/ and itself only: let the wiring or the command hand it over as a value or a function`
}

/** A file beside the rooms is shared by several of them, and stands on none. */
function roomImport(path: string, target: string): string | undefined {
  const [room, other] = [roomOf(path), roomOf(target)]
  if (doors.includes(path) || other === '' || room === other || roomsBelow[room]?.includes(other)) return undefined
  const below = roomsBelow[room] ?? []
  const may = below.length === 0 ? 'no other room' : `only ${below.join(' and ')}`
  return `${posix.dirname(path)}/ stands on ${may} of the wiring: what both need goes beside the rooms`
}

/** Of a file in src/wiring/; '' beside the rooms. */
function roomOf(path: string): string {
  const [, , room = '', file] = path.split('/')
  return file === undefined ? '' : room
}

function packageImport(path: string, specifier: string): string | undefined {
  const from = folderOf(path)
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
  if (from === 'strategies') {
    return packagesOfStrategies.includes(name) ? undefined : `strategies use ${packagesOfStrategies.join(', ')} only`
  }
  if (name === 'sluice') return 'src/ does not import itself by name: import the file'
  if (from === 'core' && !packagesOfCore.includes(name))
    return `core/ uses ${packagesOfCore.join(', ')} only: ${noWorld}`
  return undefined
}

/** Every cycle once, as a path that ends where it began. Type-only imports count: a cycle of types is still one thing in two files. */
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

/** Same rows and inputs, same outputs: core/ and strategies/ may not see time, chance, the machine or a promise. */
export function determinismBans(sources: Source[]): string[] {
  return sources.filter(({ path }) => ['core', 'strategies'].includes(folderOf(path))).flatMap(bansIn)
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
  // The one screen of seams may say what the shell's promises look like; no value of core/ is one.
  const isSeam = path === 'src/core/ports.ts' && name === 'Promise' && ts.isTypeReferenceNode(parent)
  if (isOnlyALabel || isSeam || !Object.hasOwn(bannedNames, name)) return undefined
  return { what: name, instead: bannedNames[name] ?? '' }
}

/** Functions that do not fit on a screen. */
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

function folderOf(path: string): string {
  const [top = '', folder = '', rest] = path.split('/')
  if (top !== 'src') return top
  if (doors.includes(path)) return 'wiring'
  return rest === undefined ? 'unknown' : folder
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
