import { SluiceError } from '../../base/errors.ts'
import type { Position } from '../accounting/position.ts'
import type { Wants } from '../engine-state.ts'
import type { Input, StartInput, StoppedBot } from '../messages.ts'
import type { BotMoney } from '../recovered-money.ts'
import type { BotSettings } from '../settings.ts'
import type { Strategy } from '../strategy.ts'
import type { StrategyRunner } from './strategy-runner.ts'
import type { SubscriptionRouter } from './subscription-router.ts'

/** The configured bots, in the order of the configuration. */
export class Bots {
  #runners: readonly StrategyRunner[] = []
  /** The runners by the name of their bot. Each order looks its bot up several times. */
  readonly #byName = new Map<string, StrategyRunner>()

  all(): readonly StrategyRunner[] {
    return this.#runners
  }

  add(runner: StrategyRunner): void {
    this.#runners = [...this.#runners, runner]
    this.#byName.set(runner.name, runner)
  }

  of(bot: string): StrategyRunner | undefined {
    return this.#byName.get(bot)
  }

  /** Returns the settings of the bot that sells a position. If the bot of the position is no longer configured, another
   *  bot of the same wallet sells, and the exits that were fixed when the position opened still apply. Throws
   *  SluiceError if the wallet has no configured bot. */
  sellerOf({ bot, account }: Position): BotSettings {
    const runner = this.of(bot) ?? this.#runners.find(({ settings }) => settings.account.id === account)
    if (runner === undefined) throw new SluiceError(`account ${account} does not belong to any configured bot`)
    return runner.settings
  }

  /** Starts the strategies, except those in `stopped`, which failed in an earlier engine. */
  start(stopped: StartInput['stopped'], wants: Wants, router: SubscriptionRouter): void {
    for (const runner of this.#runners) {
      for (const key of runner.keys) {
        wants.add(key)
        router.subscribe(runner, key)
      }
      const stop = stopOf(stopped, runner.settings)
      if (stop === undefined) runner.start()
      else runner.stop(stop)
    }
  }

  /** Notifies each bot of a gap of the feed that affects at least one of its subscription keys. */
  missed({ from, to, keys }: Extract<Input, { kind: 'gap' }>): void {
    const gap = Object.freeze({ from, to, keys: Object.freeze([...keys]) })
    for (const runner of this.#runners)
      if (keys.some((key) => runner.keys.has(key))) runner.guard(() => runner.handlers.onGap?.(gap))
  }
}

/** Stands in for a strategy that is not available or must not run. */
export const NO_STRATEGY = {
  name: '',
  about: '',
  params: undefined,
  keys: [],
  start: () => ({}),
} as unknown as Strategy

/** Returns the strategy that a bot runs. Throws SluiceError if the strategy is missing. */
export function strategyOf(
  settings: BotSettings,
  start: StartInput,
  strategies: ReadonlyMap<string, Strategy>,
): Strategy {
  const strategy = stopOf(start.stopped, settings) === undefined ? strategies.get(settings.strategy) : NO_STRATEGY
  if (strategy === undefined) throw new SluiceError(`strategy ${settings.strategy} was not loaded`)
  return strategy
}

/** Returns the recorded state of a bot; undefined for a new bot. */
export function moneyIn({ money }: StartInput, { name, account }: BotSettings): BotMoney | undefined {
  return money.bots.find((one) => one.bot === name && one.account === account.id)
}

function stopOf(stopped: StartInput['stopped'], { name }: BotSettings): StoppedBot | undefined {
  return stopped?.find(({ bot }) => bot === name)
}
