import { ERRORS } from '../../src/base/errors.ts'
import { docstring, type EntryPoint, isUnitless, Kind, type Reflection, type Type } from './reflections.ts'

// The rules for docstrings of everything that the package exports. A number without a unit is the mistake that costs
// money: 5 may be percent, SOL or seconds.

/** Words that name the unit of a number. `number of` and `count` are the unit of a count. */
export const UNIT =
  /\b(SOL|USD|lamports?|percent|percentage|seconds?|minutes?|hours?|ms|milliseconds?|whole tokens?|tokens?|numbers? of|counts?|index|share)\b|\d+ (s|ms)\b|%/i

/** Words that state the range of a number that the user sets. */
const RANGES = /\d|\b(positive|at least|at most|up to|above|below|any)\b/

/** Matches the names of types whose fields the user sets. */
const GIVEN = /(Options|Rules|Step|Stale|Plan)$/

/** Names of the types that requests return if they may be refused. */
const ANSWERS = ['Placed', 'Answer']

export interface Finding {
  /** Place in the sources, for example `src/engine/strategy.ts:12`. */
  readonly place: string
  readonly message: string
}

/** Every place where a docstring is missing, or lacks the unit, the range or the errors of its member. */
export function findingsOf(entryPoints: readonly EntryPoint[]): Finding[] {
  return entryPoints.flatMap(({ exports }) => exports.flatMap((one) => findings(one, one.name, '')))
}

/** Findings of a member and of the members inside it. `above`: the docstring of the enclosing member. If it mentions
 *  the name of this member, it counts as the docstring of this member. */
function findings(one: Reflection, path: string, above: string): Finding[] {
  if (one.inheritedFrom !== undefined || one.kind === Kind.constructor) return []
  const own = docstring(one)
  const text = own === '' && mentions(above, one.name) ? above : own
  const problems =
    text === '' ? ['has no docstring'] : [...numberProblems(one, path, text), ...answerProblems(one, text)]
  const inside = insideOf(one).flatMap((part) => findings(part, `${path}.${part.name}`, text))
  return [...problems.map((problem) => ({ place: placeOf(one), message: `${path} ${problem}` })), ...inside]
}

function mentions(text: string, name: string): boolean {
  return text.includes(`\`${name}\``)
}

function numberProblems(one: Reflection, path: string, text: string): string[] {
  if (isUnitless(one)) return []
  const numbers = [...(one.signatures?.[0]?.parameters ?? []), ...(isValue(one) ? [one] : [])].filter(
    ({ type }) => type !== undefined && hasNumber(type),
  )
  const isGiven = one.signatures !== undefined || path.split('.').some((name) => GIVEN.test(name))
  if (numbers.length > 0 && !UNIT.test(text)) return ['is a number: its docstring must name the unit, or say @unitless']
  if (numbers.length > 0 && isGiven && !RANGES.test(text))
    return ['is given by the user: its docstring must name the range']
  const result = one.signatures?.[0]?.type ?? one.getSignature?.type
  if (result !== undefined && hasNumber(result) && !UNIT.test(text))
    return ['returns a number: its docstring must name the unit, or say @unitless']
  return []
}

function answerProblems(one: Reflection, text: string): string[] {
  const result = one.signatures?.[0]?.type ?? (isValue(one) ? one.type : one.getSignature?.type)
  if (result === undefined) return []
  const unknown = [...text.matchAll(/\(([A-Z]+(?:_[A-Z]+)+)\)/g)].filter(
    ([, code = '']) => !Object.hasOwn(ERRORS, code),
  )
  if (unknown.length > 0) return [`names ${unknown.map(([, code]) => code).join(', ')}, which is no error code`]
  if (
    one.signatures &&
    result.type === 'reference' &&
    ANSWERS.includes(result.name) &&
    !/\b[A-Z]+_[A-Z_]+\b/.test(text)
  )
    return ['may be refused: its docstring must name the error codes']
  if (includesUndefined(result) && !/\bundefined\b/i.test(text))
    return ['may be undefined: its docstring must say when']
  return []
}

function isValue({ kind }: Reflection): boolean {
  return kind === Kind.property || kind === Kind.variable
}

/** Returns the members of an interface or a class, and the members of object types that are written in the declaration
 *  of a value, a parameter or a result. */
function insideOf(one: Reflection): readonly Reflection[] {
  const result = one.signatures?.[0]
  const parts = [one.type, result?.type, ...(result?.parameters ?? []).map(({ type }) => type)]
  return [...(one.children ?? []), ...parts.flatMap((type) => (type === undefined ? [] : membersOf(type)))]
}

function membersOf(type: Type): readonly Reflection[] {
  return partsOf(type).flatMap((part) => (part.type === 'reflection' ? (part.declaration.children ?? []) : []))
}

/** Whether a value of the type is a number or a list of numbers. Names of types such as `Millis` are units. */
function hasNumber(type: Type): boolean {
  return partsOf(type).some((part) => part.type === 'intrinsic' && (part.name === 'number' || part.name === 'bigint'))
}

/** The types inside a union, an intersection or a list; otherwise the type itself. */
function partsOf(type: Type): readonly Type[] {
  switch (type.type) {
    case 'union':
    case 'intersection':
      return type.types.flatMap(partsOf)
    case 'array':
      return partsOf(type.elementType)
    case 'typeOperator':
      return partsOf(type.target)
    default:
      return [type]
  }
}

function includesUndefined(type: Type): boolean {
  return type.type === 'union' && type.types.some((one) => one.type === 'intrinsic' && one.name === 'undefined')
}

function placeOf({ sources, signatures, getSignature }: Reflection): string {
  const [source] = sources ?? signatures?.[0]?.sources ?? getSignature?.sources ?? []
  return source === undefined ? 'src' : `src/${source.fileName}:${source.line}`
}
