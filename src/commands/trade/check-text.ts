import { styleText } from 'node:util'
import { counted } from '../../base/text.ts'
import { formatSol, type Lamports } from '../../base/units.ts'
import { walletOf } from '../../config/accounts.ts'
import type { BotConfig, Config, WalletConfig } from '../../config/config.ts'
import { overriddenText } from '../../config/effective-exits.ts'
import { changedAssumptions } from '../../config/fill-assumptions.ts'
import {
  breakEvenPercent,
  usualBuyOf,
  type WorstCase,
  worstCaseOf,
  worstSum,
  worstTogether,
} from '../../config/worst-case.ts'
import { formatErrors, printable } from '../../config/yaml/errors.ts'
import { exitSentences } from '../../engine/exits/exit-rules.ts'
import { type EntryFilters, FILTERS } from '../../engine/limits/entry-filters.ts'
import { LIMITS, type Limits, NO_LIMITS, WALLET_LIMITS, type WalletLimits } from '../../engine/limits/limit-rules.ts'
import { sentencesOf } from '../../engine/limits/setting-rows.ts'
import { type PlanNeeds, planNeeds } from '../../live/plan-needs.ts'
import { dim, rows, shortSol as sol, table, wrapped } from '../terminal.ts'

// styleText adds no colour if stdout is not a terminal, or if NO_COLOR is set.

const bold = (text: string) => styleText('bold', text)
const yellow = (text: string) => styleText('yellow', text)

/** Text about a valid configuration: its bots, the worst case, the requests that the bots need from the plan, and
 *  warnings. */
export function checkText(config: Config): string {
  const { files, bots, warnings } = config
  const parts = [
    `${styleText('green', 'No errors')} in ${files.join(', ')}`,
    shared(config),
    ...bots.map((bot) => botText(bot, config)),
    ...(bots.length > 0
      ? [worstText(config), planText(config)]
      : ['No bots: this configuration can only record the feed.']),
    ...(warnings.length > 0 ? [`${yellow(bold('Warnings'))}\n${formatErrors(warnings, process.stdout)}`] : []),
  ]
  return parts.join('\n\n')
}

function shared({ service, chain, wallets, journal }: Config): string {
  const plan = typeof service.plan === 'string' ? service.plan : `${service.plan.requestsPerMinute} requests per minute`
  const share = service.share === 1 ? '' : `, ${service.share * 100} % of the plan are used`
  const rpc = chain.rpc.map(({ url }) => url.describe()).join(', ')
  return rows([
    ['service', service.kind === 'sandbox' ? 'sandbox, without real money' : service.baseUrl],
    ...(service.kind === 'sandbox' ? [] : [['key', service.apiKey?.describe() ?? 'none'] as const]),
    ['plan', plan + share],
    ...(rpc ? [['rpc', rpc] as const] : []),
    ...wallets.flatMap(walletRows),
    ['journal', `${journal.path}, ${tapeText(journal)}`],
  ])
}

function tapeText({ path, archive, keepTapeDays }: Config['journal']): string {
  return archive ? `keeps the tape; closed days move to ${path}.tape` : `keeps the tape for ${keepTapeDays} days`
}

/** Returns the rows with the public key, the signer and the limits of a wallet. */
function walletRows(wallet: WalletConfig): [string, string][] {
  const { name, publicKey = '', limits } = wallet
  const text =
    name === '' ? publicKey : `${name}${publicKey === '' ? ', on paper or on the sandbox' : `, ${publicKey}`}`
  return [...(text === '' ? [] : [['wallet', text] as [string, string]]), ...signer(wallet), ...together(limits)]
}

/** Row with the limits on all bots together, from the wallet's section; no row if there are none. */
function together(limits: WalletLimits): [string, string][] {
  const text = sentencesOf<WalletLimits>(WALLET_LIMITS, limits).join(', ')
  return text === '' ? [] : [['together', text]]
}

