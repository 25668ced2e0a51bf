import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import type { ConfigError, Position } from './errors.ts'

export type Path = readonly (string | number)[]

/** One YAML file: its value, and the place of everything in it. */
export class ConfigDocument {
  readonly file: string
  /** Plain values; undefined when it is not YAML. */
  readonly value: unknown
  /** What is wrong with it as YAML. */
  readonly errors: ConfigError[] = []
  readonly #document: Document.Parsed
  readonly #lines = new LineCounter()

  constructor(file: string, text: string) {
    this.file = file
    // uniqueKeys is off because `findDuplicates` can say which key it is and where it stood first.
    this.#document = parseDocument(text.replace(/^\uFEFF/, ''), {
      lineCounter: this.#lines,
      merge: true,
      prettyErrors: false, // they would quote the line, and with it a secret
      uniqueKeys: false,
      logLevel: 'error',
    })
    this.#complain(text)
    if (this.errors.length === 0) this.value = this.#toValue()
    if (this.value !== undefined) this.#findDuplicates(this.#document.contents, [])
  }

  /** The place of a value; where there is none, of the innermost thing around it. */
  locate(path: Path): Position {
    return this.#walk(path).value
  }

  /** The place of a key. */
  locateKey(path: Path): Position {
    return this.#walk(path).key
  }

  error(path: Path, message: string, place: Position = this.locate(path)): ConfigError {
    return { ...place, path: formatPath(path), message }
  }

  #walk(path: Path): { key: Position; value: Position } {
    let node: unknown = this.#document.contents
    let value = this.#start(node)
    let key = value
    for (const segment of path) {
      node = this.#resolve(node)
      const pair = isMap(node) ? this.#pair(node, String(segment)) : undefined
      const next = isSeq(node) ? node.items[Number(segment)] : pair?.value
      if (!pair && next === undefined) break
      key = this.#start(pair?.key ?? next)
      value = next === undefined || next === null ? key : this.#start(next)
      node = next
    }
    return { key, value }
  }

  #pair(map: YAMLMap, key: string): Pair | undefined {
    const own = map.items.findLast((pair) => isScalar(pair.key) && !isMerge(pair) && String(pair.key.value) === key)
    if (own) return own
    for (const { value } of map.items.filter(isMerge)) {
      const sources = this.#resolve(value)
      for (const source of isSeq(sources) ? sources.items : [sources]) {
        const target = this.#resolve(source)
        const found = isMap(target) ? this.#pair(target, key) : undefined
        if (found) return found
      }
    }
    return undefined
  }

  #resolve(node: unknown): unknown {
    return isAlias(node) ? node.resolve(this.#document) : node
  }

  #start(node: unknown): Position {
    const offset = isNode(node) ? (node.range?.[0] ?? 0) : 0
    const { line, col } = this.#lines.linePos(offset)
    return { file: this.file, line: Math.max(1, line), column: Math.max(1, col) }
  }

  /** Syntax errors: one a line, because what follows on the same line mostly follows from it. */
  #complain(text: string): void {
    const lines = text.split('\n')
    for (const error of [...this.#document.errors, ...this.#document.warnings]) {
      const { line, col: column } = this.#lines.linePos(error.pos[0])
      if (this.errors.some((other) => other.line === line)) continue
      const hint = lines[line - 1]?.includes('${') ? '; a secret is written env:NAME, without braces' : ''
      this.errors.push({ file: this.file, line, column, path: '', message: `${inOurWords(error)}${hint}` })
    }
  }

  #toValue(): unknown {
    try {
      const value: unknown = this.#document.toJS()
      if (isCircular(value)) throw new ReferenceError('An alias may not stand inside what it stands for')
      return value ?? {}
    } catch (error) {
      this.errors.push(this.error([], (error as Error).message))
      return undefined
    }
  }

  #findDuplicates(node: unknown, path: Path): void {
    if (isSeq(node)) for (const [index, item] of node.items.entries()) this.#findDuplicates(item, [...path, index])
    if (!isMap(node)) return
    const first = new Map<string, Position>()
    for (const pair of node.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key)
      const place = this.#start(pair.key)
      const before = first.get(key)
      if (before && !isMerge(pair)) {
        this.errors.push(this.error([...path, key], `the key stands here twice; first in line ${before.line}`, place))
      }
      first.set(key, before ?? place)
      this.#findDuplicates(pair.value, [...path, key])
    }
  }
}

/** As in `bots[0].params.dropPercent`. */
export function formatPath(path: Path): string {
  let text = ''
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`
    else if (/^[\w$-]{1,60}$/.test(segment)) text += text ? `.${segment}` : segment
    else text += `[${JSON.stringify(segment.slice(0, 40))}]`
  }
  return text
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && typeof key.value === 'symbol'
}

/** The parser's words, without anything it quotes from the file. */
function inOurWords({ code, message }: YAMLError): string {
  if (code === 'MULTIPLE_DOCS') return 'a second document begins here; one file is one document'
  if (code === 'RESOURCE_EXHAUSTION') return 'nested too deeply'
  if (code === 'BLOCK_AS_IMPLICIT_KEY') return 'a second `: ` or an indented key where one value was expected'
  if (message === 'Implicit map keys need to be followed by map values') return 'expected `key: value`'
  if (message.startsWith('Unexpected')) return `not YAML: ${message.replace(/: [\s\S]*/, '').toLowerCase()}`
  return `not YAML: ${message}`
}

function isCircular(value: unknown, above: ReadonlySet<unknown> = new Set()): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (above.has(value)) return true
  const inside = new Set(above).add(value)
  return Object.values(value).some((item) => isCircular(item, inside))
}
