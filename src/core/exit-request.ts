import { exitProblems } from './exit-problems.ts'
import { EXIT_WINDOWS, type ExitRules, STALE_POLICIES, type TakeProfitStep, type WhenStale } from './exits.ts'

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

/** Those of `farther` places alone, as `readExits` has them: worked out once for each bot, because most orders name none of their own. */
export function readUsualExits(farther: ExitRules): ExitRules | string {
  const known = usualExits.get(farther)
  if (known !== undefined) return known
  const rules = readExits({}, farther)
  usualExits.set(farther, rules)
  return rules
}

/** The exits that are named, together with those of `farther` places, which they go before; what is wrong with them where something is. */
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
