import { styleText } from 'node:util'
import type { BotConfig, Config } from '../config/config.ts'
import { breakEvenPercent, usualBuyOf, type WorstCase, worstCaseOf, worstTogether } from '../config/worst-case.ts'
import { NO_LIMITS } from '../core/settings.ts'
import type { Lamports } from '../core/units.ts'
import { rows, shortSol, table } from './check-table.ts'
import { type PlanNeeds, planNeeds } from './plan-needs.ts'
import { wrapped } from './wrapped.ts'

const bold = (text: string) => styleText('bold', text)
const dim = (text: string) => styleText('dim', text)

const HEADER = ['', 'one buy', 'an hour', 'a day', 'held at once', 'all to zero', 'break-even']
/** Wider than that nobody reads with ease. */
const WIDEST = 118
const MEANING =
  'What may leave the wallet, slippage, fees and rent in at their most, in buys of the smallest size: each pays its fees, so limits.minSolPerOrder and limits.maxSlippagePercent lower it. Sales pay fees of their own. Break-even: how far the price has to rise until a sale brings back the fees and the rent of the usual buy; slippage and impact come on top.'

/** Live bots share one wallet; those on paper only add up. */
export function togetherOf({ bots, wallet, service }: Config): WorstCase {
  const live = bots.filter(({ mode }) => mode === 'live')
  return live.length > 0
    ? worstTogether(live, wallet.limits, service.plan)
    : worstTogether(bots, NO_LIMITS, service.plan)
}

/** The most that limits let happen: a line a bot, and all of them. */
export function worstText(config: Config): string {
  const { bots, wallet, service } = config
  const lines = bots.map((bot) => {
    const worst = worstCaseOf(bot, wallet.limits, service.plan)
    return [bot.name, ...amounts(worst), riseOf(bot, worst)]
  })
  if (bots.length > 1) lines.push(['together', '', ...amounts(togetherOf(config)).slice(1), ''])
  const meaning = wrapped(MEANING, Math.min(process.stdout.columns ?? WIDEST, WIDEST)).map(dim)
  return [`${bold('The worst that this allows')}, SOL`, table([HEADER, ...lines]), ...meaning].join('\n')
}

function amounts({ perOrder, perHour, perDay, exposure, loss }: WorstCase): string[] {
  return [perOrder, perHour, perDay, exposure, loss].map(bound)
}

function riseOf(bot: BotConfig, worst: WorstCase): string {
  const usual = usualBuyOf(bot, worst)
  return usual === null ? 'unknown' : `${breakEvenPercent(usual, bot.orders.priorityFeeLamports).toFixed(1)} %`
}

function bound(amount: Lamports | null): string {
  return amount === null ? 'no limit' : shortSol(amount)
}

/** What it needs of the plan. */
export function planText(config: Config): string {
  const needs = planNeeds(config)
  const { plan, requestsPerMinute, keptForExits, sockets, connections, keys } = needs
  const which = config.service.plan === 'auto' ? `${plan.name} until the service says which it is` : plan.name
  return [
    `${bold('Of the plan')}, ${which}`,
    rows([
      ['requests', `${requestsPerMinute} a minute, ${keptForExits} of them kept for exits`],
      [
        'feed',
        `${sockets} of ${connections} connections; ${keys} key${keys === 1 ? '' : 's'}, and one for each position`,
      ],
      ['flatten', flatten(needs)],
    ]),
  ].join('\n')
}

function flatten({ positions, flattenSeconds }: PlanNeeds): string {
  if (positions === null || flattenSeconds === null)
    return 'as long as it takes: nothing bounds how many positions there are (limits.maxOpenPositions)'
  const many = `${positions} position${positions === 1 ? '' : 's'}`
  if (flattenSeconds === 0) return `${many}: every sale leaves at once, and lands some seconds later`
  return `${many}: the last sale leaves within ${flattenSeconds} s, and lands some seconds later`
}
