import type { Config } from '../../config/config.ts'
import { DEFAULT_TOKEN_CHECKS } from '../../core/mint-check.ts'
import type { Clock } from '../../core/ports.ts'
import { VettedExecutor } from '../../runtime/vetted-executor.ts'
import type { Route } from '../../runtime/working-order.ts'
import type { LiveChain } from './live-chain.ts'

/** The same way out, by which no mint is bought before it was looked at, or held longer, than the checks of its bot say. */
export function vetted(
  route: Route,
  { bots }: Pick<Config, 'bots'>,
  chain: Pick<LiveChain, 'mints' | 'outgoing'>,
  clock: Clock,
): Route {
  const checks = new Map(bots.map(({ name, tokenChecks }) => [name, tokenChecks]))
  const executor = new VettedExecutor({
    ...{ clock, executor: route.executor },
    checksOf: (bot) => checks.get(bot) ?? DEFAULT_TOKEN_CHECKS,
    read: (mint, told) => chain.mints.read(mint, told),
    refusalOf: (orderId) => chain.outgoing.refusalOf(orderId),
  })
  return { ...route, executor }
}
