import type { Json } from '../base/json.ts'
import type { Lamports } from '../base/units.ts'
import type { Account } from './account.ts'
import type { ExitRules } from './exits/exit-rules.ts'
import { type EntryFilters, FILTERS } from './limits/entry-filters.ts'
import { LIMITS, type Limits, type WalletLimits } from './limits/limit-rows.ts'
import { needsLaunches } from './limits/setting-rows.ts'
import type { TokenChecks } from './limits/token-checks.ts'
import type { ExecutorKind } from './order.ts'

/** One bot as configured, every default filled in: what the engine needs to know of it. Plain JSON, so it lies in the
 *  journal. */
export interface BotSettings {
  readonly name: string
  /** Name or path of the strategy. */
  readonly strategy: string
  readonly params: Json
  readonly account: Account
  readonly executor: ExecutorKind
  readonly orders: OrderSettings
  readonly exitOrders: ExitOrderSettings
  /** Exits of a position for which the order named none. */
  readonly exits: ExitRules
  readonly limits: Limits
  /** Of all bots that trade with its wallet together: the same in each of them. */
  readonly walletLimits: WalletLimits
  /** Which tokens it may buy. */
  readonly filters: EntryFilters
  readonly tokenChecks: TokenChecks
  /** Money that a paper account starts with. */
  readonly paperLamports: Lamports
  /** Its own: what one bot draws does not change what another one does. */
  readonly seed: number
}

/** How entries go out. */
export interface OrderSettings {
  /** Of the first try; 0.1 to 50. */
  readonly slippagePercent: number
  /** Slippage of the first, second, ... try of a buy that is refused for its slippage; absent: there is one try. */
  readonly slippageLadder?: readonly number[]
  /** null: the service chooses. */
  readonly priorityFeeLamports: Lamports | null
  /** An entry that could not be sent so long after its decision is dropped. */
  readonly ttlMs: number
  /** An entry decided on an event older than this is refused: arrival less the service's timestamp, above the usual
   *  difference. */
  readonly maxEventAgeMs: number
  /** An entry is dropped when the robust price ran up by more than this before it was sent. */
  readonly maxChasePercent: number
}

/** How exits go out. */
export interface ExitOrderSettings {
  /** Slippage of the first, second, ... try. */
  readonly slippageLadder: readonly number[]
  /** Priority fee of the first, second, ... try; empty: that of `orders`. */
  readonly priorityFeeLadder: readonly Lamports[]
  /** A sale that failed is tried again so long after, and one of everything of which nothing is known so long after it
   *  was sent. */
  readonly retryMs: number
}

/** A plan tier as numbers. */
export interface Plan {
  readonly name: string
  readonly requestsPerMinute: number
  readonly connections: number
  readonly messagesPerSecond: number
  readonly maxBuyLamports: Lamports
}

/** Whether a limit or a filter of the bot depends on the announcements of new tokens. */
export function asksForLaunches({
  limits,
  walletLimits,
  filters,
}: Pick<BotSettings, 'limits' | 'walletLimits' | 'filters'>): boolean {
  return (
    needsLaunches<Limits>(LIMITS, limits) ||
    needsLaunches<Limits>(LIMITS, walletLimits) ||
    needsLaunches<EntryFilters>(FILTERS, filters)
  )
}
