import { z } from 'zod'
import type { Millis } from '../../base/units.ts'
import { described, type KeyText } from '../key-text.ts'
import { LEAST_PERCENT, LEAST_SECONDS } from '../setting-bounds.ts'
import {
  breakEvenLevel,
  stopLossLevel,
  stopPriceLevel,
  takeProfitByAgeLevel,
  takeProfitLevel,
  takeProfitPriceLevel,
  trailingLevel,
} from './exit-levels.ts'
import {
  DEFAULT_EXIT_WINDOW,
  EXIT_WINDOWS,
  type ExitRules,
  STALE_POLICIES,
  type TakeProfitByAge,
  type TakeProfitStep,
  targetAt,
} from './exit-settings.ts'
import { LEAST_PART_PERCENT } from './take-profit-steps.ts'

// The table of all exits. The entry of an exit has its schema, its reader for values that arrive at run time, its
// checks, its sentence for `sluice check`, and the function that decides whether the exit is due.

/** A problem of an exit rule: the rule contradicts another one, or it could never act. */
export interface ExitProblem {
  readonly path: readonly [keyof ExitRules, ...(string | number)[]]
  readonly message: string
  /** The exit that contradicts this one; absent if the problem is another one. */
  readonly other?: keyof ExitRules
}

interface ExitRow<Value> {
  /** Schema of the value in a configuration and in a strategy file. Absent if only the options of a buy, or `setExits`,
   *  can set the exit. */
  readonly schema?: z.ZodType<Value>
  /** Description of the key; present if `schema` is. */
  readonly key?: KeyText
  /** Reads a value of any type that a strategy passes at run time. Returns a text that describes the problem if the
   *  value is invalid. */
  readonly read: (value: unknown, name: string) => Value | string
  /** Returns the sentence with which `sluice check` describes this exit. */
  readonly text?: (value: Value, rules: ExitRules) => string
  readonly problems?: (value: Value, rules: ExitRules) => readonly ExitProblem[]
  /** Returns the reason to sell all at this price; undefined if there is none. `dueExit` (due-exit.ts) calls it for
   *  every print of a held token. `ageMs` is the time since the first fill. */
  readonly due?: (
    rules: ExitRules,
    averagePrice: number,
    highPrice: number,
    price: number,
    ageMs: Millis,
  ) => string | undefined
}

const MOST_PERCENT = 1e6
const MOST_SECONDS = 1e9
const MOST_PRICE = 1e9
/** Largest percentage of a stop-loss or a trailing stop that a strategy may pass. A price cannot fall by 100 %. */
const UNDER_ALL = 99.999_999
/** Largest number of take-profit steps. A longer list is an error of the strategy. */
const MOST_STEPS = 20
/** Shortest silence that an exit can wait for. With a shorter silence, the timer would fire continuously while the feed
 *  is down. */
const LEAST_QUIET_SECONDS = 1

const loss = z.number().min(LEAST_PERCENT).lt(100)
const gain = z.number().min(LEAST_PERCENT).max(MOST_PERCENT)
/** Matches an age in whole seconds. Other ages are refused, because JavaScript sorts only keys that are whole
 *  numbers. */
const AGE = /^(0|[1-9]\d{0,8})$/
const BY_AGE = `a map of ages to percentages with 1 to ${MOST_STEPS} entries, as in { 0: 50, 600: 20, 3600: 5 }`
const byAge = z
  .record(
    z.string().regex(AGE, { error: 'expected an age in whole seconds, as in { 0: 50, 600: 20 }' }),
    z.number().min(0).max(MOST_PERCENT),
  )
  .refine((targets) => isCount(Object.keys(targets).length), { error: `expected ${BY_AGE}` })
const seconds = z.number().min(LEAST_SECONDS).max(MOST_SECONDS)
const steps = z
  .array(
    z.strictObject({
      atPercent: described(gain, {
        about: 'The step sells at this profit against the average price paid.',
        unit: 'percent',
      }),
      sellPercent: described(z.number().min(LEAST_PERCENT).max(100), {
        about: 'Share that the step sells, in percent of all tokens bought since the position opened.',
        unit: 'percent',
      }),
    }),
  )
  .min(1)
  .max(MOST_STEPS)

