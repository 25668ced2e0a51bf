import type { z } from 'zod'
import type { Complaint } from './complaint.ts'
import { didYouMean } from './nearest.ts'
import type { Path } from './path.ts'
import { shapeOf, unknownKey } from './unknown-keys.ts'

type Issue = z.core.$ZodIssue
type RawIssue = z.core.$ZodRawIssue

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly complaints: readonly Complaint[] }

/** Everything that `schema` has against `value`, in our words; or the value that it makes of it. */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown): Parsed<T> {
  const result = schema.safeParse(value, { error: wording })
  if (result.success) return { ok: true, value: result.data }
  return { ok: false, complaints: result.error.issues.flatMap((issue) => complaintsOf(issue, [])) }
}

function complaintsOf(issue: Issue, above: Path): Complaint[] {
  const path = [...above, ...(issue.path as Path)]
  if (issue.code === 'unrecognized_keys') {
    const messages = issue.message.split('\n') // one line a key: see `wording`
    return issue.keys.map((key, index) => ({
      path: [...path, key],
      message: messages[index] ?? 'unknown key',
      atKey: true,
    }))
  }
  const branch = issue.code === 'invalid_union' ? meantBranch(issue.errors) : undefined
  if (branch) return branch.flatMap((one) => complaintsOf(one, path))
  return [{ path, message: issue.message, atKey: false }]
}

/** Of the branches of a union the only one that the value has the kind for, if there is one. */
function meantBranch(branches: Issue[][]): Issue[] | undefined {
  const meant = branches.filter((issues) => !issues.some(isOfAnotherKind))
  return meant.length === 1 ? meant[0] : undefined
}

function isOfAnotherKind(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value')
}

/** zod asks this for the message of every issue that the schema itself does not word. */
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

/** Of these a bound counts what is inside. */
const COUNTED = ['string', 'array', 'set', 'map']

function bound(origin: string, comparison: string, limit: number | bigint): string {
  const [one, more] = origin === 'string' ? [' character', ' characters'] : [' entry', ' entries']
  return `${comparison} ${limit}${COUNTED.includes(origin) ? (Number(limit) === 1 ? one : more) : ''}`
}

function listOf(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length > 1 ? `${words.slice(0, -1).join(', ')} or ${last}` : last
}

/** The value as far as it may be repeated: a long text may be a secret in the wrong place. */
export function found(value: unknown): string {
  if (value === null) return 'nothing'
  if (typeof value === 'string')
    return value.length <= 24 ? JSON.stringify(value) : `${value.length} characters of text`
  if (Array.isArray(value)) return 'a list'
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
