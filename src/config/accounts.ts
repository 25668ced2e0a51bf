import { accountOf, type Mode } from '../engine/account.ts'
import type { WalletLimits } from '../engine/limits/limits.ts'
import { asksForLaunches, type BotSettings } from '../engine/settings.ts'
import type { BotConfig, Config } from './config.ts'

/** Facts about the account that the service and the chain report, and the mode that the command allows. */
export interface Resolved {
  /** Host of the service, as in the id of an account. */
  readonly service: string
  /** Genesis hash of the chain. */
  readonly cluster: string
  /** Public key of the wallet. */
  readonly wallet: string
  /** Mode that the command allows. It is `live` only with `--live`. Without it a live bot runs on paper, unless the
   *  service is the sandbox, which has no real money. */
  readonly allow: Mode
}

/** Converts the configuration to the engine's settings of the bots; also returns notices for the user. */
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
    ...(bot.quoteFees !== undefined && { quoteFees: bot.quoteFees }),
  }
}

/** Subscription keys of the start: those of the strategies, and `newTokens` if a limit or a filter needs the
 *  announcements of new tokens. */
export function keysOf({ bots, wallet }: Pick<Config, 'bots' | 'wallet'>): string[] {
  const keys = new Set(bots.flatMap(({ strategy }) => strategy.strategy.keys))
  if (bots.some((bot) => asksForLaunches({ ...bot, walletLimits: wallet.limits }))) keys.add('newTokens')
  return [...keys]
}
