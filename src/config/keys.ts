import { asksForLaunches } from '../core/launches.ts'
import type { Config } from './config.ts'

/** What bots subscribe from the start: what their strategies name, and new tokens where a limit or a filter asks who announced what. */
export function keysOf({ bots, wallet }: Pick<Config, 'bots' | 'wallet'>): string[] {
  const keys = new Set(bots.flatMap(({ strategy }) => strategy.strategy.keys))
  if (bots.some((bot) => asksForLaunches({ ...bot, walletLimits: wallet.limits }))) keys.add('newTokens')
  return [...keys]
}
