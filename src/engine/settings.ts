import type { Json } from '../base/json.ts'
import type { Lamports } from '../base/units.ts'
import type { Width } from '../market/bar-width.ts'
import type { Account } from './account.ts'
import type { ExitRules } from './exits/exit-settings.ts'
import { type EntryFilters, FILTERS } from './limits/entry-filters.ts'
import { LIMITS, type Limits, type WalletLimits } from './limits/limit-rules.ts'
import { needsLaunches } from './limits/setting-rows.ts'
import type { TokenChecks } from './limits/token-checks.ts'
import type { ExecutorKind } from './order.ts'

/** Configuration of one bot with every default filled in. It is plain JSON, because the journal records it. */
export interface BotSettings {
  readonly name: string
  /** Name or path of the strategy. */
  readonly strategy: string
  readonly params: Json
  /** Widths of the bars that the strategy declares for these params, for charts. Absent if it declares none, and in
   *  older journals. */
  readonly bars?: readonly Width[]
  /** Name of the wallet in the configuration. Absent if the configuration does not name the wallet, and in older
   *  journals. */
  readonly wallet?: string
  readonly account: Account
  readonly executor: ExecutorKind
  readonly orders: OrderSettings
  readonly exitOrders: ExitOrderSettings
  /** Exits of positions whose buy sets no exits. */
  readonly exits: ExitRules
  readonly limits: Limits
  /** Limits that apply to all bots of the wallet together. Each bot of a wallet has the same value here. */
  readonly walletLimits: WalletLimits
  /** Filters of the tokens that the bot may buy. */
  readonly filters: EntryFilters
  readonly tokenChecks: TokenChecks
  /** Initial balance of a paper account. */
  readonly paperLamports: Lamports
  /** Seed of this bot's random numbers. Each bot has its own, so that bots do not influence each other. */
  readonly seed: number
  /** Fees that the quotes of the bot include. Absent in older journals, whose quotes included only the venue's usual
   *  fee, the base fee and the rent. */
  readonly quoteFees?: QuoteFees
}

/** Returns the section of the configuration that sets the limits of a bot's wallet. */
export function walletSection({ wallet }: Pick<BotSettings, 'wallet'>): string {
  return wallet === undefined ? 'wallet.limits' : `wallets.${wallet}.limits`
}

/** Fees that `quoteBuy` and `quoteSell` include. */
export interface QuoteFees {
  /** Percent of the traded SOL. */
  readonly venuePercent: number
  readonly servicePercent: number
  readonly baseLamports: Lamports
  readonly buyPriorityLamports: Lamports
  readonly sellPriorityLamports: Lamports
  readonly rentLamports: Lamports
}

/** Settings of entries. */
export interface OrderSettings {
  /** Slippage of the first attempt, percent; 0.1 to 50. */
  readonly slippagePercent: number
  /** Slippage of the first, second, ... attempt of a buy that is refused for its slippage, percent. Absent if such a
   *  buy has only one attempt. */
  readonly slippageLadder?: readonly number[]
  /** Priority fee; null if the service chooses it. */
  readonly priorityFeeLamports: Lamports | null
  /** An entry expires if it is not sent within this time after its decision, ms. */
  readonly ttlMs: number
  /** An entry is refused if the row that caused it is older than this, ms. The age of a row is its lag (time of arrival
   *  minus the service's timestamp) minus the usual lag of rows. */
  readonly maxEventAgeMs: number
  /** An entry is cancelled if the robust price rises by more than this percentage before the entry is sent. */
  readonly maxChasePercent: number
}

/** Settings of exits. */
export interface ExitOrderSettings {
  /** Slippage of the first, second, ... attempt, percent. */
  readonly slippageLadder: readonly number[]
  /** Priority fee of the first, second, ... attempt. If it is empty, the fee in `orders` applies. */
  readonly priorityFeeLadder: readonly Lamports[]
  /** Delay in ms before a failed sale is retried, and before a full exit is repeated because there is no evidence that
   *  it executed. */
  readonly retryMs: number
}

/** The numbers of a plan of the service. */
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
