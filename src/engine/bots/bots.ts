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
  #runners: readonly StrategyRunner[] = []

  all(): readonly StrategyRunner[] {
    return this.#runners
  }

  add(runner: StrategyRunner): void {
    this.#runners = [...this.#runners, runner]
  }

  of(bot: string): StrategyRunner | undefined {
    return this.#runners.find(({ name }) => name === bot)
  }

  /** Exits are fixed when a position opens, so they hold for a bot that is not configured any more: another one of its
   *  wallet sells. */
  sellerOf({ bot, account }: Position): BotSettings {
    const runner = this.of(bot) ?? this.#runners.find(({ settings }) => settings.account.id === account)
    if (runner === undefined) throw new SluiceError(`${account} belongs to no bot of this start`)
    return runner.settings
  }

  /** Strategies begin, or it is said, once, which of them may not. */
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

  /** Tells those that one of its keys is of. */
  missed({ from, to, keys }: Extract<Input, { kind: 'gap' }>): void {
    const gap = Object.freeze({ from, to, keys: Object.freeze([...keys]) })
    for (const runner of this.#runners)
      if (keys.some((key) => runner.keys.has(key))) runner.guard(() => runner.handlers.onGap?.(gap))
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
  const strategy = stopOf(start.stopped, settings) === undefined ? strategies.get(settings.strategy) : NO_STRATEGY
  if (strategy === undefined) throw new SluiceError(`no strategy ${settings.strategy}`)
  return strategy
}

/** What the journal holds of a bot. */
export function moneyIn({ money }: StartInput, { name, account }: BotSettings): BotMoney | undefined {
  return money.bots.find((one) => one.bot === name && one.account === account.id)
}

function stopOf(stopped: StartInput['stopped'], { name }: BotSettings): StoppedBot | undefined {
  return stopped?.find(({ bot }) => bot === name)
}
