import { accountOf, type Mode } from '../engine/account.ts'
import type { WalletLimits } from '../engine/limits/limits.ts'
import { asksForLaunches, type BotSettings } from '../engine/settings.ts'
import type { BotConfig, Config } from './config.ts'

/** Facts that the service and the chain provide, and the mode that the command allows. */
export interface Resolved {
  /** Host of the service. */
  readonly service: string
  /** Genesis hash of the chain. */
  readonly cluster: string
  /** Public key of the wallet. */
  readonly wallet: string
  /** `live` only with `--live`. Without it a live bot runs on paper, unless the service is the sandbox, which has no
   *  real money. */
  readonly allow: Mode
}

/** Settings of the bots for the engine, and notices for the user. */
export function botSettings(config: Config, resolved: Resolved): { settings: BotSettings[]; notices: string[] } {
  const modes = config.bots.map((bot) => modeOf(bot, config, resolved.allow))
  return {
    settings: config.bots.map((bot, index) => settingsOf(bot, config.wallet.limits, modes[index] ?? 'paper', resolved)),
    notices: config.bots
      .filter((bot, index) => bot.mode === 'live' && modes[index] === 'paper')
      .map(({ name }) => `${name} has mode: live, but runs on paper: start it with --live to trade real money`),
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

/** Keys to subscribe at the start: those of the strategies, and new tokens if a limit or a filter needs their
 *  announcements. */
export function keysOf({ bots, wallet }: Pick<Config, 'bots' | 'wallet'>): string[] {
  const keys = new Set(bots.flatMap(({ strategy }) => strategy.strategy.keys))
  if (bots.some((bot) => asksForLaunches({ ...bot, walletLimits: wallet.limits }))) keys.add('newTokens')
  return [...keys]
}
