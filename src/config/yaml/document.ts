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
  type YAMLMap,
} from 'yaml'
import type { Complaint, ConfigError, Position } from './errors.ts'
import { formatPath, type Path } from './errors.ts'
import { flawsOf, isMerge, lowerFirst, syntaxErrors } from './flaws.ts'

/** A YAML file: its value, and the position of each key and value. */
export class ConfigDocument {
  readonly file: string
  /** Contents of the file as plain values; undefined if the text is not YAML. */
  readonly value: unknown
  /** Errors in the syntax of the YAML. */
  readonly errors: ConfigError[] = []
  readonly #document: Document.Parsed
  readonly #lines = new LineCounter()

  constructor(file: string, text: string) {
    this.file = file
    // Duplicate keys are not left to the parser: `flawsOf` reports them with their path, so that the other keys can
    // still be checked.
    this.#document = parseDocument(text.replace(/^\uFEFF/, ''), {
      lineCounter: this.#lines,
      merge: true,
      prettyErrors: false, // a pretty error would quote the line, which may contain a secret
      uniqueKeys: false,
      logLevel: 'error',
    })
    const broken = this.#syntaxErrors(text)
    const flaws = broken.length > 0 ? [] : flawsOf(this.#document)
    this.errors.push(...broken, ...flaws.map(({ path, message, node }) => this.error(path, message, this.#start(node))))
    if (broken.length === 0 && !flaws.some(({ fatal }) => fatal)) this.value = this.#toValue()
  }

  /** Returns the position of a value, or of the innermost existing value around it. */
  locate(path: Path): Position {
    return this.#walk(path).value
  }

  /** Returns the position of a key, or of the innermost existing key on its path. */
  locateKey(path: Path): Position {
    return this.#walk(path).key
  }

  error(path: Path, message: string, place: Position = this.locate(path)): ConfigError {
    return { ...place, path: formatPath(path), message }
  }

  /** Converts a complaint of a schema about the value at the path `above` into an error with its position. */
  complain({ path, message, atKey }: Complaint, above: Path = []): ConfigError {
    const at = [...above, ...path]
    return this.error(at, message, atKey ? this.locateKey(at) : this.locate(at))
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

  #syntaxErrors(text: string): ConfigError[] {
    return syntaxErrors(this.#document, text, this.#lines).map(({ offset, message }) => {
      const { line, col: column } = this.#lines.linePos(offset)
      return { file: this.file, line, column, path: '', message }
    })
  }

  #toValue(): unknown {
    try {
      return this.#document.toJS() ?? {}
    } catch (error) {
      this.errors.push(this.error([], lowerFirst((error as Error).message))) // the file has too many aliases
      return undefined
    }
  }
}
