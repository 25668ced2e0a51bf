import type { Json } from '../base/json.ts'
import type { Lamports } from '../base/units.ts'
import type { Account } from './account.ts'
import type { ExitRules } from './exits/exit-rules.ts'
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

/** Bounds below the strategy. Infinity does not exist in JSON, so an absent bound is null. */
export interface Limits {
  /** Fees weigh more the smaller a buy is. */
  readonly minLamportsPerOrder: Lamports | null
  readonly maxLamportsPerOrder: Lamports | null
  /** Of a buy, whatever the strategy asks for. */
  readonly maxSlippagePercent: number | null
  /** SOL asked by buys in any 60 minutes, open and unknown ones included. */
  readonly maxLamportsPerHour: Lamports | null
  /** The same since 00:00 UTC. */
  readonly maxLamportsPerDay: Lamports | null
  readonly maxOpenPositions: number | null
  /** Position size: SOL in one mint, what is held at cost or at what it is worth, whichever is more. */
  readonly maxLamportsPerMint: Lamports | null
  /** In tokens of one creator at once, those of creators that are not known together; held ones in the same way, open
   *  buys at what they ask for. */
  readonly maxLamportsPerCreator: Lamports | null
  /** The same in all tokens. */
  readonly maxExposureLamports: Lamports | null
  /** Realised and unrealised loss since 00:00 UTC at what selling now would bring; entries stop when it is reached. */
  readonly maxDailyLossLamports: Lamports | null
  /** How far the result, what is held marked at what selling now would bring, may stand below its highest realised
   *  one. */
  readonly maxDrawdownLamports: Lamports | null
  /** Positions closed at a loss in a row, their fees and rent in; then nothing is bought for so long. */
  readonly maxLosingStreak: number | null
  readonly streakPauseMs: number
}

export interface WalletLimits extends Limits {
  /** What a buy has to leave in the wallet at its worst cost; null: the fees of one sale of every position. */
  readonly minBalanceLamports: Lamports | null
}

export const NO_LIMITS: WalletLimits = {
  ...{ minLamportsPerOrder: null, maxSlippagePercent: null },
  ...{ maxLamportsPerOrder: null, maxLamportsPerHour: null, maxLamportsPerDay: null, maxOpenPositions: null },
  ...{ maxLamportsPerMint: null, maxLamportsPerCreator: null, maxExposureLamports: null },
  ...{ maxDailyLossLamports: null, maxDrawdownLamports: null, maxLosingStreak: null, streakPauseMs: 3_600_000 },
  minBalanceLamports: null,
}

/** A plan tier as numbers. */
export interface Plan {
  readonly name: string
  readonly requestsPerMinute: number
  readonly connections: number
  readonly messagesPerSecond: number
  readonly maxBuyLamports: Lamports
}

/** Whether a limit or a filter of this bot cannot be held without knowing who announced what. */
export function asksForLaunches({
  limits,
  walletLimits,
  filters,
}: Pick<BotSettings, 'limits' | 'walletLimits' | 'filters'>): boolean {
  const { minAgeMs, allowCreators, denyCreators } = filters
  const bounds = [limits.maxLamportsPerCreator, walletLimits.maxLamportsPerCreator]
  return [...bounds, minAgeMs, allowCreators, denyCreators].some((asked) => asked !== null)
}

/** Which tokens a bot may buy. Lists are named by the path of their file, as it was written. */
export interface EntryFilters {
  /** SOL in its pool at least, as its price tells. */
  readonly minLiquidityLamports: Lamports | null
  /** Since it was announced, or since the bot first saw it. */
  readonly minAgeMs: number | null
  /** Of that SOL, a buy at most. */
  readonly maxPoolSharePercent: number | null
  readonly allowMints: string | null
  readonly denyMints: string | null
  readonly allowCreators: string | null
  readonly denyCreators: string | null
  /** What a list of creators says of a token that nobody saw announced. */
  readonly unknownCreators: 'refuse' | 'allow'
}

export const NO_FILTERS: EntryFilters = {
  ...{ minLiquidityLamports: null, minAgeMs: null, maxPoolSharePercent: null },
  ...{ allowMints: null, denyMints: null, allowCreators: null, denyCreators: null, unknownCreators: 'refuse' },
}
