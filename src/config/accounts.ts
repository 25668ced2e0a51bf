import { assert, ExitCode, SluiceError } from '../base/errors.ts'
import { accountOf, type Mode, paperWallet } from '../engine/account.ts'
import { widthsOf } from '../engine/bars/bar-plan.ts'
import { asksForLaunches, type BotSettings } from '../engine/settings.ts'
import type { BotConfig, Config, WalletConfig } from './config.ts'
import { didYouMean } from './yaml/wording.ts'

/** Facts about the account that the service and the chain report, and the mode that the command allows. */
export interface Resolved {
  /** Host of the service, as it appears in the id of an account. */
  readonly service: string
  /** Genesis hash of the chain. */
  readonly cluster: string
  /** Returns the public key of a wallet by its name; '' if it has none. */
  readonly publicKeyOf: (wallet: string) => string
  /** Highest mode that the command allows: `live` only with `--live`. Without `--live`, a live bot runs on paper,
   *  unless the service is the sandbox, which has no real money. */
  readonly allow: Mode
}

/** Converts the configuration to the engine's settings of the bots; also returns notices for the user. */
export function botSettings(config: Config, resolved: Resolved): { settings: BotSettings[]; notices: string[] } {
  const modes = config.bots.map((bot) => modeOf(bot, config, resolved.allow))
  return {
    settings: config.bots.map((bot, index) =>
      settingsOf(bot, walletOf(config, bot), modes[index] ?? 'paper', resolved),
    ),
    notices: config.bots
      .filter((bot, index) => bot.mode === 'live' && modes[index] === 'paper')
      .map(({ name }) => `${name} has mode: live, but runs on paper: start it with --live to trade real money`),
  }
}

export function walletOf(
  { wallets }: Pick<Config, 'wallets'>,
  { wallet = '' }: Pick<BotConfig, 'wallet'>,
): WalletConfig {
  return walletCalled(wallets, wallet)
}

/** Returns the wallet of this name. If the configuration names no wallets, the name of its only wallet is ''. */
export function walletCalled<W extends { readonly name: string }>(wallets: readonly W[], name: string): W {
  const found = wallets.find((wallet) => wallet.name === name)
  assert(found !== undefined, `there is no wallet ${name}`)
  return found
}

/** Returns the wallet of this name; without a name, the only one. Throws a SluiceError if there is no such wallet, or
 *  if several exist and none is named. */
export function walletNamed<W extends { readonly name: string }>(wallets: readonly W[], name: string | undefined): W {
  const names = wallets.map((wallet) => wallet.name)
  const known = names[0] === '' ? 'the configuration has no section `wallets`' : `the wallets are ${names.join(', ')}`
  if (name === undefined && wallets.length > 1)
    throw new SluiceError(`--wallet NAME is required: ${known}`, ExitCode.usage)
  const found = name === undefined ? wallets[0] : wallets.find((wallet) => wallet.name === name && name !== '')
  if (found === undefined)
    throw new SluiceError(`--wallet ${name}: ${known}${didYouMean(name ?? '', names)}`, ExitCode.usage)
  return found
}

function modeOf(bot: BotConfig, { service }: Config, allow: Mode): Mode {
  if (allow === 'backtest') return 'backtest'
  return bot.mode === 'live' && (allow === 'live' || service.kind === 'sandbox') ? 'live' : 'paper'
}

function settingsOf(
  bot: BotConfig,
  { limits: walletLimits }: WalletConfig,
  mode: Mode,
  { service, cluster, publicKeyOf }: Resolved,
): BotSettings {
  const live = mode === 'live'
  const bars = widthsOf(bot.strategy.strategy, bot.params)
  return {
    name: bot.name,
    strategy: bot.strategy.name,
    params: bot.params,
    ...(bars.length > 0 && { bars }),
    ...(bot.wallet !== undefined && { wallet: bot.wallet }),
    account: live
      ? accountOf(mode, service, cluster, publicKeyOf(bot.wallet ?? ''))
      : accountOf(mode, service, '', mode === 'paper' && bot.wallet !== undefined ? paperWallet(bot.wallet) : bot.name),
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

/** Returns the subscription keys with which a run starts: those of the strategies, and `newTokens` if a limit or a
 *  filter needs the announcements of new tokens. */
export function keysOf({ bots, wallets }: Pick<Config, 'bots' | 'wallets'>): string[] {
  const keys = new Set(bots.flatMap(({ strategy }) => strategy.strategy.keys))
  if (bots.some((bot) => asksForLaunches({ ...bot, walletLimits: walletOf({ wallets }, bot).limits })))
    keys.add('newTokens')
  return [...keys]
}
