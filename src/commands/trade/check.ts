import { ExitCode } from '../../base/errors.ts'
import { counted } from '../../base/text.ts'
import { type Lamports, lamportsToSol } from '../../base/units.ts'
import { walletOf } from '../../config/accounts.ts'
import type { BotConfig, Config, WalletConfig } from '../../config/config.ts'
import { writtenModel } from '../../config/fill-assumptions.ts'
import { type LoadResult, loadConfig } from '../../config/load.ts'
import { breakEvenPercent, usualBuyOf, type WorstCase, worstCaseOf } from '../../config/worst-case.ts'
import { formatErrors } from '../../config/yaml/errors.ts'
import { type EntryFilters, FILTERS } from '../../engine/limits/entry-filters.ts'
import { LIMITS, type Limits, WALLET_LIMITS, type WalletLimits } from '../../engine/limits/limit-rules.ts'
import { writtenFrom } from '../../engine/limits/setting-rows.ts'
import { planNeeds } from '../../live/plan-needs.ts'
import { MINT_TRAITS } from '../../solana/mint.ts'
import { defineCommand, JSON_LINE } from '../options.ts'
import { checkText, togetherOf, worstOf } from './check-text.ts'

/** Lists all errors of a configuration, or shows its bots and their worst case. Opens no connection, and reads only one
 *  secret: the key of `desk.tls`, to check that it belongs to the certificate. */
export const command = defineCommand({
  options: { json: JSON_LINE },
  async run(files, { json }) {
    const result = await loadConfig(files, { certificateAt: Date.now() })
    if (json) console.log(JSON.stringify(checkJson(result)))
    else if (result.ok) console.log(checkText(result.config))
    else console.error(`${formatErrors(result.errors)}\n\n${counted(result.errors.length, 'error')}`)
    return result.ok ? ExitCode.done : ExitCode.usage
  },
})

/** Output of `check --json`. Amounts and times have the units of the YAML; null means unlimited. */
export function checkJson(result: LoadResult): object {
  if (!result.ok) return { ok: false, errors: result.errors, bots: [] }
  const { config } = result
  const { warnings, bots } = config
  return {
    ...{ ok: true, errors: [], warnings, ...walletsJson(config), bots: bots.map((bot) => botJson(bot, config)) },
    ...(bots.length > 0 && { worstTogether: worstJson(togetherOf(config)), plan: planJson(config) }),
  }
}

/** Returns the limits of the wallets as JSON: those of each wallet by its name, or those of the only wallet if it has
 *  no name. */
function walletsJson(config: Config): object {
  const limitsOf = ({ limits }: WalletConfig) => {
    const written = writtenFrom<WalletLimits>(WALLET_LIMITS, limits)
    return { ...written, minBalanceSol: written.minBalanceSol ?? 'auto' }
  }
  const [only] = config.wallets
  if (only?.name === '') return { walletLimits: limitsOf(only) }
  const wallets = config.wallets.map((wallet) => ({
    ...{ name: wallet.name, publicKey: wallet.publicKey ?? null, limits: limitsOf(wallet) },
    ...worstOfWallet(config, wallet),
  }))
  return { wallets }
}

function worstOfWallet(config: Config, wallet: WalletConfig): object {
  const worst = worstOf(config, wallet)
  return worst === undefined ? {} : { worstCase: worstJson(worst) }
}

function planJson(config: Config): object {
  const { plan, positions, ...needs } = planNeeds(config)
  return { name: plan.name, isKnown: config.service.plan !== 'auto', ...needs, maxOpenPositions: positions }
}

function worstJson(worst: WorstCase): object {
  return {
    solPerOrder: sol(worst.perOrder),
    solPerHour: sol(worst.perHour),
    solPerDay: sol(worst.perDay),
    exposureSol: sol(worst.exposure),
    lossSol: sol(worst.loss),
  }
}

function botJson(bot: BotConfig, config: Config): object {
  const { name, strategy, params, mode, executor, exits, exitSources, overriddenExits } = bot
  const { orders, exitOrders, limits, tokenChecks } = bot
  const worst = worstCaseOf(bot, walletOf(config, bot).limits, config.service.plan)
  const usualBuy = usualBuyOf(bot, worst)
  return {
    name,
    strategy: strategy.name,
    ...(bot.wallet !== undefined && { wallet: bot.wallet }),
    mode,
    executor,
    params,
    ...{ exits, exitSources, overriddenExits },
    orders: {
      slippagePercent: orders.slippagePercent,
      ...(orders.slippageLadder !== undefined && { slippageLadder: orders.slippageLadder }),
      priorityFeeSol: orders.priorityFeeLamports === null ? 'auto' : lamportsToSol(orders.priorityFeeLamports),
      ttlSeconds: orders.ttlMs / 1000,
      maxEventAgeSeconds: orders.maxEventAgeMs / 1000,
      maxChasePercent: orders.maxChasePercent,
    },
    exitOrders: {
      slippageLadder: exitOrders.slippageLadder,
      priorityFeeLadderSol: exitOrders.priorityFeeLadder.map(lamportsToSol),
      retrySeconds: exitOrders.retryMs / 1000,
    },
    limits: writtenFrom<Limits>(LIMITS, limits),
    filters: writtenFrom<EntryFilters>(FILTERS, bot.filters),
    tokenChecks: {
      when: tokenChecks.when,
      ...Object.fromEntries(
        MINT_TRAITS.map((trait) => [trait, tokenChecks.allow.includes(trait) ? 'allow' : 'refuse']),
      ),
    },
    paper: { balanceSol: lamportsToSol(bot.paper.lamports), ...writtenModel(bot.paper) },
    worstCase: worstJson(worst),
    breakEvenPercent: usualBuy === null ? null : round(breakEvenPercent(usualBuy, orders.priorityFeeLamports)),
  }
}

function sol(amount: Lamports | null): number | null {
  return amount === null ? null : lamportsToSol(amount)
}

function round(percent: number): number {
  return Math.round(percent * 100) / 100
}
