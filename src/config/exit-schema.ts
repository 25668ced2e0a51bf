import { z } from 'zod'
import { LEAST_PERCENT, LEAST_SECONDS } from '../engine/bounds.ts'
import { exitProblems, MOST_STEPS } from '../engine/exits/exit-request.ts'
import { EXIT_WINDOWS, type ExitRules, STALE_POLICIES } from '../engine/exits/exit-rules.ts'

const none = z.literal('none')
const under = z.number().min(LEAST_PERCENT).lt(100)
const gain = z.number().min(LEAST_PERCENT).max(1e6)
const holdSeconds = z.number().min(LEAST_SECONDS).max(1e9)

/** Each by itself; what is wrong together is `exitProblems`. */
const EXITS = {
  stopLossPercent: under,
  takeProfitPercent: gain,
  takeProfitSteps: z
    .array(z.strictObject({ atPercent: gain, sellPercent: z.number().min(LEAST_PERCENT).max(100) }))
    .min(1)
    .max(MOST_STEPS),
  trailingPercent: under,
  trailingArmPercent: gain,
  breakEvenAtPercent: gain,
  maxHoldSeconds: holdSeconds,
  idleSeconds: holdSeconds,
  whenStale: z.strictObject({ policy: z.enum(STALE_POLICIES), afterSeconds: holdSeconds }),
  windowPrints: z.literal(EXIT_WINDOWS),
} satisfies Record<Exclude<keyof ExitRules, 'stopPrice' | 'takeProfitPrice'>, z.ZodType>
type Exits = typeof EXITS

/** The exits of a position, as a strategy gives them. */
export const exitRules = z
  .strictObject(each((exit) => exit.exactOptional()) as { [K in keyof Exits]: z.ZodExactOptional<Exits[K]> })
  .check(({ value, issues }) => {
    for (const { path, message } of exitProblems(value))
      issues.push({ code: 'custom', input: value, path: [...path], message })
  })

const written = z.strictObject(
  each((exit) => z.union([none, exit]).exactOptional()) as {
    [K in keyof Exits]: z.ZodExactOptional<z.ZodUnion<[typeof none, Exits[K]]>>
  },
)

/** Of all bots of a file: `none` takes away what strategies set, one exit or all. */
export const defaultExits = z.union([none, written])

/** Of one bot: `none` takes away what the defaults and its strategy set; `strategy` puts its strategy before the
 *  defaults. */
export const botExits = z.union([none, z.literal('strategy'), written])

function each(change: (exit: z.ZodType) => z.ZodType): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(EXITS).map(([name, exit]) => [name, change(exit)]))
}
