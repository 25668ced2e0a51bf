import type { z } from 'zod'

/** The description of a key of the YAML. The JSON Schema, the reference of all keys and the messages of `sluice check`
 *  show it. */
export interface KeyText {
  /** Description of the key in one sentence or more. */
  readonly about: string
  /** Unit of a number; `unitless` for a number such as a seed. */
  readonly unit?: string
  /** Default value of the key, in the unit of the YAML. */
  readonly default?: unknown
  /** Effect of leaving out a key that has no default value, for example `no limit`. */
  readonly absent?: string
}

/** Adds the text to the schema of a key. */
export function described<S extends z.ZodType>(schema: S, text: KeyText): S {
  return schema.meta({ ...text })
}

/** Returns the text of a schema; undefined if the schema has none. */
export function keyTextOf(schema: z.ZodType): KeyText | undefined {
  return schema.meta() as KeyText | undefined
}

/** Schema of an optional key with its text. */
export function key<S extends z.ZodType>(
  schema: S,
  about: string,
  more: Omit<KeyText, 'about'> = {},
): z.ZodExactOptional<S> {
  return described(schema, { about, ...more }).exactOptional()
}