function signer({ keypairPath, signerPath, caps }: WalletConfig): [string, string][] {
  if (signerPath !== undefined) return [['signer', `${signerPath}, with its own caps`]]
  if (keypairPath === undefined) return []
  const capText = listed('none', [
    [caps.perTransaction, (value) => `${sol(value)} SOL per transaction`],
    [caps.perHour, (value) => `${sol(value)} SOL per hour`],
    [caps.perDay, (value) => `${sol(value)} SOL per day`],
  ])
  return [['signer', `started by this process, key from ${keypairPath}; caps: ${capText}`]]
}

function botText(bot: BotConfig, { service }: Config): string {
  const { orders } = bot
  const fee = orders.priorityFeeLamports === null ? 'auto' : `${formatSol(orders.priorityFeeLamports)} SOL`
  const live = service.kind === 'sandbox' ? 'live on the sandbox' : 'live with --live, else paper'
  const own = bot.mode === 'live' ? `${live}, ${bot.executor} executor` : `paper, ${sol(bot.paper.lamports)} SOL`
  const where = bot.wallet === undefined ? own : `${own}, wallet ${bot.wallet}`
  const params = Object.entries(bot.params ?? {}).map(([key, value]) => `${key} ${printable(JSON.stringify(value))}`)
  return [
    `${bold(bot.name)}  ${bot.strategy.name}, ${bot.mode === 'live' ? yellow(where) : where}`,
    rows([
      ['params', params.join(', ') || 'none'],
      ['exits', exitSentences(bot.exits).join(', ') || 'none'],
      ...overridden(bot),
      [
        'buys',
        `slippage ${(orders.slippageLadder ?? [orders.slippagePercent]).join(', ')} %, priority fee ${fee}, sent within ${orders.ttlMs / 1000} s, on events up to ${orders.maxEventAgeMs / 1000} s old, at most ${orders.maxChasePercent} % above the price of the decision`,
      ],
      ['sales', sales(bot)],
      ['limits', sentencesOf<Limits>(LIMITS, bot.limits).join(', ') || 'none'],
      ['mints', tokenChecks(bot)],
      ...filters(bot),
      ...sources(bot),
      ...paperFills(bot),
    ]),
  ].join('\n')
}

function sales({ exitOrders: { slippageLadder, priorityFeeLadder, retryMs } }: BotConfig): string {
  const fees = priorityFeeLadder.map(formatSol).join(', ')
  const fee = fees === '' ? '' : `, priority fee ${fees} SOL`
  return `slippage ${slippageLadder.join(', ')} %${fee}, retry after ${retryMs / 1000} s`
}

/** Row with the exits of the YAML file that override exits of the strategy; no row if there are none. */
function overridden({ overriddenExits }: BotConfig): [string, string][] {
  if (overriddenExits.length === 0) return []
  const way = "set `exits: strategy` at the bot to keep the strategy's"
  return [['', `defaults.exits overrides the strategy: ${printable(overriddenText(overriddenExits))} (${way})`]]
}

function filters({ filters }: BotConfig): [string, string][] {
  const text = sentencesOf<EntryFilters>(FILTERS, filters).join(', ')
  return text === '' ? [] : [['tokens', printable(text)]]
}

/** Row with the address, the interval and the file of each source; no row if the strategy declares none. */
function sources({ sources = {} }: BotConfig): [string, string][] {
  const texts = Object.entries(sources).map(([name, { url, everyMs, file }]) => {
    const live = url === undefined ? 'no url, for backtests only' : `${url.describe()} every ${everyMs / 1000} s`
    return `${name} from ${live}${file === undefined ? '' : `, in backtests from ${file}`}`
  })
  return texts.length === 0 ? [] : [['sources', printable(texts.join('; '))]]
}

/** Row with the settings for fills on paper that differ from the defaults; no row if none differs. */
function paperFills({ paper }: BotConfig): [string, string][] {
  const text = changedAssumptions(paper)
  return text === '' ? [] : [['on paper', text]]
}

function tokenChecks({ tokenChecks: { when, allow } }: BotConfig): string {
  if (when === 'off') return 'not checked: a creator may be able to freeze, seize or mint tokens'
  const how =
    when === 'before' ? 'checked before the first buy' : 'checked after the first buy; a token that fails is sold'
  return allow.length === 0 ? how : `${how}; allowed: ${allow.join(', ')}`
}

