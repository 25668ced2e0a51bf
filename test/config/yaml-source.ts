import { isMap, isScalar, isSeq, type Pair, parseDocument, type Scalar } from 'yaml'

export type Path = readonly (string | number)[]

/** A key of a YAML text and its value, by their offsets in the text. */
export interface Entry {
  readonly path: Path
  readonly key: string
  readonly keyAt: number
  /** Start and end of the value (`from`, `to`), without white space at its end. */
  readonly from: number
  readonly to: number
  readonly value: unknown
  /** Offset of the map that contains the entry. */
  readonly above: number
}

/** The text of a configuration, divided into entries. */
export class YamlSource {
  readonly yaml: string
  readonly entries: readonly Entry[]

  constructor(yaml: string) {
    this.yaml = yaml
    this.entries = [...entriesOf(parseDocument(yaml).contents, [], yaml)]
  }

  /** Returns the YAML text in which `by` replaces the characters from `from` to `to`. */
  with({ from, to }: { readonly from: number; readonly to: number }, by: string): string {
    return this.yaml.slice(0, from) + by + this.yaml.slice(to)
  }

  /** Returns the text between the start of the line and the key of the entry. */
  lead({ keyAt }: Entry): string {
    return this.yaml.slice(this.yaml.lastIndexOf('\n', keyAt) + 1, keyAt)
  }

  /** Returns all entries of the YAML map to which an entry belongs, the entry itself included. */
  beside({ path }: Entry): Entry[] {
    return this.entries.filter((other) => pathText(other.path.slice(0, -1)) === pathText(path.slice(0, -1)))
  }
}

function* entriesOf(node: unknown, path: Path, text: string): Generator<Entry> {
  if (isSeq(node)) for (const [index, item] of node.items.entries()) yield* entriesOf(item, [...path, index], text)
  if (!isMap(node)) return
  for (const { key, value } of node.items as Pair<Scalar<string>>[]) {
    const part = value as { range?: [number, number, number]; toJSON?: () => unknown } | null
    const [from = 0, end = 0] = part?.range ?? []
    const own = [...path, key.value]
    yield {
      ...{ path: own, key: key.value, keyAt: key.range?.[0] ?? 0, above: node.range?.[0] ?? 0 },
      ...{ from, to: from + text.slice(from, end).trimEnd().length },
      value: isScalar(value) ? value.value : (part?.toJSON?.() ?? null),
    }
    yield* entriesOf(value, own, text)
  }
}

/** Returns the path in the form `bots[0].params.dropPercent`. */
export function pathText(path: Path): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('')
}
