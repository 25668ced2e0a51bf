import { keysOf, walletOf } from '../config/accounts.ts'
import type { Config } from '../config/config.ts'
import type { Plan } from '../engine/settings.ts'
import { shareOf } from '../orders/budget-status.ts'
import { reservedOf } from '../orders/plan-limiter.ts'
import { termsOf } from '../venues/terms.ts'

/** Requirements of a configuration, and the part of the plan that this process may use. */
export interface PlanNeeds {
  readonly plan: Plan
  /** HTTPS requests per minute; of these, `keptForExits` are reserved for exits. */
  readonly requestsPerMinute: number
  readonly keptForExits: number
  readonly sockets: number
  readonly connections: number
  /** Number of subscription keys of the strategies. Each position and each open order needs one more key. */
  readonly keys: number
  /** Largest number of open positions; null if it is unlimited. */
  readonly positions: number | null
  /** Seconds that it takes to send a sale of every position, if no sale fails and entries have already used their share
   *  of the plan; null if the number of positions is unlimited. Each sale lands some seconds after it is sent. */
  readonly flattenSeconds: number | null
}

/** Computes the requirements. The plan `auto` counts as the Standard plan until the service names the plan. */
export function planNeeds({ bots, service, wallets, chain }: Config, named?: Plan): PlanNeeds {
  const plan = named ?? termsOf(service).plans.first(service.plan)
  const requestsPerMinute = shareOf(plan.requestsPerMinute, service.share)
  const keptForExits = reservedOf(requestsPerMinute)
  const live = bots.filter(({ mode }) => mode === 'live')
  const selling = live.length > 0 ? live : bots
  const positions = sumOf(
    [...Map.groupBy(selling, (bot) => walletOf({ wallets }, bot))].map(([wallet, own]) => {
      const sum = sumOf(own.map(({ limits }) => limits.maxOpenPositions))
      // On paper, the limits of a wallet without a name apply to each bot separately.
      const together = live.length > 0 || wallet.name !== '' ? wallet.limits.maxOpenPositions : null
      return sum === null || together === null ? (sum ?? together) : Math.min(sum, together)
    }),
  )
  const sends = selling.some(({ executor }) => executor === 'local') ? chain.rpc[0]?.sendsPerSecond : undefined
  return {
    ...{ plan, requestsPerMinute, keptForExits, sockets: 1, connections: plan.connections },
    ...{ keys: keysOf({ bots, wallets }).length, positions },
    flattenSeconds: positions === null ? null : secondsToSell(positions, requestsPerMinute, keptForExits, sends),
  }
}

/** Returns the sum of the numbers; null if one of them is unlimited. */
function sumOf(numbers: readonly (number | null)[]): number | null {
  return numbers.includes(null) ? null : numbers.reduce<number>((total, one) => total + (one ?? 0), 0)
}

/** Returns the seconds until this number of sales is sent. The `kept` requests that are reserved for exits can be sent
 *  immediately. After that, every minute permits `perMinute` further requests. */
function secondsToSell(sales: number, perMinute: number, kept: number, sendsPerSecond: number | undefined): number {
  const minutes = Math.ceil(Math.max(0, sales - kept) / perMinute)
  return Math.max(minutes * 60, sendsPerSecond === undefined ? 0 : Math.ceil(sales / sendsPerSecond))
}