/** The exits, in the order in which they decide. If several are due at the same price, protection comes before
 *  profit. */
export const EXITS = {
  stopPrice: {
    read: upTo(MOST_PRICE),
    problems: (stopPrice, { takeProfitPrice }) =>
      takeProfitPrice !== undefined && stopPrice >= takeProfitPrice
        ? [problem(['stopPrice'], `expected less than takeProfitPrice (${takeProfitPrice}), found ${stopPrice}`)]
        : [],
    due: (rules, averagePrice, _highPrice, price) =>
      price <= stopPriceLevel(rules)
        ? `stop: ${price.toPrecision(6)}, ${percent(price / averagePrice)} from the average price`
        : undefined,
  },
  stopLossPercent: {
    key: { about: 'Sells all at this loss against the average price paid.', unit: 'percent', absent: 'no such exit' },
    schema: loss,
    read: upTo(UNDER_ALL),
    text: (value) => `stop-loss ${value} %`,
    problems: (value, { takeProfitPercent }) =>
      takeProfitPercent !== undefined && value > takeProfitPercent
        ? [
            problem(
              ['stopLossPercent'],
              `expected at most takeProfitPercent (${takeProfitPercent}), found ${value}: a loss would exceed any profit; lower this or raise takeProfitPercent`,
              'takeProfitPercent',
            ),
          ]
        : [],
    due: (rules, averagePrice, _highPrice, price) =>
      price <= stopLossLevel(rules, averagePrice)
        ? `stop-loss: ${percent(price / averagePrice)} from the average price`
        : undefined,
  },
  trailingPercent: {
    key: {
      about: 'Sells all if the price is this far below its high since the position opened.',
      unit: 'percent',
      absent: 'no such exit',
    },
    schema: loss,
    read: upTo(UNDER_ALL),
    text: (value, { trailingArmPercent: arm }) =>
      `trailing stop ${value} %${arm === undefined ? '' : ` once the price was ${arm} % above the average price`}`,
    due: (rules, averagePrice, highPrice, price) =>
      price <= trailingLevel(rules, averagePrice, highPrice)
        ? `trailing stop: ${percent(price / highPrice)} from the high, ${percent(price / averagePrice)} from the average price`
        : undefined,
  },
  trailingArmPercent: {
    key: {
      about: 'The trailing stop acts only after the price was this far above the average price paid.',
      unit: 'percent',
      absent: 'the trailing stop acts as soon as the position opens',
    },
    schema: gain,
    read: upTo(MOST_PERCENT),
    problems: (value, rules) => [
      ...(rules.trailingPercent === undefined
        ? [problem(['trailingArmPercent'], 'expected trailingPercent too: without it there is no trailing stop')]
        : []),
      ...unreachable(['trailingArmPercent'], value, rules),
    ],
  },
  breakEvenAtPercent: {
    key: {
      about: 'Sells all if the price falls back to the average price paid, after it was this far above that average.',
      unit: 'percent',
      absent: 'no such exit',
    },
    schema: gain,
    read: upTo(MOST_PERCENT),
    text: (value) => `break-even: sold at the average price once the price was ${value} % above it`,
    problems: (value, rules) => unreachable(['breakEvenAtPercent'], value, rules),
    due: (rules, averagePrice, highPrice, price) =>
      price <= breakEvenLevel(rules, averagePrice, highPrice)
        ? `break-even: back at the average price after a high of ${percent(highPrice / averagePrice)}`
        : undefined,
  },
  takeProfitPercent: {
    key: { about: 'Sells all at this profit against the average price paid.', unit: 'percent', absent: 'no such exit' },
    schema: gain,
    read: upTo(MOST_PERCENT),
    text: (value) => `take-profit ${value} %`,
    due: (rules, averagePrice, _highPrice, price) =>
      price >= takeProfitLevel(rules, averagePrice)
        ? `take-profit: ${percent(price / averagePrice)} from the average price`
        : undefined,
  },
  takeProfitByAge: {
    key: {
      about:
        'Sells all at a profit that falls with the age of the position: seconds since it opened, then percent, as in `{ 0: 50, 600: 20, 3600: 5 }`.',
      unit: 'percent',
      absent: 'no such exit',
    },
    schema: byAge,
    read: readByAge,
    text: (value) =>
      `take-profit ${Object.entries(value)
        .map(([age, target]) => `${target} % from ${age} s`)
        .join(', ')}`,
    problems: byAgeProblems,
    due: (rules, averagePrice, _highPrice, price, ageMs) => {
      return price >= takeProfitByAgeLevel(rules, averagePrice, ageMs)
        ? `take-profit by age: ${percent(price / averagePrice)} from the average price, at least ${targetAt(rules.takeProfitByAge ?? {}, ageMs)} % after ${Math.floor(ageMs / 1000)} s`
        : undefined
    },
  },
  takeProfitPrice: {
    read: upTo(MOST_PRICE),
    due: (rules, averagePrice, _highPrice, price) =>
      price >= takeProfitPriceLevel(rules)
        ? `take-profit: ${price.toPrecision(6)}, ${percent(price / averagePrice)} from the average price`
        : undefined,
  },
  takeProfitSteps: {
    key: {
      about:
        'Sells parts of the position at rising profits. The profits of the steps must ascend, and together the steps sell at most 100 percent.',
      absent: 'no such exit',
    },
    schema: steps,
    read: readSteps,
    text: (value) => `steps ${value.map((step) => `${step.sellPercent} % at +${step.atPercent} %`).join(' and ')}`,
    problems: (value, rules) => [
      ...stepProblems(value),
      ...value.flatMap(({ atPercent }, index) =>
        unreachable(['takeProfitSteps', index, 'atPercent'], atPercent, rules),
      ),
    ],
  },
  maxHoldSeconds: {
    key: { about: 'Sells all when the position has been open for this time.', unit: 'seconds', absent: 'no such exit' },
    schema: seconds,
    read: upTo(MOST_SECONDS),
    text: (value) => `sold after ${value} s`,
  },
  idleSeconds: {
    key: {
      about: 'Sells all after this time without a trade of the token, while the feed is live; at least 1.',
      unit: 'seconds',
      absent: 'no such exit',
    },
    schema: seconds,
    read: upTo(MOST_SECONDS),
    text: (value) => `sold after ${value} s without a trade`,
    problems: (value) => tooShort(['idleSeconds'], value),
  },
  whenStale: {
    key: { about: 'What happens to a position that has no price.', absent: 'the position stays open' },
    schema: z.strictObject({
      policy: described(z.enum(STALE_POLICIES), {
        about: '`hold` waits for a price, `poll` reads the pool of the token over RPC, `flatten` sells all.',
      }),
      afterSeconds: described(seconds, {
        about: 'Time without a price after which the policy applies; at least 1.',
        unit: 'seconds',
      }),
    }),
    read: (value, name) => {
      const { policy, afterSeconds } = Object(value) as Partial<Record<string, unknown>>
      const known = STALE_POLICIES.find((one) => one === policy)
      if (known === undefined) return `${name}.policy: expected ${STALE_POLICIES.join(', ')}, found ${describe(policy)}`
      const time = upTo(MOST_SECONDS)(afterSeconds, `${name}.afterSeconds`)
      return typeof time === 'string' ? time : { policy: known, afterSeconds: time }
    },
    text: ({ policy, afterSeconds: time }) => {
      const action = { hold: 'held', poll: `its pool is read over RPC every ${time} s`, flatten: 'sold' }[policy]
      return `without a price for ${time} s: ${action}`
    },
    problems: ({ afterSeconds }) => tooShort(['whenStale', 'afterSeconds'], afterSeconds),
  },
  windowPrints: {
    key: {
      about: 'Number of prints from which the price of the exits is computed.',
      unit: 'prints',
      default: DEFAULT_EXIT_WINDOW,
    },
    schema: z.literal(EXIT_WINDOWS),
    read: (value, name) =>
      EXIT_WINDOWS.find((one) => one === value) ??
      `${name}: expected ${EXIT_WINDOWS.join(' or ')}, found ${describe(value)}`,
    text: (value) =>
      value === DEFAULT_EXIT_WINDOW
        ? `price: mean of the middle half of ${value} prints, without single hops of routed swaps`
        : `price: median of ${value} prints`,
  },
} as const satisfies { readonly [E in keyof ExitRules]-?: ExitRow<NonNullable<ExitRules[E]>> }

