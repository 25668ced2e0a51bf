import { EXITS, exitProblems } from './exit-rules.ts'
import type { ExitRules } from './exit-settings.ts'

// Reads exits that a strategy passes at run time. Their values may be of any type.

const readDefaults = new WeakMap<ExitRules, ExitRules | string>()

/** Returns the result of `readExits({}, defaults)`. The result is cached for each bot, because most orders set no
 *  exits. */
export function readDefaultExits(defaults: ExitRules): ExitRules | string {
  const known = readDefaults.get(defaults)
  if (known !== undefined) return known
  const rules = readExits({}, defaults)
  readDefaults.set(defaults, rules)
  return rules
}

/** Returns the given exits, merged over `defaults`, or a text that describes the problem. */
export function readExits(exits: unknown, defaults: ExitRules = {}): ExitRules | string {
  const given = readGiven(exits)
  if (typeof given === 'string') return given
  const { stopLossPercent, takeProfitPercent, takeProfitByAge, ...others } = defaults
  const rules = {
    ...others,
    // A stop price of the order replaces the stop-loss percentage of the bot. A take-profit price of the order replaces
    // the take-profit percentages of the bot.
    ...(stopLossPercent !== undefined && given.stopPrice === undefined && { stopLossPercent }),
    ...(takeProfitPercent !== undefined && given.takeProfitPrice === undefined && { takeProfitPercent }),
    ...(takeProfitByAge !== undefined && given.takeProfitPrice === undefined && { takeProfitByAge }),
    ...given,
  }
  const [problem] = exitProblems(rules)
  return problem === undefined ? rules : `${problem.path.join('.')}: ${problem.message}`
}

function readGiven(exits: unknown): ExitRules | string {
  if (typeof exits !== 'object' || exits === null) return 'exits: expected an object'
  const rules: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(exits)) {
    if (value === undefined) continue
    if (!Object.hasOwn(EXITS, name))
      return `${name.slice(0, 40)}: unknown exit; expected ${Object.keys(EXITS).join(', ')}`
    const read = EXITS[name as keyof ExitRules].read(value, name)
    if (typeof read === 'string') return read
    rules[name] = read
  }
  return rules
}
