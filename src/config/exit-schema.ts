import { z } from 'zod'
import { EXIT_SCHEMAS, exitProblems } from '../engine/exits/exit-rules.ts'

const none = z.literal('none')
type Schemas = typeof EXIT_SCHEMAS

/** Exits in a strategy file. */
export const exitRules = z
  .strictObject(each((exit) => exit.exactOptional()) as { [K in keyof Schemas]: z.ZodExactOptional<Schemas[K]> })
  .check(({ value, issues }) => {
    for (const { path, message } of exitProblems(value))
      issues.push({ code: 'custom', input: value, path: [...path], message })
  })

const written = z.strictObject(
  each((exit) => z.union([none, exit]).exactOptional()) as {
    [K in keyof Schemas]: z.ZodExactOptional<z.ZodUnion<[typeof none, Schemas[K]]>>
  },
)

/** `defaults.exits`: `none` removes exits of the strategies, one or all. */
export const defaultExits = z.union([none, written])

/** `exits` of a bot: `none` removes exits of the defaults and of the strategy; with `strategy`, its strategy overrides
 *  the defaults. */
export const botExits = z.union([none, z.literal('strategy'), written])

function each(change: (exit: z.ZodType) => z.ZodType): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(EXIT_SCHEMAS).map(([name, exit]) => [name, change(exit)]))
}
