import { LEAST_PART_PERCENT } from '../accounting/position.ts'
import {
  EXIT_WINDOWS,
  type ExitRules,
  LEAST_QUIET_SECONDS,
  STALE_POLICIES,
  type TakeProfitStep,
  type WhenStale,
} from './exit-rules.ts'

// Exits as a strategy hands them over: any value at all.

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type FlatExit = Exclude<keyof ExitRules, 'takeProfitSteps' | 'whenStale' | 'windowPrints'>

const MOST_PERCENT = 1e6
const MOST_SECONDS = 1e9
const MOST_PRICE = 1e9
const UNDER_ALL = 99.999_999
/** A strategy that asks for more has lost count. */
export const MOST_STEPS = 20

/** Each exit: above 0, and up to this. */
const EXIT_BOUNDS: Readonly<Record<FlatExit, number>> = {
  stopLossPercent: UNDER_ALL,
  takeProfitPercent: MOST_PERCENT,
  trailingPercent: UNDER_ALL,
  trailingArmPercent: MOST_PERCENT,
  breakEvenAtPercent: MOST_PERCENT,
  maxHoldSeconds: MOST_SECONDS,
  idleSeconds: MOST_SECONDS,
  stopPrice: MOST_PRICE,
  takeProfitPrice: MOST_PRICE,
}

const usualExits = new WeakMap<ExitRules, ExitRules | string>()

/** Those of `farther` places alone, as `readExits` has them: worked out once for each bot, because most orders name
 *  none of their own. */
export function readUsualExits(farther: ExitRules): ExitRules | string {
  const known = usualExits.get(farther)
  if (known !== undefined) return known
  const rules = readExits({}, farther)
  usualExits.set(farther, rules)
  return rules
}

/** The exits that are named, together with those of `farther` places, which they go before; what is wrong with them
 *  where something is. */
export function readExits(exits: unknown, farther: ExitRules = {}): ExitRules | string {
  const named = readNamed(exits)
  if (typeof named === 'string') return named
  const { stopLossPercent, takeProfitPercent, ...others } = farther
  const rules = {
    ...others,
    // A price of the order's own takes the place of the bot's percentage.
    ...(stopLossPercent !== undefined && named.stopPrice === undefined && { stopLossPercent }),
    ...(takeProfitPercent !== undefined && named.takeProfitPrice === undefined && { takeProfitPercent }),
    ...named,
  }
  const [problem] = exitProblems(rules)
  return problem === undefined ? rules : `${problem.path.join('.')}: ${problem.message}`
}

function readNamed(exits: unknown): ExitRules | string {
  if (typeof exits !== 'object' || exits === null) return 'exits is no object'
  const rules: Mutable<ExitRules> = {}
  for (const [name, value] of Object.entries(exits)) {
    if (value === undefined) continue
    if (name === 'takeProfitSteps') {
      const steps = readSteps(value)
      if (typeof steps === 'string') return steps
      rules.takeProfitSteps = steps
    } else if (name === 'whenStale') {
      const whenStale = readWhenStale(value)
      if (typeof whenStale === 'string') return whenStale
      rules.whenStale = whenStale
    } else if (name === 'windowPrints') {
      const window = EXIT_WINDOWS.find((one) => one === value)
      if (window === undefined) return `windowPrints is none of ${EXIT_WINDOWS.join(', ')}`
      rules.windowPrints = window
    } else if (Object.hasOwn(EXIT_BOUNDS, name)) {
      const bound = EXIT_BOUNDS[name as FlatExit]
      if (!isWithin(value, bound)) return `${name} is ${describe(value)}`
      rules[name as FlatExit] = value
    } else return `there is no exit ${name.slice(0, 40)}`
  }
  return rules
}

function readSteps(value: unknown): readonly TakeProfitStep[] | string {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_STEPS)
    return `takeProfitSteps is no list of 1 to ${MOST_STEPS} steps`
  const steps: TakeProfitStep[] = []
  for (const step of value as unknown[]) {
    const { atPercent, sellPercent } = Object(step) as Partial<Record<string, unknown>>
    if (!isWithin(atPercent, MOST_PERCENT)) return `takeProfitSteps: atPercent is ${describe(atPercent)}`
    if (!isWithin(sellPercent, 100)) return `takeProfitSteps: sellPercent is ${describe(sellPercent)}`
    steps.push({ atPercent, sellPercent })
  }
  return steps
}

function readWhenStale(value: unknown): WhenStale | string {
  const { policy, afterSeconds } = Object(value) as Partial<Record<string, unknown>>
  const known = STALE_POLICIES.find((one) => one === policy)
  if (known === undefined) return `whenStale.policy is none of ${STALE_POLICIES.join(', ')}`
  if (!isWithin(afterSeconds, MOST_SECONDS)) return `whenStale.afterSeconds is ${describe(afterSeconds)}`
  return { policy: known, afterSeconds }
}

