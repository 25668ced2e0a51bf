import { keysOf } from '../config/accounts.ts'
import type { Config } from '../config/config.ts'
import type { Plan } from '../engine/settings.ts'
import { shareOf } from '../orders/budget.ts'
import { reservedOf } from '../orders/limiter.ts'
import { venueOf } from '../venues/registry.ts'

/** What a configuration needs of the plan, and what of it there is for this process. */
export interface PlanNeeds {
  readonly plan: Plan
  /** For all HTTPS requests; so many of them are kept for exits. */
  readonly requestsPerMinute: number
  readonly keptForExits: number
  readonly sockets: number
  readonly connections: number
  /** Subscriptions of the strategies; each position and open order is one more. */
  readonly keys: number
  /** The most that may be held at once; null where nothing bounds it. */
  readonly positions: number | null
  /** How long it takes until a sale of each of them has left, where every one goes through at once and entries had used
   *  up their part of the plan; null where nothing bounds the positions. Until they have landed some seconds more. */
  readonly flattenSeconds: number | null
}

/** `auto` is taken for the Standard plan, until the service says which it is. */
export function planNeeds({ bots, service, wallet, chain }: Config, named?: Plan): PlanNeeds {
  const plan = named ?? venueOf(service).plans.first(service.plan)
  const requestsPerMinute = shareOf(plan.requestsPerMinute, service.share)
  const keptForExits = reservedOf(requestsPerMinute)
  const live = bots.filter(({ mode }) => mode === 'live')
  const selling = live.length > 0 ? live : bots
  const most = selling.map(({ limits }) => limits.maxOpenPositions)
  const sum = most.includes(null) ? null : most.reduce<number>((total, one) => total + (one ?? 0), 0)
  const together = live.length > 0 ? wallet.limits.maxOpenPositions : null
  const positions = sum === null || together === null ? (sum ?? together) : Math.min(sum, together)
  const sends = selling.some(({ executor }) => executor === 'local') ? chain.rpc[0]?.sendsPerSecond : undefined
  return {
    ...{ plan, requestsPerMinute, keptForExits, sockets: 1, connections: plan.connections },
    ...{ keys: keysOf({ bots, wallet }).length, positions },
    flattenSeconds: positions === null ? null : secondsToSell(positions, requestsPerMinute, keptForExits, sends),
  }
}

/** What is kept goes at once, the rest as slots of the minute before come free. */
function secondsToSell(sales: number, perMinute: number, kept: number, sendsPerSecond: number | undefined): number {
  const minutes = Math.ceil(Math.max(0, sales - kept) / perMinute)
  return Math.max(minutes * 60, sendsPerSecond === undefined ? 0 : Math.ceil(sales / sendsPerSecond))
}