type Exits = typeof EXITS
/** Exits that a configuration can set. */
type ConfigurableExit = { [E in keyof Exits]: Exits[E] extends { readonly schema: z.ZodType } ? E : never }[keyof Exits]

const ROWS = Object.entries(EXITS) as [keyof ExitRules, ExitRow<unknown>][]

/** Texts of the exits that a configuration can set. */
export const EXIT_TEXTS = Object.fromEntries(
  ROWS.flatMap(([name, { key }]) => (key === undefined ? [] : [[name, key]])),
) as { [E in ConfigurableExit]: KeyText }

/** Schemas of the exits that a configuration can set. */
export const EXIT_SCHEMAS = Object.fromEntries(
  ROWS.flatMap(([name, { schema }]) => (schema === undefined ? [] : [[name, schema]])),
) as { [E in ConfigurableExit]: Exits[E]['schema'] }

/** Returns the contradictions among the exits of one position, after the exits of its order, strategy and bot are
 *  merged. */
export function exitProblems(rules: ExitRules): ExitProblem[] {
  return ROWS.flatMap(([name, { problems }]) => {
    const value = rules[name]
    return value === undefined ? [] : (problems?.(value, rules) ?? [])
  })
}

/** Returns one sentence for each exit that is set. */
export function exitSentences(rules: ExitRules): string[] {
  return ROWS.flatMap(([name, { text }]) => {
    const value = rules[name]
    return value === undefined ? [] : (text?.(value, rules) ?? [])
  })
}

