import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type LineCounter,
  type Pair,
  visit,
  type YAMLError,
} from 'yaml'
import type { Path } from './errors.ts'

/** An error in a YAML tree whose syntax is valid. */
export interface Flaw {
  readonly path: Path
  readonly message: string
  /** Node of the YAML tree at which the error is reported. */
  readonly node: unknown
  /** Whether the error prevents the conversion of the tree to plain data. */
  readonly fatal: boolean
}

export function flawsOf(document: Document.Parsed): Flaw[] {
  return [...walk(document, document.contents, [], [])]
}

/** Whether the pair is a `<<` pair, which merges the entries of its value into the map. */
export function isMerge({ key }: Pair): boolean {
  return isScalar(key) && typeof key.value === 'symbol'
}

function* walk(document: Document.Parsed, node: unknown, path: Path, above: readonly unknown[]): Generator<Flaw> {
  if (isAlias(node)) {
    const target = node.resolve(document)
    const message = `the alias has no anchor &${node.source.slice(0, 24)} before it`
    if (!target) yield { path, message, node, fatal: true }
    else if (above.includes(target))
      yield { path, message: 'the alias refers to a value that contains the alias', node, fatal: true }
  }
  const inside = [...above, node]
  if (isSeq(node))
    for (const [index, item] of node.items.entries()) yield* walk(document, item, [...path, index], inside)
  if (!isMap(node)) return
  yield* repeatedKeys(node.items, path)
  for (const pair of node.items) {
    const { key, value } = pair
    if (!isScalar(key))
      yield { path, message: 'expected a plain key, found an alias, a map or a list', node: key, fatal: true }
    const merges = isMerge(pair)
    yield* walk(document, value, merges ? path : [...path, keyText(pair)], inside)
    if (merges && !isMergeable(document, value)) {
      yield { path, message: '<<: expected a map or a list of maps', node: value, fatal: true }
    }
  }
}

function* repeatedKeys(pairs: readonly Pair[], path: Path): Generator<Flaw> {
  const seen = new Set<string>()
  for (const pair of pairs) {
    const key = keyText(pair)
    if (seen.has(key))
      yield { path: [...path, key], message: 'duplicate key; remove one of the two', node: pair.key, fatal: false }
    seen.add(key)
  }
}

function isMergeable(document: Document.Parsed, value: unknown): boolean {
  const resolved = (node: unknown) => (isAlias(node) ? (node.resolve(document) ?? node) : node)
  const source = resolved(value)
  if (isAlias(source)) return true // an invalid alias has its own error
  return isMap(source) || (isSeq(source) && source.items.every((item) => isMap(resolved(item))))
}

function keyText({ key }: Pair): string {
  if (isScalar(key)) return typeof key.value === 'symbol' ? '<<' : String(key.value)
  return String(key)
}

/** Position and message of a syntax error. */
interface SyntaxError {
  readonly offset: number
  readonly message: string
}

/** Returns the syntax errors, at most one for each line, without errors that are only consequences of an earlier
 *  one. */
export function syntaxErrors(document: Document.Parsed, text: string, lines: LineCounter): SyntaxError[] {
  const found: (SyntaxError & { line: number })[] = []
  const all = [...document.errors, ...document.warnings]
  // The parser stops at the deepest bracket and reports each bracket around it, up to thousands, as unclosed.
  const exhausted = all.filter(({ code }) => code === 'RESOURCE_EXHAUSTION')
  const errors = exhausted.length > 0 ? exhausted : all
  for (const error of errors) {
    const { offset, message } = placed(error, errors, document, text, lines)
    const { line } = lines.linePos(offset)
    const isLost = error.code === 'BAD_INDENT' && errors.some(({ code }) => code === 'TAB_AS_INDENT')
    const follows = found.length > 0 && (error.code === 'UNEXPECTED_TOKEN' || isLost)
    const isPart = error.code === 'MULTILINE_IMPLICIT_KEY' && errors.some((other) => isSameKey(other, error))
    if (follows || isPart || found.some((other) => other.line === line)) continue
    const hint = text.slice(lineStart(text, offset)).split('\n', 1)[0]?.includes('\x24{')
      ? '; write a secret as env:NAME, without braces'
      : ''
    found.push({ line, offset, message: `${message}${hint}` })
  }
  return found
}

