import type { z } from 'zod'
import { keyTextOf } from '../../engine/key-text.ts'
import type { Complaint, Path } from './errors.ts'

type Issue = z.core.$ZodIssue
type RawIssue = z.core.$ZodRawIssue

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly complaints: readonly Complaint[] }

/** Parses a value; returns all complaints of the schema with the messages of this file. */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown): Parsed<T> {
  const result = schema.safeParse(value, { error: wording })
  if (result.success) return { ok: true, value: result.data }
  const complaints = result.error.issues.flatMap((issue) => complaintsOf(issue, []))
  return { ok: false, complaints: complaints.map((one) => withRange(schema, one)) }
}

function complaintsOf(issue: Issue, above: Path): Complaint[] {
  const path = [...above, ...(issue.path as Path)]
  if (issue.code === 'unrecognized_keys') {
    const messages = issue.message.split('\n') // `wording` writes one line for each key
    return issue.keys.map((key, index) => ({
      path: [...path, key],
      message: messages[index] ?? 'unknown key',
      atKey: true,
    }))
  }
  if (issue.code === 'invalid_key') return [{ path, message: issue.issues[0]?.message ?? issue.message, atKey: true }]
  const branch = issue.code === 'invalid_union' ? meantBranch(issue.errors) : undefined
  if (branch) return branch.flatMap((one) => complaintsOf(one, path))
  return [{ path, message: issue.message, atKey: false }]
}

/** Changes a complaint about a number so that it names both limits of the range; zod names only the limit that the
 *  number violates. */
function withRange(schema: z.ZodType, complaint: Complaint): Complaint {
  const { message, path } = complaint
  const range = rangeAt(schema, path)
  if (range === undefined) return complaint
  return { ...complaint, message: message.replace(BOUND, `expected ${range}`) }
}

const BOUND = /^expected (?:at least|more than|at most|less than) [-+.\de]+(?=, found )/

/** Returns a text with the permitted range and the unit of the number at a path; undefined if the number lacks a
 *  minimum or a maximum. `unit`: unit of the number if its own schema declares none. */
function rangeAt(schema: unknown, path: Path, unit = ''): string | undefined {
  const def = defOf(schema)
  if (def === undefined) return undefined
  const own = unitOf(schema as z.ZodType) ?? unit
  if (def.innerType !== undefined) return rangeAt(def.innerType, path, own)
  if (Array.isArray(def.options)) return firstOf(def.options, (option) => rangeAt(option, path, own))
  const [first, ...rest] = path
  if (first !== undefined)
    return rangeAt(
      typeof first === 'number' ? def.element : ((def.shape as Shape | undefined)?.[first] ?? def.valueType),
      rest,
      own,
    )
  if (def.type !== 'number') return undefined
  const bounds = (def.checks as readonly z.core.$ZodCheck[] | undefined)?.map((check) => check._zod.def as BoundCheck)
  const lower = bounds?.findLast(({ check }) => check === 'greater_than')
  const upper = bounds?.findLast(({ check }) => check === 'less_than')
  if (lower === undefined || upper === undefined) return undefined
  const above = `${lower.inclusive ? 'at least' : 'more than'} ${lower.value}`
  return `${above} and ${upper.inclusive ? 'at most' : 'less than'} ${upper.value}${own}`
}

/** Returns ' ' and the unit of a key, as messages show it after a number; '' for a count and for a number without a
 *  unit; undefined if the schema declares no unit. */
function unitOf(schema: z.ZodType): string | undefined {
  const unit = keyTextOf(schema)?.unit
  return unit === undefined ? undefined : ['count', 'unitless'].includes(unit) ? '' : ` ${unit}`
}

interface BoundCheck {
  readonly check: string
  readonly value: number
  readonly inclusive: boolean
}

function firstOf<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns the issues of the branch of a union that the author of the value probably meant: the only branch that
 *  accepts values of the same kind (texts, numbers, lists or maps). undefined if no branch or several branches do. */
function meantBranch(branches: Issue[][]): Issue[] | undefined {
  const meant = branches.filter((issues) => !issues.some(isOfAnotherKind))
  return meant.length === 1 ? meant[0] : undefined
}

function isOfAnotherKind(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value')
}

/** Returns the message of an issue for which the schema has no message of its own. */
function wording(issue: RawIssue): string | undefined {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknownKey(key, shapeOf(issue.inst))).join('\n')
  }
  const expected = expectation(issue as Issue)
  if (!expected) return undefined
  if (issue.input === undefined) return `missing; expected ${expected}`
  return `expected ${expected}, found ${found(issue.input)}${suggestion(issue as Issue, issue.input)}`
}

const KINDS: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map',
  record: 'a map',
  array: 'a list',
}

function expectation(issue: Issue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return KINDS[issue.expected] ?? issue.expected
    case 'invalid_value':
    case 'invalid_union':
      return listOf(choicesOf(issue))
    case 'too_small':
      return bound(issue.origin, issue.inclusive ? 'at least' : 'more than', issue.minimum)
    case 'too_big':
      return bound(issue.origin, issue.inclusive ? 'at most' : 'less than', issue.maximum)
    default:
      return undefined
  }
}

function choicesOf(issue: Issue): string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String)
  if (issue.code === 'invalid_union') return issue.errors.flatMap(([first]) => (first ? choicesOf(first) : []))
  return [expectation(issue) ?? issue.message]
}

/** Types whose minimum and maximum are numbers of entries or of characters. */
const COUNTED = ['string', 'array', 'set', 'map']

function bound(origin: string, comparison: string, limit: number | bigint): string {
  const [one, more] = origin === 'string' ? [' character', ' characters'] : [' entry', ' entries']
  return `${comparison} ${limit}${COUNTED.includes(origin) ? (Number(limit) === 1 ? one : more) : ''}`
}

