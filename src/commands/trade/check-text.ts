import { styleText } from 'node:util'
import { formatSol, type Lamports } from '../../base/units.ts'
import type { BotConfig, Config } from '../../config/config.ts'
import { overriddenText } from '../../config/effective-exits.ts'
import { breakEvenPercent, usualBuyOf, type WorstCase, worstCaseOf, worstTogether } from '../../config/worst-case.ts'
import { formatErrors, printable } from '../../config/yaml/errors.ts'
import { exitSentences } from '../../engine/exits/exit-rows.ts'
import { type EntryFilters, FILTERS } from '../../engine/limits/entry-filters.ts'
import { LIMITS, type Limits, NO_LIMITS, WALLET_LIMITS, type WalletLimits } from '../../engine/limits/limit-rows.ts'
import { sentencesOf } from '../../engine/limits/setting-rows.ts'
import { type PlanNeeds, planNeeds } from '../../live/plan-needs.ts'
import { rows, shortSol as sol, table, wrapped } from '../terminal.ts'

// The terminal's side of `check`. styleText leaves colour away where nobody sees it: no terminal, or NO_COLOR.

const bold = (text: string) => styleText('bold', text)
const yellow = (text: string) => styleText('yellow', text)

export function checkText(config: Config): string {
  const { files, bots, warnings } = config
  const parts = [
    `${styleText('green', 'Nothing wrong')} in ${files.join(', ')}`,
    shared(config),
    ...bots.map((bot) => botText(bot, config)),
    ...(bots.length > 0 ? [worstText(config), planText(config)] : ['No bots: good for recording only.']),
    ...(warnings.length > 0
      ? [`${yellow(bold('Worth a second look'))}\n${formatErrors(warnings, process.stdout)}`]
      : []),
  ]
  return parts.join('\n\n')
}

function shared({ service, chain, wallet, journal }: Config): string {
  const plan = typeof service.plan === 'string' ? service.plan : `${service.plan.requestsPerMinute} requests a minute`
  const share = service.share === 1 ? '' : `, ${service.share * 100} % of it`
  const rpc = chain.rpc.map(({ url }) => url.describe()).join(', ')
  return rows([
    ['service', service.kind === 'sandbox' ? 'sandbox, its money is not real' : service.baseUrl],
    ...(service.kind === 'sandbox' ? [] : [['key', service.apiKey?.describe() ?? 'none'] as const]),
    ['plan', plan + share],
    ...(rpc ? [['rpc', rpc] as const] : []),
    ...(wallet.publicKey ? [['wallet', wallet.publicKey] as const] : []),
    ...signer(wallet),
    ...together(wallet.limits),
    ['journal', `${journal.path}, tape kept ${journal.keepTapeDays} days`],
  ])
}

/** Limits of the wallet, if it has any. */
function together(limits: WalletLimits): [string, string][] {
  const text = sentencesOf<WalletLimits>(WALLET_LIMITS, limits).join(', ')
  return text === '' ? [] : [['together', text]]
}

function signer({ keypairPath, signerPath, caps }: Config['wallet']): [string, string][] {
  if (signerPath !== undefined) return [['signer', `${signerPath}, its caps are its own`]]
  if (keypairPath === undefined) return []
  const most = listed('no caps', [
    [caps.perTransaction, (value) => `${sol(value)} SOL a transaction`],
    [caps.perHour, (value) => `${sol(value)} SOL an hour`],
    [caps.perDay, (value) => `${sol(value)} SOL a day`],
  ])
  return [['signer', `started by us, key from ${keypairPath}; signs away at most: ${most}`]]
}

function botText(bot: BotConfig, { service }: Config): string {
  const { orders } = bot
  const fee = orders.priorityFeeLamports === null ? 'auto' : `${formatSol(orders.priorityFeeLamports)} SOL`
  const live = service.kind === 'sandbox' ? 'live on the sandbox' : 'live with --live, else paper'
  const where = bot.mode === 'live' ? `${live}, ${bot.executor} executor` : `paper, ${sol(bot.paper.lamports)} SOL`
  const params = Object.entries(bot.params ?? {}).map(([key, value]) => `${key} ${printable(JSON.stringify(value))}`)
  return [
    `${bold(bot.name)}  ${bot.strategy.name}, ${bot.mode === 'live' ? yellow(where) : where}`,
    rows([
      ['params', params.join(', ') || 'none'],
      ['exits', exitSentences(bot.exits).join(', ') || 'none'],
      ...overridden(bot),
      [
        'buys',
        `slippage ${(orders.slippageLadder ?? [orders.slippagePercent]).join(', ')} %, priority fee ${fee}, ttl ${orders.ttlMs / 1000} s, event age ${orders.maxEventAgeMs / 1000} s, chase ${orders.maxChasePercent} %`,
      ],
      ['sales', sales(bot)],
      ['limits', sentencesOf<Limits>(LIMITS, bot.limits).join(', ') || 'none'],
      ['mints', tokenChecks(bot)],
      ...filters(bot),
    ]),
  ].join('\n')
}

function sales({ exitOrders: { slippageLadder, priorityFeeLadder, retryMs } }: BotConfig): string {
  const fees = priorityFeeLadder.map(formatSol).join(', ')
  const fee = fees === '' ? '' : `, priority fee ${fees} SOL`
  return `slippage ${slippageLadder.join(', ')} %${fee}, again after ${retryMs / 1000} s`
}

/** What the file changes of the strategy's exits. */
function overridden({ overriddenExits }: BotConfig): [string, string][] {
  if (overriddenExits.length === 0) return []
  const way = "`exits: strategy` at the bot keeps the strategy's"
  return [['', `defaults.exits overrides the strategy: ${printable(overriddenText(overriddenExits))} (${way})`]]
}

function filters({ filters }: BotConfig): [string, string][] {
  const text = sentencesOf<EntryFilters>(FILTERS, filters).join(', ')
  return text === '' ? [] : [['tokens', printable(text)]]
}

function tokenChecks({ tokenChecks: { when, allow } }: BotConfig): string {
  if (when === 'off') return 'not looked at: whoever made one may freeze it, take it back or make more'
  const how = when === 'before' ? 'looked at before the first buy' : 'looked at after the first buy; what fails is sold'
  return allow.length === 0 ? how : `${how}; allowed: ${allow.join(', ')}`
}

function listed(
  none: string,
  items: readonly (readonly [number | null | undefined, (value: number) => string])[],
): string {
  const there = items.flatMap(([value, text]) => (value === null || value === undefined ? [] : [text(value)]))
  return there.join(', ') || none
}

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
function worstText(config: Config): string {
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
  return amount === null ? 'no limit' : sol(amount)
}

/** What it needs of the plan. */
function planText(config: Config): string {
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
