import { isDeepStrictEqual } from 'node:util'

type Schema = Readonly<Record<string, unknown>>

const ANNOTATIONS = ['$schema', 'title', 'description', 'default', 'x-unit']

const KEYWORDS: Readonly<Record<string, (expected: never, value: unknown, schema: Schema) => boolean>> = {
  type: (type: string, value) => typeOf(value) === type || (type === 'number' && typeOf(value) === 'integer'),
  const: (expected: unknown, value) => isDeepStrictEqual(expected, value),
  enum: (list: unknown[], value) => list.includes(value),
  minimum: (bound: number, value) => typeof value !== 'number' || value >= bound,
  maximum: (bound: number, value) => typeof value !== 'number' || value <= bound,
  exclusiveMinimum: (bound: number, value) => typeof value !== 'number' || value > bound,
  exclusiveMaximum: (bound: number, value) => typeof value !== 'number' || value < bound,
  minLength: (bound: number, value) => typeof value !== 'string' || value.length >= bound,
  maxLength: (bound: number, value) => typeof value !== 'string' || value.length <= bound,
  pattern: (pattern: string, value) => typeof value !== 'string' || new RegExp(pattern, 'u').test(value),
  minItems: (bound: number, value) => !Array.isArray(value) || value.length >= bound,
  maxItems: (bound: number, value) => !Array.isArray(value) || value.length <= bound,
  items: (item: Schema, value) => !Array.isArray(value) || value.every((one) => fits(item, one)),
  required: (names: string[], value) => !isMap(value) || names.every((name) => Object.hasOwn(value, name)),
  properties: (properties: Record<string, Schema>, value) =>
    !isMap(value) ||
    Object.entries(properties).every(([name, one]) => !Object.hasOwn(value, name) || fits(one, value[name])),
  propertyNames: (names: Schema, value) => !isMap(value) || Object.keys(value).every((name) => fits(names, name)),
  additionalProperties: (rest: Schema | boolean, value, { properties = {} }) =>
    !isMap(value) ||
    Object.entries(value).every(
      ([name, one]) =>
        Object.hasOwn(properties as object, name) || (typeof rest === 'boolean' ? rest : fits(rest, one)),
    ),
  anyOf: (branches: Schema[], value) => branches.some((branch) => fits(branch, value)),
  allOf: (branches: Schema[], value) => branches.every((branch) => fits(branch, value)),
  if: (condition: Schema, value, { then = {} }) => !fits(condition, value) || fits(then as Schema, value),
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
  then: () => true, // judged by `if`
}

/**
 * Returns whether a value matches a JSON Schema, for those keywords of draft 7 that our schemas use. Throws for other
 * keywords, so that none is ignored.
 */
export function fits(schema: Schema, value: unknown): boolean {
  return Object.entries(schema).every(([keyword, expected]) => {
    if (ANNOTATIONS.includes(keyword)) return true
    const check = KEYWORDS[keyword]
    if (check === undefined) throw new Error(`the keyword ${keyword} is not checked here`)
    return check(expected as never, value, schema)
  })
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeOf(value) === 'object'
}