function listed(
  none: string,
  items: readonly (readonly [number | null | undefined, (value: number) => string])[],
): string {
  const there = items.flatMap(([value, text]) => (value === null || value === undefined ? [] : [text(value)]))
  return there.join(', ') || none
}

const HEADER = ['', 'one buy', 'per hour', 'per day', 'held at once', 'total loss', 'break-even']
/** Maximum length of a line of text, characters, because longer lines are hard to read. */
const MAX_WIDTH = 118
const MEANING =
  'Upper bounds of the SOL that leaves the wallet, with maximum slippage, fees and rent. They assume buys of the smallest size, because then the fees are largest; limits.minSolPerOrder and limits.maxSlippagePercent lower the bounds. Fees of sales are not included. Break-even is the price rise at which a sale returns the fees and the rent of a typical buy, before slippage and price impact.'

/** Sum of the worst cases of all wallets: of the live bots, or if there are none, of the paper bots. */
export function togetherOf(config: Config): WorstCase {
  return worstSum(config.wallets.flatMap((wallet) => worstOf(config, wallet) ?? []))
}

/**
 * Worst case of all live bots of one wallet together, or of its paper bots if the configuration has no live bot;
 * undefined if the wallet has no such bots. Paper bots of a wallet without a name share no money, so the limits of this
 * wallet do not limit their sum.
 */
export function worstOf({ bots, service }: Config, { name, limits }: WalletConfig): WorstCase | undefined {
  const isLive = bots.some(({ mode }) => mode === 'live')
  const own = bots.filter(({ mode, wallet = '' }) => wallet === name && (mode === 'live') === isLive)
  if (own.length === 0) return undefined
  return worstTogether(own, isLive || name !== '' ? limits : NO_LIMITS, service.plan)
}

/** Table with the worst case of each bot and of all bots together. */
function worstText(config: Config): string {
  const { bots, wallets, service } = config
  const lines = bots.map((bot) => {
    const worst = worstCaseOf(bot, walletOf(config, bot).limits, service.plan)
    return [bot.name, ...amounts(worst), riseOf(bot, worst)]
  })
  if (wallets.length > 1)
    for (const wallet of wallets) {
      const worst = worstOf(config, wallet)
      if (worst !== undefined) lines.push([`wallet ${wallet.name}`, '', ...amounts(worst).slice(1), ''])
    }
  if (bots.length > 1) lines.push(['together', '', ...amounts(togetherOf(config)).slice(1), ''])
  const meaning = wrapped(MEANING, Math.min(process.stdout.columns ?? MAX_WIDTH, MAX_WIDTH)).map(dim)
  return [`${bold('Worst case')}, SOL`, ...worstTable([HEADER, ...lines]), ...meaning].join('\n')
}

function worstTable(lines: readonly (readonly string[])[]): string[] {
  return table(lines).map((line, index) => (index === 0 ? dim(`  ${line}`) : `  ${line}`))
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

/** Text about the requests and connections that the bots need from the service's plan. */
function planText(config: Config): string {
  const needs = planNeeds(config)
  const { plan, requestsPerMinute, keptForExits, sockets, connections, keys } = needs
  const which = config.service.plan === 'auto' ? `${plan.name} until the service reports the plan` : plan.name
  return [
    `${bold('Plan')}, ${which}`,
    rows([
      ['requests', `${requestsPerMinute} per minute, ${keptForExits} of them reserved for exits`],
      ['feed', `${sockets} of ${connections} connections; ${counted(keys, 'subscription')}, plus one per position`],
      ['flatten', flatten(needs)],
    ]),
  ].join('\n')
}

function flatten({ positions, flattenSeconds }: PlanNeeds): string {
  if (positions === null || flattenSeconds === null) return 'no upper bound, because limits.maxOpenPositions is not set'
  const many = counted(positions, 'position')
  if (flattenSeconds === 0)
    return `${many}: all sales are sent immediately, and each lands some seconds after it is sent`
  return `${many}: all sales are sent within ${flattenSeconds} s, and each lands some seconds after it is sent`
}
