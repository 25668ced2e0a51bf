import { SluiceError } from './errors.ts'
import type { StartInput, StoppedBot } from './messages.ts'
import type { BotMoney } from './money.ts'
import type { BotSettings } from './settings.ts'
import type { Strategy } from './strategy.ts'
import type { Trader } from './trader.ts'

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

/** Starts its strategy, or says, once, that it may not. */
export function beginTrading(trader: Trader, start: StartInput): void {
  const stop = stopOf(start, trader.settings)
  if (stop === undefined) trader.start()
  else trader.stop(stop)
}

function stopOf({ stopped }: StartInput, { name }: BotSettings): StoppedBot | undefined {
  return stopped?.find(({ bot }) => bot === name)
}