/** No number is within a bound that is none. */
function isWithin(value: unknown, most: number): value is number {
  return typeof value === 'number' && value > 0 && value <= most
}

export function describe(value: unknown): string {
  return typeof value === 'number' ? String(value) : `a ${typeof value}`
}

// Exits that are right by themselves and wrong together: one of them could never fire, or they ask for more than there
// is.

export interface ExitProblem {
  /** Where it is: an exit, and what inside of it. */
  readonly path: readonly [keyof ExitRules, ...(string | number)[]]
  readonly message: string
  /** The exit that it does not go together with. */
  readonly other?: keyof ExitRules
}

/** All that is wrong with the exits of one position, as they are once every place that sets some has been asked. */
export function exitProblems(rules: ExitRules): ExitProblem[] {
  return [...stepProblems(rules), ...stopProblems(rules), ...unreachable(rules), ...quietProblems(rules)]
}

/** A shorter silence would have its timer fire without pause, as long as the feed is down. */
function quietProblems({ idleSeconds, whenStale }: ExitRules): ExitProblem[] {
  const times: [ExitProblem['path'], number | undefined][] = [
    [['idleSeconds'], idleSeconds],
    [['whenStale', 'afterSeconds'], whenStale?.afterSeconds],
  ]
  return times.flatMap(([path, seconds = LEAST_QUIET_SECONDS]) => {
    if (seconds >= LEAST_QUIET_SECONDS) return []
    return [{ path, message: `expected at least ${LEAST_QUIET_SECONDS}, found ${seconds}` }]
  })
}

function stepProblems({ takeProfitSteps = [] }: ExitRules): ExitProblem[] {
  const problems: ExitProblem[] = []
  let sum = 0
  for (const [index, { atPercent, sellPercent }] of takeProfitSteps.entries()) {
    if (sellPercent <= LEAST_PART_PERCENT) {
      const message = `a step has to sell more than ${LEAST_PART_PERCENT} %, found ${sellPercent}: less would count as sold before it is`
      problems.push({ path: ['takeProfitSteps', index, 'sellPercent'], message })
    }
    const before = takeProfitSteps[index - 1]?.atPercent
    if (before !== undefined && !(atPercent > before)) {
      const message = `${atPercent} does not come after ${before}; write the steps in ascending order`
      problems.push({ path: ['takeProfitSteps', index, 'atPercent'], message })
    }
    const isOver = sum <= 100 && sum + sellPercent > 100 + 1e-9
    sum += sellPercent
    if (!isOver) continue
    const message = `the steps sell ${Number(sum.toFixed(6))} % together; 100 % is all there is`
    problems.push({ path: ['takeProfitSteps', index, 'sellPercent'], message })
  }
  return problems
}

function stopProblems({ trailingPercent, trailingArmPercent, stopPrice, takeProfitPrice, ...rules }: ExitRules) {
  const { stopLossPercent, takeProfitPercent } = rules
  const problems: ExitProblem[] = []
  if (stopPrice !== undefined && takeProfitPrice !== undefined && stopPrice >= takeProfitPrice) {
    const message = `the stop at ${stopPrice} is not below the take-profit at ${takeProfitPrice}`
    problems.push({ path: ['stopPrice'], message })
  }
  if (stopLossPercent !== undefined && takeProfitPercent !== undefined && stopLossPercent > takeProfitPercent) {
    const message = `the stop-loss at ${stopLossPercent} % is above the take-profit at ${takeProfitPercent} %: it loses more than can be won; lower one or raise the other`
    problems.push({ path: ['stopLossPercent'], message, other: 'takeProfitPercent' })
  }
  if (trailingArmPercent !== undefined && trailingPercent === undefined) {
    const message = 'there is no trailing stop to arm; set trailingPercent too'
    problems.push({ path: ['trailingArmPercent'], message })
  }
  return problems
}

/** What only counts at a price at which everything is sold already. */
function unreachable({ takeProfitPercent, takeProfitSteps = [], ...rules }: ExitRules): ExitProblem[] {
  const { trailingArmPercent, breakEvenAtPercent } = rules
  const levels: [ExitProblem['path'], number | undefined][] = [
    [['trailingArmPercent'], trailingArmPercent],
    [['breakEvenAtPercent'], breakEvenAtPercent],
    ...takeProfitSteps.map((step, index): [ExitProblem['path'], number] => [
      ['takeProfitSteps', index, 'atPercent'],
      step.atPercent,
    ]),
  ]
  return levels.flatMap(([path, level]) => {
    if (takeProfitPercent === undefined || level === undefined || level < takeProfitPercent) return []
    const message = `never reached: everything is sold at takeProfitPercent, which is ${takeProfitPercent}`
    return [{ path, message, other: 'takeProfitPercent' }]
  })
}
