import type { z } from 'zod'
import type { Complaint } from './complaint.ts'
import { didYouMean } from './nearest.ts'
import type { Path } from './path.ts'

type Shape = Record<string, z.ZodType>

/** Keys that are named where none of them is near. */
const MOST_LISTED = 12

/** Keys that zod would drop without a word, because a strategy's `z.object` is not strict: they are typing errors there too. */
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

/** A key that stands one level too high is shown down; another is compared with those that there are, and where none is near they are named. */
export function unknownKey(key: string, shape: Shape): string {
  const inside = Object.keys(shape).find((name) => Object.hasOwn(shapeOf(shape[name]), key))
  if (inside) return `unknown key; did you mean ${inside}.${key}?`
  const names = Object.keys(shape)
  const all = names.length === 0 || names.length > MOST_LISTED ? '' : `; there are ${names.join(', ')}`
  return `unknown key${didYouMean(key, names) || all}`
}

/** The keys of an object's schema, also of one that is optional or a branch of a union; {} of anything else. */
export function shapeOf(schema: unknown): Shape {
  const def = defOf(schema)
  if (def?.shape) return def.shape as Shape
  if (def?.innerType) return shapeOf(def.innerType)
  const options = Array.isArray(def?.options) ? def.options : []
  return Object.assign({}, ...options.map(shapeOf))
}

/** What a schema is made of; undefined when it is no schema of zod 4. */
export function defOf(schema: unknown): Record<string, unknown> | undefined {
  return (schema as { _zod?: { def?: Record<string, unknown> } } | null | undefined)?._zod?.def
}