/** Returns a reader of numbers above 0 and up to `most`. */
function upTo(most: number): (value: unknown, name: string) => number | string {
  return (value, name) =>
    typeof value === 'number' && value > 0 && value <= most
      ? value
      : `${name}: expected a number above 0, at most ${most}, found ${describe(value)}`
}

function readByAge(value: unknown, name: string): TakeProfitByAge | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return `${name}: expected ${BY_AGE}, found ${describe(value)}`
  const entries = Object.entries(value)
  if (!isCount(entries.length)) return `${name}: expected ${BY_AGE}, found ${entries.length} ages`
  const read: Record<number, number> = {}
  for (const [age, target] of entries as [string, unknown][]) {
    if (!AGE.test(age)) return `${name}: expected ages in whole seconds, found ${age.slice(0, 40)}`
    if (typeof target !== 'number' || !(target >= 0 && target <= MOST_PERCENT))
      return `${name}.${age}: expected a number of at least 0, at most ${MOST_PERCENT}, found ${describe(target)}`
    read[Number(age)] = target
  }
  return read
}

/** Returns a problem for each target that rises with the age, and for each target that could never be reached. */
function byAgeProblems(value: TakeProfitByAge, rules: ExitRules): ExitProblem[] {
  const { stopLossPercent, takeProfitPercent, maxHoldSeconds } = rules
  const problems: ExitProblem[] = []
  let before = Number.POSITIVE_INFINITY
  for (const [age, target] of Object.entries(value)) {
    const path = ['takeProfitByAge', age] as const
    if (target > before)
      problems.push(
        problem(path, `expected at most ${before}, found ${target}: the percentages must fall with the age`),
      )
    before = target
    problems.push(...soldAt(path, target, 'takeProfitPercent', takeProfitPercent))
    if (maxHoldSeconds !== undefined && Number(age) >= maxHoldSeconds) {
      const message = `expected an age below maxHoldSeconds (${maxHoldSeconds}): at that age the whole position is sold`
      problems.push(problem(path, message, 'maxHoldSeconds'))
    }
  }
  const first = value[0]
  if (stopLossPercent !== undefined && first !== undefined && stopLossPercent > first) {
    const message = `expected at least stopLossPercent (${stopLossPercent}), found ${first}: a loss would exceed any profit; raise this or lower stopLossPercent`
    problems.push(problem(['takeProfitByAge', '0'], message, 'stopLossPercent'))
  }
  return problems
}

