import { SluiceError } from '../../base/errors.ts'
import type { Position } from '../accounting/position.ts'
import type { Wants } from '../engine-state.ts'
import type { Input, StartInput, StoppedBot } from '../messages.ts'
import type { BotMoney } from '../recovered-money.ts'
import type { BotSettings } from '../settings.ts'
import type { Strategy } from '../strategy.ts'
import type { StrategyRunner } from './strategy-runner.ts'
import type { SubscriptionRouter } from './subscription-router.ts'

/** The bots of a start, in the order of the configuration. */
export class Bots {
  #traders: readonly StrategyRunner[] = []

  all(): readonly StrategyRunner[] {
    return this.#traders
  }

  add(trader: StrategyRunner): void {
    this.#traders = [...this.#traders, trader]
  }

  of(bot: string): StrategyRunner | undefined {
    return this.#traders.find(({ name }) => name === bot)
  }

  /** Exits are fixed when a position opens, so they hold for a bot that is not configured any more: another one of its
   *  wallet sells. */
  sellerOf({ bot, account }: Position): BotSettings {
    const trader = this.of(bot) ?? this.#traders.find(({ settings }) => settings.account.id === account)
    if (trader === undefined) throw new SluiceError(`${account} belongs to no bot of this start`)
    return trader.settings
  }

  /** Strategies begin, or it is said, once, which of them may not. */
  begin(start: StartInput, wants: Wants, audience: SubscriptionRouter): void {
    for (const trader of this.#traders) {
      for (const key of trader.keys) {
        wants.add(key)
        audience.subscribe(trader, key)
      }
      const stop = stopOf(start, trader.settings)
      if (stop === undefined) trader.start()
      else trader.stop(stop)
    }
  }

  /** Tells those that one of its keys is of. */
  missed({ from, to, keys }: Extract<Input, { kind: 'gap' }>): void {
    const gap = Object.freeze({ from, to, keys: Object.freeze([...keys]) })
    for (const trader of this.#traders)
      if (keys.some((key) => trader.keys.has(key))) trader.guard(() => trader.handlers.onGap?.(gap))
  }
}

/** Does nothing: of a bot that only closes what it holds, or whose own there is not. */
export const NO_STRATEGY = {
  name: '',
  about: '',
  params: undefined,
  keys: [],
  start: () => ({}),
} as unknown as Strategy

/** What a bot of this start runs. */
export function strategyOf(
  settings: BotSettings,
  start: StartInput,
  strategies: ReadonlyMap<string, Strategy>,
): Strategy {
  const strategy = stopOf(start, settings) === undefined ? strategies.get(settings.strategy) : NO_STRATEGY
  if (strategy === undefined) throw new SluiceError(`no strategy ${settings.strategy}`)
  return strategy
}

/** What the journal holds of a bot. */
export function moneyIn({ money }: StartInput, { name, account }: BotSettings): BotMoney | undefined {
  return money.bots.find((one) => one.bot === name && one.account === account.id)
}

function stopOf({ stopped }: StartInput, { name }: BotSettings): StoppedBot | undefined {
  return stopped?.find(({ bot }) => bot === name)
}