function listOf(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length > 1 ? `${words.slice(0, -1).join(', ')} or ${last}` : last
}

/** Describes a value in a message. A long text is not repeated, because it may be a misplaced secret. */
export function found(value: unknown): string {
  if (value === null) return 'nothing'
  if (typeof value === 'string')
    return value.length <= 24 ? JSON.stringify(value) : `${value.length} characters of text`
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  return typeof value === 'object' ? 'a map' : String(value)
}

function suggestion(issue: Issue, input: unknown): string {
  if (typeof input !== 'string') return needsQuotes(issue, input) ? '; put it into quotes' : ''
  const words = wordsOf(issue)
  if (words.length > 0) {
    const close = didYouMean(input, words)
    if (close) return close
  }
  const number = takesNumber(issue) ? /^\s*([+-]?\d+(?:\.\d+)?)\s*(?:%|s|sol)?\s*$/i.exec(input)?.[1] : undefined
  return number ? `; write ${Number(number)}` : ''
}

function needsQuotes(issue: Issue, input: unknown): boolean {
  return issue.code === 'invalid_type' && issue.expected === 'string' && ['number', 'boolean'].includes(typeof input)
}

function wordsOf(issue: Issue): string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String)
  return issue.code === 'invalid_union' ? issue.errors.flat().flatMap(wordsOf) : []
}

function takesNumber(issue: Issue): boolean {
  if (issue.code === 'invalid_union') return issue.errors.some(([first]) => first !== undefined && takesNumber(first))
  return issue.code === 'invalid_type' && (issue.expected === 'number' || issue.expected === 'int')
}

type Shape = Record<string, z.ZodType>
/** Largest number of valid keys that the message about an unknown key lists. It lists them only if no valid key
 *  resembles the unknown one. */
const MOST_LISTED = 13

/** Returns the complaints about unknown keys in a strategy's params. zod would drop these keys without an error,
 *  because a `z.object` is not strict. */
export function droppedKeys(schema: unknown, value: unknown, path: Path = []): Complaint[] {
  const def = defOf(schema)
  if (!def || typeof value !== 'object' || value === null) return []
  if (def.innerType) return droppedKeys(def.innerType, value, path)
  if (Array.isArray(value)) return value.flatMap((item, index) => droppedKeys(def.element, item, [...path, index]))
  if (!def.shape || def.catchall) return []
  const shape = def.shape as Shape
  return Object.entries(value).flatMap(([key, item]) =>
    Object.hasOwn(shape, key)
      ? droppedKeys(shape[key], item, [...path, key])
      : [{ path: [...path, key], message: unknownKey(key, shape), atKey: true }],
  )
}

/** Returns the message about an unknown key. Suggests the section that contains the key, else a similar key, else lists
 *  the valid keys. */
function unknownKey(key: string, shape: Shape): string {
  const inside = Object.keys(shape).find((name) => Object.hasOwn(shapeOf(shape[name]), key))
  if (inside) return `unknown key; did you mean ${inside}.${key}?`
  const names = Object.keys(shape)
  const all = names.length === 0 || names.length > MOST_LISTED ? '' : `; expected one of ${names.join(', ')}`
  return `unknown key${didYouMean(key, names) || all}`
}

/** Returns the schemas by key of an object schema, which may be inside an optional or a union; {} for other schemas. */
function shapeOf(schema: unknown): Shape {
  const def = defOf(schema)
  if (def?.shape) return def.shape as Shape
  if (def?.innerType) return shapeOf(def.innerType)
  const options = Array.isArray(def?.options) ? def.options : []
  return Object.assign({}, ...options.map(shapeOf))
}

/** Returns the definition of a schema; undefined if the value is not a schema of zod 4. */
export function defOf(schema: unknown): Record<string, unknown> | undefined {
  return (schema as { _zod?: { def?: Record<string, unknown> } } | null | undefined)?._zod?.def
}

/** Returns the candidate that resembles the word most; undefined if none does. Ignores case, `-`, `_` and spaces. A
 *  word that begins or ends a candidate counts as similar (`stopLoss`, `percent`). */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const bare = plain(word)
  let best: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const other = plain(candidate)
    const longer = Math.max(bare.length, other.length)
    const whole = editDistance(bare, other)
    const distance = Math.min(
      whole <= Math.max(1, longer * 0.4) ? whole : Number.POSITIVE_INFINITY,
      partDistance(bare, other),
    )
    if (distance < least && distance < longer) {
      best = candidate
      least = distance
    }
  }
  return best
}

/** Compares the shorter word with the beginning and with the end of the longer one. If they are equal, or differ in one
 *  letter and the shorter word has at least 7 letters, returns their edit distance plus 1.5. Otherwise returns
 *  Infinity. */
function partDistance(a: string, b: string): number {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  if (short.length < 4) return Number.POSITIVE_INFINITY
  const parts = [0, 1].flatMap((more) => [long.slice(0, short.length + more), long.slice(-short.length - more)])
  const distance = Math.min(...parts.map((part) => editDistance(short, part)))
  return distance <= (short.length < 7 ? 0 : 1) ? distance + 1.5 : Number.POSITIVE_INFINITY
}

/** Returns the text `; did you mean X?`, or '' if no candidate is similar. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const close = nearest(word.slice(0, 60), candidates)
  return close === undefined ? '' : `; did you mean ${close}?`
}

function plain(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, '')
}

/** Returns the Damerau-Levenshtein distance: insertions, deletions, substitutions and swaps of neighbours. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + cost)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, at(beforeLast, j - 2) + 1)
      }
      row.push(least)
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] as number
}