function isCount(steps: number): boolean {
  return steps >= 1 && steps <= MOST_STEPS
}

function readSteps(value: unknown, name: string): readonly TakeProfitStep[] | string {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_STEPS)
    return `${name}: expected a list of 1 to ${MOST_STEPS} steps, found ${describe(value)}`
  const read: TakeProfitStep[] = []
  for (const [index, step] of (value as unknown[]).entries()) {
    const given = Object(step) as Partial<Record<string, unknown>>
    const atPercent = upTo(MOST_PERCENT)(given.atPercent, `${name}.${index}.atPercent`)
    if (typeof atPercent === 'string') return atPercent
    const sellPercent = upTo(100)(given.sellPercent, `${name}.${index}.sellPercent`)
    if (typeof sellPercent === 'string') return sellPercent
    read.push({ atPercent, sellPercent })
  }
  return read
}

function stepProblems(steps: readonly TakeProfitStep[]): ExitProblem[] {
  const problems: ExitProblem[] = []
  let sum = 0
  for (const [index, { atPercent, sellPercent }] of steps.entries()) {
    const at = ['takeProfitSteps', index, 'atPercent'] as const
    const sell = ['takeProfitSteps', index, 'sellPercent'] as const
    if (sellPercent <= LEAST_PART_PERCENT) {
      const why = 'rounding may leave this much unsold, so the step would count as done before it sells'
      problems.push(problem(sell, `expected more than ${LEAST_PART_PERCENT}, found ${sellPercent}: ${why}`))
    }
    const before = steps[index - 1]?.atPercent
    if (before !== undefined && !(atPercent > before))
      problems.push(problem(at, `expected more than ${before}, found ${atPercent}: write the steps in ascending order`))
    const isOver = sum <= 100 && sum + sellPercent > 100 + 1e-9
    sum += sellPercent
    if (isOver)
      problems.push(problem(sell, `expected steps of at most 100 % together, found ${Number(sum.toFixed(6))} %`))
  }
  return problems
}

/** Returns a problem if another exit sells the whole position before the price reaches `level`. */
function unreachable(path: ExitProblem['path'], level: number, rules: ExitRules): ExitProblem[] {
  const { takeProfitPercent, takeProfitByAge } = rules
  return [
    ...soldAt(path, level, 'takeProfitPercent', takeProfitPercent),
    ...soldAt(path, level, 'takeProfitByAge', takeProfitByAge?.[0]),
  ]
}

function soldAt(path: ExitProblem['path'], level: number, other: keyof ExitRules, all?: number): ExitProblem[] {
  if (all === undefined || level < all) return []
  return [
    problem(
      path,
      `expected less than ${other} (${all}), found ${level}: at that price the whole position is already sold`,
      other,
    ),
  ]
}

function tooShort(path: ExitProblem['path'], time: number): ExitProblem[] {
  return time >= LEAST_QUIET_SECONDS ? [] : [problem(path, `expected at least ${LEAST_QUIET_SECONDS}, found ${time}`)]
}

function problem(path: ExitProblem['path'], message: string, other?: keyof ExitRules): ExitProblem {
  return { path, message, ...(other !== undefined && { other }) }
}

/** Describes a value in a message: a number by itself, any other value by its type. */
export function describe(value: unknown): string {
  if (typeof value === 'number') return String(value)
  if (value === undefined || value === null) return 'nothing'
  return Array.isArray(value) ? `a list of ${value.length}` : `a ${typeof value}`
}

function percent(ratio: number): string {
  const value = (ratio - 1) * 100
  return `${value > 0 ? '+' : ''}${value.toFixed(1)} %`
}
