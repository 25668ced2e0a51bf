import { accountOf, type Mode } from '../engine/account.ts'
import type { WalletLimits } from '../engine/limits/limit-rows.ts'
import { asksForLaunches, type BotSettings } from '../engine/settings.ts'
import type { BotConfig, Config } from './config.ts'

/** What is known once the service and the chain were asked, and what the command allows. */
export interface Resolved {
  /** Host of the service. */
  readonly service: string
  /** Genesis hash. */
  readonly cluster: string
  /** Public key. */
  readonly wallet: string
  /** `live` only with `--live`: without it a live bot runs on paper, except on the sandbox, whose money is not real. */
  readonly allow: Mode
}

/** The bots as the engine takes them, and what the user has to be told about them. */
export function botSettings(config: Config, resolved: Resolved): { settings: BotSettings[]; notices: string[] } {
  const modes = config.bots.map((bot) => modeOf(bot, config, resolved.allow))
  return {
    settings: config.bots.map((bot, index) => settingsOf(bot, config.wallet.limits, modes[index] ?? 'paper', resolved)),
    notices: config.bots
      .filter((bot, index) => bot.mode === 'live' && modes[index] === 'paper')
      .map(({ name }) => `${name} has mode: live and runs on paper, because --live was not given`),
  }
}

function modeOf(bot: BotConfig, { service }: Config, allow: Mode): Mode {
  if (allow === 'backtest') return 'backtest'
  return bot.mode === 'live' && (allow === 'live' || service.kind === 'sandbox') ? 'live' : 'paper'
}

function settingsOf(
  bot: BotConfig,
  walletLimits: WalletLimits,
  mode: Mode,
  { service, cluster, wallet }: Resolved,
): BotSettings {
  const live = mode === 'live'
  return {
    name: bot.name,
    strategy: bot.strategy.name,
    params: bot.params,
    account: live ? accountOf(mode, service, cluster, wallet) : accountOf(mode, service, '', bot.name),
    executor: live ? bot.executor : 'paper',
    orders: bot.orders,
    exitOrders: bot.exitOrders,
    exits: bot.exits,
    limits: bot.limits,
    walletLimits,
    tokenChecks: bot.tokenChecks,
    filters: bot.filters,
    paperLamports: bot.paper.lamports,
    seed: bot.paper.seed,
  }
}

/** What bots subscribe from the start: what their strategies name, and new tokens where a limit or a filter asks who
 *  announced what. */
export function keysOf({ bots, wallet }: Pick<Config, 'bots' | 'wallet'>): string[] {
  const keys = new Set(bots.flatMap(({ strategy }) => strategy.strategy.keys))
  if (bots.some((bot) => asksForLaunches({ ...bot, walletLimits: wallet.limits }))) keys.add('newTokens')
  return [...keys]
}
