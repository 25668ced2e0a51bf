// Checks of plain JSON values, and the encoding of everything that the journal records. A bigint is encoded as
// {"$bigint":"123"}. A key that already looks like `$bigint` gets another $, so that decoding restores the key.

/** A value that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

const MOST_LEVELS = 100
const MOST_VALUES = 1_000_000
const MOST_CHARACTERS = 1_000_000

/** Characters that JSON may escape: control characters, quotes, backslashes and halves of surrogate pairs. */
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/

/** Encodes a value as `JSON.stringify` does, and bigints as well. `JSON.stringify` with a replacer takes three times as
 *  long. */
export function encodeJson(value: unknown): string {
  return encoded(value) as string
}

function encoded(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`
    case 'number':
      return Number.isFinite(value) ? `${value}` : 'null'
    case 'boolean':
      return value ? 'true' : 'false'
    case 'bigint':
      return `{"$bigint":"${value}"}`
    case 'object':
      if (value === null) return 'null'
      return Array.isArray(value) ? encodedList(value) : encodedRecord(value as Record<string, unknown>)
    default:
      return undefined
  }
}

function encodedList(list: readonly unknown[]): string {
  let text = ''
  for (let at = 0; at < list.length; at++) text += `${at === 0 ? '' : ','}${encoded(list[at]) ?? 'null'}`
  return `[${text}]`
}

function encodedRecord(record: Record<string, unknown>): string {
  if (typeof record.toJSON === 'function') return JSON.stringify(record)
  let text = ''
  for (const key of Object.keys(record)) {
    const item = encoded(record[key])
    if (item !== undefined) text += `${text === '' ? '' : ','}${encodedKey(key)}${item}`
  }
  return `{${text}}`
}

/** Largest number of keys whose encoded form is cached. The records of a journal have a few hundred different keys. */
const MOST_KEYS = 1_000
const encodedKeys = new Map<string, string>()

/** Returns the encoded key with its colon. A key that looks like `$bigint` gets another $. */
function encodedKey(key: string): string {
  const known = encodedKeys.get(key)
  if (known !== undefined) return known
  const text = `${JSON.stringify(/^\$+bigint$/.test(key) ? `$${key}` : key)}:`
  if (encodedKeys.size < MOST_KEYS) encodedKeys.set(key, text)
  return text
}

export function decodeJson<T>(text: string): T {
  const value: unknown = JSON.parse(text)
  return (text.includes('bigint":') ? restored(value) : value) as T
}

/** Restores the bigints and the keys of a parsed value, in place. A reviver of `JSON.parse` takes several times as
 *  long. */
function restored(item: unknown): unknown {
  if (typeof item !== 'object' || item === null) return item
  if (Array.isArray(item)) {
    for (let at = 0; at < item.length; at++) item[at] = restored(item[at])
    return item
  }
  const record = item as Record<string, unknown>
  const keys = Object.keys(record)
  const [only] = keys
  if (keys.length === 1 && only === '$bigint' && isInteger(record.$bigint)) return BigInt(record.$bigint)
  let isRenamed = false
  for (const key of keys) {
    const value = record[key]
    if (typeof value === 'object' && value !== null) record[key] = restored(value)
    isRenamed ||= key.startsWith('$$')
  }
  return isRenamed ? renamed(record) : record
}

function isInteger(text: unknown): text is string {
  return typeof text === 'string' && /^-?\d{1,40}$/.test(text)
}

function renamed(record: Record<string, unknown>): Record<string, unknown> {
  const nameOf = (key: string): string => (/^\$\$+bigint$/.test(key) ? key.slice(1) : key)
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [nameOf(key), value]))
}

/** Returns a frozen deep copy of a JSON value. Throws TypeError, with the path, for the first value that JSON cannot
 *  restore. */
export function plainJson(value: unknown, name: string): Json {
  let values = 0
  let characters = 0
  const copy = (item: unknown, path: string, level: number): Json => {
    if (typeof item === 'string') characters += item.length
    if (characters > MOST_CHARACTERS)
      throw new TypeError(`${name} is too large: at most ${MOST_CHARACTERS} characters are allowed`)
    if (item === null || typeof item === 'string' || typeof item === 'boolean') return item
    if (typeof item === 'number' && Number.isFinite(item)) return item === 0 ? 0 : item // JSON has no -0
    if (typeof item !== 'object')
      throw new TypeError(`${path} is ${typeof item === 'number' ? item : typeof item}, which JSON cannot represent`)
    if (level > MOST_LEVELS || ++values > MOST_VALUES) throw new TypeError(`${name} is cyclic or too large`)
    if (Array.isArray(item)) return Object.freeze(Array.from(item, (one, at) => copy(one, `${path}[${at}]`, level + 1)))
    const prototype: unknown = Object.getPrototypeOf(item)
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
      throw new TypeError(`${path} is an instance of a class, which JSON cannot represent`)
    return Object.freeze(
      Object.fromEntries(
        Object.entries(item).map(([key, one]) => {
          characters += key.length
          return [key, copy(one, `${path}.${key}`, level + 1)]
        }),
      ),
    )
  }
  return copy(value, name, 0)
}

/** Returns the approximate number of characters of the encoded value. */
export function sizeOf(value: Json): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 8
  let size = 2
  for (const [key, one] of Object.entries(value)) size += key.length + sizeOf(one as Json)
  return size
}

/** The first place at which two JSON values differ. `path` is '' if the values differ as a whole. */
export interface JsonDifference {
  readonly path: string
  readonly expected: unknown
  readonly got: unknown
}

/** Finds the first difference of two values that are not equal. */
export function jsonDifference(expected: unknown, got: unknown, path = ''): JsonDifference {
  if (typeof expected === 'object' && typeof got === 'object' && expected !== null && got !== null)
    for (const key of [...Object.keys(expected), ...Object.keys(got)]) {
      const [one, other] = [(expected as Record<string, unknown>)[key], (got as Record<string, unknown>)[key]]
      if (JSON.stringify(one) !== JSON.stringify(other))
        return jsonDifference(one, other, path === '' ? key : `${path}.${key}`)
    }
  return { path, expected, got }
}
