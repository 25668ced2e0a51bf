import { DAY, type Lamports, lamports, type Millis } from '../../base/units.ts'
import { BASE_FEE, SLOT_MS, TOKEN_ACCOUNT_RENT } from '../../solana/constants.ts'
import { VENUE_FEE } from '../../solana/pool-depth.ts'
import { DEAD_AFTER_MS } from './liquidation.ts'

/** Every assumption about the fills of paper trades (docs/fills.md). Plain JSON, recorded with each report. */
export interface FillModel {
  /** Time from sending to landing, lognormal with these percentiles, ms. Trading services report 2 to 5 s. */
  readonly latencyMs: { readonly p50: number; readonly p95: number }
  /** Length of a slot: an order may be filled anywhere in the slot in which it lands. */
  readonly slotMs: Millis
  /** Percent of transactions that never land without competition and at the usual fee; see `lossPercent`. */
  readonly landingFailurePercent: number
  /** Prints of a token per slot that double this percentage, and its upper bound. */
  readonly crowdPrints: number
  readonly maxLossPercent: number
  /** The venue's fee, percent of the traded amount in each direction. */
  readonly venueFeePercent: number
  /** The trading service's fee, percent; the document names none. */
  readonly serviceFeePercent: number
  /** Fee of one signature. */
  readonly baseFeeLamports: Lamports
  /** Priority fee that the service pays if the order leaves it to the service. */
  readonly autoPriorityFeeLamports: Lamports
  /** Factor on base and priority fees. */
  readonly networkFeeFactor: number
  /** Rent of a token account, returned with the sale of its last token. */
  readonly rentLamports: Lamports
  /** Time in ms without a sized print after which a token counts as dead; its holdings are worth nothing. */
  readonly deadAfterMs: number
  readonly honeypot: HoneypotRule
  /** `none`: pools of any depth, so orders do not move the price, and a print's own price is the price that it left. */
  readonly impact: 'full' | 'none'
  /** Half of an order's own impact is gone when the others have traded this many times the SOL of the pool. */
  readonly impactHalvesAfterPools: number
  /** A print whose trade began further than this from where the trade before it ended is not taken at once. */
  readonly noisePercent: number
}

/** A token counts as unsellable from this many sized buys on, until it has two sized sales and this percentage of the
 *  number of its buys: the maker of a token that no buyer can sell may sell some as a bait. */
export interface HoneypotRule {
  readonly buys: number
  readonly salesPercent: number
}

/** Pessimistic: an optimistic paper result is worse than none. */
export const DEFAULT_FILL_MODEL: FillModel = {
  latencyMs: { p50: 1_500, p95: 4_000 },
  slotMs: SLOT_MS,
  landingFailurePercent: 3,
  crowdPrints: 4,
  maxLossPercent: 60,
  venueFeePercent: VENUE_FEE * 100,
  serviceFeePercent: 1,
  baseFeeLamports: BASE_FEE,
  autoPriorityFeeLamports: lamports(500_000),
  networkFeeFactor: 1,
  rentLamports: TOKEN_ACCOUNT_RENT,
  deadAfterMs: DEAD_AFTER_MS,
  honeypot: { buys: 8, salesPercent: 15 },
  impact: 'full',
  impactHalvesAfterPools: 1,
  noisePercent: 25,
}

/** No cost, no delay and no impact, for comparisons with other frameworks: an order is filled at the price of the last
 *  sized print. Finite numbers, because JSON has no infinity. */
export const FREE_FILL_MODEL: FillModel = {
  latencyMs: { p50: 0, p95: 0 },
  slotMs: 0,
  landingFailurePercent: 0,
  crowdPrints: DEFAULT_FILL_MODEL.crowdPrints,
  maxLossPercent: 0,
  venueFeePercent: 0,
  serviceFeePercent: 0,
  baseFeeLamports: lamports(0),
  autoPriorityFeeLamports: lamports(0),
  networkFeeFactor: 1,
  rentLamports: lamports(0),
  deadAfterMs: 36_500 * DAY,
  honeypot: { buys: Number.MAX_SAFE_INTEGER, salesPercent: 0 },
  impact: 'none',
  impactHalvesAfterPools: 1,
  noisePercent: 1e12,
}
