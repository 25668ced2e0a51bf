import { type ExitProblem, exitProblems } from '../engine/exits/exit-rules.ts'
import { type ExitRules, pollSeconds } from '../engine/exits/exit-settings.ts'
import type { CheckedBot } from './bots.ts'
import { serviceFrom } from './convert-sections.ts'
import { type EffectiveExits, type ExitSource, effectiveExits } from './effective-exits.ts'
import { type Agreed, walletLimitsOf } from './shared-sections.ts'
import { breakEvenPercent, usualBuyOf, worstCaseOf } from './worst-case.ts'
import { formatPath, type Problem } from './yaml/errors.ts'

// Finds exits that are each valid but contradict each other once those of bot, defaults and strategy are merged.

export function exitErrors(bot: CheckedBot, agreed: Agreed): Problem[] {
  const effective = bot.lacksStrategy ? withoutStrategy(bot) : bot.config
  return [...exitProblems(effective.exits), ...pollProblems(effective.exits, agreed)].map(
    ({ path, message, other }) => {
      const [exit] = path
      const isElsewhere = other !== undefined && effective.exitSources[other] !== effective.exitSources[exit]
      const where = isElsewhere ? `; ${other} comes from ${placeOf(bot, effective.exitSources[other])}` : ''
      return problemAt(true, bot, effective, path, `${message}${where}`)
    },
  )
}

export function exitWarnings(bot: CheckedBot, agreed: Agreed): Problem[] {
  const { config } = bot
  const { stopLossPercent, trailingPercent, trailingArmPercent = 0 } = config.exits
  const warnings: Problem[] = []
  const isArmed = trailingArmPercent === 0
  if (isArmed && stopLossPercent !== undefined && trailingPercent !== undefined && trailingPercent < stopLossPercent) {
    const message = `the trailing stop (${trailingPercent} %) always acts before the stop-loss (${stopLossPercent} %); remove one, or set trailingArmPercent`
    warnings.push(problemAt(false, bot, config, ['trailingPercent'], message))
  }
  const plan = agreed.service === undefined ? 'auto' : serviceFrom(agreed.service, '').plan
  const size = usualBuyOf(config, worstCaseOf(config, walletLimitsOf(agreed, config.wallet), plan))
  if (size === null) return warnings
  const breakEven = breakEvenPercent(size, config.orders.priorityFeeLamports)
  for (const { path, percent } of highestTargets(config.exits)) {
    if (percent >= 2 * breakEven) continue
    const message = `${percent} % is less than twice the ${breakEven.toFixed(1)} % that fees and rent cost: raise the target, or buy larger amounts`
    warnings.push(problemAt(false, bot, config, path, message))
  }
  return warnings
}

/** Returns the profit targets at which a bot sells everything. Of the targets in `takeProfitByAge`, only the first and
 *  highest one is returned, because the later targets may be below the costs on purpose. */
function highestTargets({ takeProfitPercent, takeProfitByAge = {} }: ExitRules) {
  const [first] = Object.entries(takeProfitByAge)
  return [
    ...(takeProfitPercent === undefined ? [] : [{ path: ['takeProfitPercent'] as const, percent: takeProfitPercent }]),
    ...(first === undefined ? [] : [{ path: ['takeProfitByAge', first[0]] as const, percent: first[1] }]),
  ]
}

/** Reports a problem at the place that sets the exit: the bot, the file's defaults, or the bot's key `strategy`. */
function problemAt(
  fatal: boolean,
  bot: CheckedBot,
  { exitSources }: Pick<EffectiveExits, 'exitSources'>,
  path: ExitProblem['path'],
  message: string,
): Problem {
  const { document, input } = bot
  const [exit] = path
  const source = exitSources[exit] ?? 'bot'
  if (source === 'bot') return { fatal, error: document.error([...bot.path, 'exits', ...path], message) }
  if (source === 'defaults')
    return { fatal, error: document.error(['defaults', 'exits', ...path], `${message} (for the bot ${input.name})`) }
  const whose = `the strategy ${input.strategy} sets exits.${formatPath(path)}: `
  const way = fatal ? '; set one of the two in the section of the bot, or remove one there with `none`' : ''
  return { fatal, error: document.error([...bot.path, 'strategy'], `${whose}${message}${way}`) }
}

function placeOf({ input, path }: CheckedBot, source: ExitSource | undefined): string {
  if (source === 'strategy') return `the strategy ${input.strategy}`
  return source === 'defaults' ? 'defaults.exits' : formatPath([...path, 'exits'])
}

/** Returns the problem of a bot with the policy `poll` if the configuration has no RPC, because `poll` reads the pools
 *  over RPC. There is no problem with the sandbox, which has its own RPC. */
function pollProblems(exits: ExitRules, { service, chain, unfit }: Agreed): ExitProblem[] {
  const isThere = chain !== undefined || unfit.includes('chain')
  if (pollSeconds(exits) === undefined || service === undefined || service === 'sandbox' || isThere) return []
  return [{ path: ['whenStale', 'policy'], message: 'poll reads pools over RPC: set chain.rpc' }]
}

/** Returns the exits of a bot whose strategy could not be loaded. Exits that the strategy could override are left out.
 *  `trailingArmPercent` without `trailingPercent` is left out too, because the strategy may set the trailing stop. */
function withoutStrategy({ input, defaultExits }: CheckedBot): EffectiveExits {
  if (input.exits === 'strategy') return effectiveExits(undefined, {}, undefined)
  const known = effectiveExits(input.exits, {}, defaultExits)
  const { trailingArmPercent, ...others } = known.exits
  return known.exits.trailingPercent === undefined ? { ...known, exits: others } : known
}