/** Returns the message of a syntax error, and the position of its cause. The parser may have noticed the error at
 *  another position. */
function placed(
  error: YAMLError,
  errors: readonly YAMLError[],
  document: Document.Parsed,
  text: string,
  lines: LineCounter,
): SyntaxError {
  const deeper = errors.find((other) => other.code === 'MULTILINE_IMPLICIT_KEY' && isSameKey(error, other))
  if (deeper !== undefined)
    return {
      offset: wordAt(text, deeper.pos[1]),
      message: 'this line is indented further than the key before it, but that key already has a value',
    }
  if (error.message === 'All mapping items must start at the same column') {
    const offset = wordAt(text, error.pos[0])
    const { line, col } = lines.linePos(firstKeyBeside(document, offset) ?? offset)
    return {
      offset,
      message: `not YAML: ${lowerFirst(error.message)}; the first key of this map is on line ${line} (column ${col})`,
    }
  }
  return { offset: startOfUnclosed(document, error) ?? error.pos[0], message: inOurWords(error) }
}

/** Whether two errors concern the same key. The parser reports two errors at a value if the next line is indented like
 *  a key inside this value. */
function isSameKey(one: YAMLError, other: YAMLError): boolean {
  return one.code === 'BLOCK_AS_IMPLICIT_KEY' && one.pos[0] === other.pos[0]
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

/** Returns the offset of the first word on the line, or on the next line that is not a comment. */
function wordAt(text: string, offset: number): number {
  const start = lineStart(text, offset)
  return start + (/^(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*/.exec(text.slice(start))?.[0].length ?? 0)
}

/** Finds the map that has a key at `offset`, and returns the offset of its first key; undefined if no map has a key
 *  there. */
function firstKeyBeside(document: Document.Parsed, offset: number): number | undefined {
  let first: number | undefined
  visit(document, {
    Map(_key, { items }) {
      const starts = items.map(({ key }) => (isNode(key) ? key.range?.[0] : undefined))
      if (starts.includes(offset)) first = starts[0]
    },
  })
  return first
}

/** Returns the offset of the quote or bracket that is not closed; undefined for other errors. */
function startOfUnclosed(document: Document.Parsed, { code, message, pos }: YAMLError): number | undefined {
  const quote = code === 'MISSING_CHAR' && message.startsWith('Missing closing')
  const bracket = /end with a [\]}]/.test(message)
  if (!quote && !bracket) return undefined
  let start: number | undefined
  visit(document, {
    Node(_key, node) {
      const [from = 0, , to = 0] = node.range ?? []
      const opens = isScalar(node)
        ? quote && node.type?.startsWith('QUOTE')
        : bracket && isCollection(node) && node.flow
      if (opens && from < pos[0] && to >= pos[0]) start = from
    },
  })
  return start
}

/** Returns the message of the parser, without the text that it quotes from the file. */
function inOurWords({ code, message }: YAMLError): string {
  if (code === 'MULTIPLE_DOCS') return 'a second document begins here; write one document per file'
  if (code === 'RESOURCE_EXHAUSTION') return 'the file is nested too deeply'
  if (code === 'BLOCK_AS_IMPLICIT_KEY') return 'expected one value, found a second `: ` or an indented key'
  if (message === 'Implicit map keys need to be followed by map values') return 'expected `key: value`'
  if (message.startsWith('Unexpected')) return `not YAML: ${message.replace(/: [\s\S]*/, '').toLowerCase()}`
  return `not YAML: ${lowerFirst(message)}`
}

export function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
