import { type Document, isAlias, isMap, isScalar, isSeq, type Pair } from 'yaml'
import type { Path } from './path.ts'

/** What is wrong with a tree of YAML although its syntax is right. */
export interface Flaw {
  readonly path: Path
  readonly message: string
  /** Where to point. */
  readonly node: unknown
  /** It has no value as plain data. */
  readonly fatal: boolean
}

export function flawsOf(document: Document.Parsed): Flaw[] {
  return [...walk(document, document.contents, [], [])]
}

/** A `<<` pair, whose value's entries count as entries of the map around it. */
export function isMerge({ key }: Pair): boolean {
  return isScalar(key) && typeof key.value === 'symbol'
}

function* walk(document: Document.Parsed, node: unknown, path: Path, above: readonly unknown[]): Generator<Flaw> {
  if (isAlias(node)) {
    const target = node.resolve(document)
    const message = `no anchor &${node.source.slice(0, 24)} before it`
    if (!target) yield { path, message, node, fatal: true }
    else if (above.includes(target)) yield { path, message: 'stands inside what it stands for', node, fatal: true }
  }
  const inside = [...above, node]
  if (isSeq(node))
    for (const [index, item] of node.items.entries()) yield* walk(document, item, [...path, index], inside)
  if (!isMap(node)) return
  yield* repeatedKeys(node.items, path)
  for (const pair of node.items) {
    const { key, value } = pair
    if (!isScalar(key))
      yield { path, message: 'a key is one word, not an alias, a map or a list', node: key, fatal: true }
    const merges = isMerge(pair)
    yield* walk(document, value, merges ? path : [...path, keyText(pair)], inside)
    if (merges && !isMergeable(document, value)) {
      yield { path, message: '<< takes a map, or a list of maps', node: value, fatal: true }
    }
  }
}

function* repeatedKeys(pairs: readonly Pair[], path: Path): Generator<Flaw> {
  const seen = new Set<string>()
  for (const pair of pairs) {
    const key = keyText(pair)
    if (seen.has(key))
      yield { path: [...path, key], message: 'the key stands here twice', node: pair.key, fatal: false }
    seen.add(key)
  }
}

function isMergeable(document: Document.Parsed, value: unknown): boolean {
  const resolved = (node: unknown) => (isAlias(node) ? (node.resolve(document) ?? node) : node)
  const source = resolved(value)
  if (isAlias(source)) return true // said already
  return isMap(source) || (isSeq(source) && source.items.every((item) => isMap(resolved(item))))
}

function keyText({ key }: Pair): string {
  if (isScalar(key)) return typeof key.value === 'symbol' ? '<<' : String(key.value)
  return String(key)
}
